// SPDX-License-Identifier: Apache-2.0
//! Actions of `cache`.

use super::{help::CACHE_HELP, number::number};
use clap::Subcommand;
use std::path::PathBuf;

/// Actions of `cache`.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Counts and bytes by kind.
    #[command(after_help = CACHE_HELP)]
    Stats {
        /// The state directory.
        #[arg(long, value_name = "DIR")]
        state: PathBuf,
        /// One JSON document on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Print a deletion plan, then carry it out.
    #[command(after_help = CACHE_HELP)]
    Gc {
        /// The state directory.
        #[arg(long, value_name = "DIR")]
        state: PathBuf,
        /// Most bytes kept.
        #[arg(long, value_name = "N", value_parser = number)]
        max_bytes: Option<u64>,
        /// Greatest age of an unused entry in days.
        #[arg(long, value_name = "N", value_parser = number)]
        max_age_days: Option<u64>,
        /// Newest runs that are kept with what they name.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = number)]
        keep_runs: u64,
        /// Print the plan only.
        #[arg(long)]
        dry_run: bool,
    },
}
