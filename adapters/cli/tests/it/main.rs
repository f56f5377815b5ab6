// SPDX-License-Identifier: Apache-2.0
//! The runner as its users start it: real programs, whole streams, exit status and report.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "these tests start programs and look at the files that they leave"
)]

#[cfg(test)]
mod arguments;
#[cfg(test)]
mod behavior;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod cache;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod consumers;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod cross_check;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod docs_commands;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod empty;
#[cfg(test)]
mod exits;
#[cfg(test)]
mod help;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod human;
#[cfg(test)]
mod init;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod labels;
#[cfg(test)]
mod lawpack;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod pins;
#[cfg(test)]
mod project;
#[cfg(test)]
mod publication;
#[cfg(test)]
mod report;
#[cfg(test)]
mod standin;
#[cfg(test)]
mod state;
#[cfg(test)]
mod state_place;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod support;
#[cfg(test)]
mod swaps;
#[cfg(test)]
mod tour;
#[cfg(test)]
mod upstream;
#[cfg(test)]
mod why;
#[cfg(test)]
mod why_files;
#[cfg(test)]
mod why_proofs;
