// SPDX-License-Identifier: Apache-2.0
//! Options of `why` and `why-not`.

use super::number::number;
use clap::Args;
use std::{ffi::OsString, path::PathBuf};

/// What belongs to the question why the verdict of a case changed, and to no other one.
const OF_A_CASE: [&str; 5] = ["case", "from", "to", "prove", "prove_max"];

/// Most executions of a proof.
fn executions(text: &str) -> Result<u32, String> {
    u32::try_from(number(text)?)
        .ok()
        .filter(|most| (1..=64).contains(most))
        .ok_or_else(|| "it is 1 to 64".to_owned())
}

/// Options of `why`.
#[derive(Args, Debug)]
pub struct WhyArgs {
    /// The case; not with `--file`.
    #[arg(required_unless_present_any = ["file", "not"])]
    pub case: Option<String>,
    /// The suite manifest, whose state is read.
    #[arg(long, value_name = "PATH")]
    pub suite: Option<PathBuf>,
    /// The state directory.
    #[arg(long, value_name = "DIR", conflicts_with = "suite")]
    pub state: Option<PathBuf>,
    /// The run compared from: a number, a report file, or `previous`.
    #[arg(long, value_name = "N", default_value = "previous")]
    pub from: OsString,
    /// The run compared to: a number, a report file, or `latest`.
    #[arg(long, value_name = "N", default_value = "latest")]
    pub to: OsString,
    /// Confirm causes by executing with single inputs swapped back.
    #[arg(long)]
    pub prove: bool,
    /// Most executions of a proof, 1 to 64.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = executions)]
    #[arg(requires = "prove")]
    pub prove_max: u32,
    /// What depends on this file.
    #[arg(long, value_name = "PATH", conflicts_with = "not", conflicts_with_all = OF_A_CASE)]
    pub file: Option<String>,
    /// Why an edit did not change this case.
    #[arg(long, value_name = "CASE", requires = "edited", conflicts_with_all = OF_A_CASE)]
    pub not: Option<String>,
    /// The file that was edited.
    #[arg(long, value_name = "PATH", requires = "not", conflicts_with_all = OF_A_CASE)]
    pub edited: Option<String>,
    /// One JSON document on stdout.
    #[arg(long)]
    pub json: bool,
}

/// Options of `why-not`.
#[derive(Args, Debug)]
pub struct WhyNotArgs {
    /// The case.
    pub case: String,
    /// The file that was edited.
    #[arg(long, value_name = "PATH")]
    pub edited: String,
    /// The suite manifest, whose state is read.
    #[arg(long, value_name = "PATH")]
    pub suite: Option<PathBuf>,
    /// The state directory.
    #[arg(long, value_name = "DIR", conflicts_with = "suite")]
    pub state: Option<PathBuf>,
    /// One JSON document on stdout.
    #[arg(long)]
    pub json: bool,
}
