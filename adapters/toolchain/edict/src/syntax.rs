// SPDX-License-Identifier: Apache-2.0
//! From bytes to a syntax tree whose depth and size are bounded (section 1 of the language).

pub mod ast;
mod lexer;
mod literal;
mod parser;
pub mod semantic;
mod token;
mod walk;

pub use parser::parse;
use token::BUILT_INS;
pub use walk::calls_in;

/// Built-ins that are prelude names; all others are found in call position only.
const PRELUDE_CALLS: [&str; 3] = ["len", "none", "some"];

/// Whether a callee is a built-in.
pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_INS.contains(&name) || PRELUDE_CALLS.contains(&name)
}

/// The names of all built-ins.
pub(crate) fn built_ins() -> impl Iterator<Item = &'static str> {
    BUILT_INS.iter().copied().chain(PRELUDE_CALLS)
}
