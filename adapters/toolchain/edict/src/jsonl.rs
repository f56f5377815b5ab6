// SPDX-License-Identifier: Apache-2.0
//! The process: JSON Lines in, JSON Lines out, one terminal event, one exit code.

mod inputs;
mod record;
mod request;
mod run;

pub use run::{Streams, internal_error, run};
