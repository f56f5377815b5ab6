// SPDX-License-Identifier: Apache-2.0
//! The write-ahead log of a durable context: what was acknowledged is found again (section 7).

pub mod decision;
pub mod directory;
pub mod format;
pub mod history;
pub mod log;
pub mod payload;
pub mod replay;
pub mod scan;
pub mod transaction;
