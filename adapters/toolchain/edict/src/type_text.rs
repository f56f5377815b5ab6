// SPDX-License-Identifier: Apache-2.0
//! Type texts of lawpacks: parsing, and resolving coordinates through definitions.

mod parse;
mod table;

pub use parse::{Definition, Expression, TypeTextError, parse_definition, parse_type};
pub use table::TypeTable;
