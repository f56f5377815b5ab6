// SPDX-License-Identifier: Apache-2.0
//! Owned children: started through the launcher, supervised, bounded, killed and reaped (P5-P13).
//!
//! A child runs a verified copy of a program in a fresh private directory with a fixed environment,
//! resource limits and Landlock rules. What it prints is data; this crate never parses it.
//!
//! The launcher is the running executable itself: its `main` begins with
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     if let Some(code) = edict_test_process::launcher_main(std::env::args_os()) {
//!         return code;
//!     }
//!     // ...
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! A test binary that starts children does the same, so it needs `harness = false`.
//!
//! One program to its end, and a conversation:
//!
//! ```no_run
//! use edict_test_process::{ChildSpec, Deadline, OwnedChild, Outcome, PrivateDir, TEARDOWN_MS, Watch, run};
//! use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let private = PrivateDir::create(Path::new("temporary"))?;
//! let spec = ChildSpec::new(Path::new("tools/compiler"), private.path());
//! let watch = Watch { deadline: Deadline::after_ms(30_000), stop: &|| false };
//! let ended = run(&spec, b"request\n", watch)?;
//! assert_eq!(ended.outcome, Outcome::Exited(0));
//! assert_eq!(ended.survivors, 0);
//!
//! let mut host = OwnedChild::spawn(&spec)?;
//! host.send(b"request", watch)?;
//! let head = host.receive(16, watch)?; // shorter than 16 bytes only at the end of the stream
//! let ended = host.finish(TEARDOWN_MS);
//! # Ok(()) }
//! ```
//!
//! While a child lives, this process may not have children of other makers: as a subreaper it takes
//! every child that it did not start here for an adopted descendant and kills it.

mod capture;
mod child;
mod directory;
mod ended;
mod guard;
mod launch;
mod proc;
mod reap;
mod sandbox;
mod staging;
mod stream;
mod task;
mod tools;
mod wait;

pub use capture::Capture;
pub use child::{OwnedChild, TalkError, run};
pub use directory::PrivateDir;
pub use ended::{Ended, Outcome};
pub use guard::SpawnError;
pub use launch::{ChildSpec, launcher_main};
pub use sandbox::{Isolation, IsolationLevel, probe};
pub use staging::{InputFile, Inputs, Staging};
pub use task::{Bounds, Place, Task};
pub use tools::{ToolDir, ToolStage};
pub use wait::{Deadline, Watch};

/// Time between closing standard input and the kill in an orderly teardown, in milliseconds (P11).
pub const TEARDOWN_MS: u64 = 200;
