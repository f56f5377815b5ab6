// SPDX-License-Identifier: Apache-2.0
//! Run records: numbered directories that `run.json` completes (A10). They explain and decide nothing.

use crate::{
    disk::{create_in_pieces, names, read},
    state::{RUNS, Store},
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    diagnostic::{Notice, WarningKind},
    failure::Stage,
    ports::RunStore,
};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::PathBuf,
};

/// Digits of a run number.
const DIGITS: usize = 12;
/// Greatest length of `run.json` in bytes: that of a report.
const MAX_DOCUMENT: u64 = 67_108_864;
/// File that completes a record.
const DOCUMENT: &str = "run.json";

impl RunStore for Store {
    fn begin(&self) -> Result<u64, Box<Notice>> {
        let mut number = self.all_runs().last().copied().unwrap_or(0);
        loop {
            number = number.saturating_add(1);
            match fs::create_dir(self.run(number)) {
                Ok(()) => return Ok(number),
                // Another run took the number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(lost(&error)),
            }
        }
    }

    fn append(&self, number: u64, line: &str) -> Result<(), Box<Notice>> {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.run(number).join("record.jsonl"))
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .map_err(|error| lost(&error))
    }

    fn finish(
        &self,
        number: u64,
        document: &mut dyn Iterator<Item = String>,
    ) -> Result<(), Box<Notice>> {
        let path = self.run(number).join(DOCUMENT);
        create_in_pieces(&path, document).map_err(|error| lost(&error))
    }

    fn numbers(&self) -> Vec<u64> {
        let mut numbers = self.all_runs();
        numbers.retain(|number| self.run(*number).join(DOCUMENT).is_file());
        numbers
    }

    fn load(&self, number: u64) -> Option<Vec<u8>> {
        read(
            &self.run(number).join(DOCUMENT),
            ByteLimit::new(MAX_DOCUMENT),
        )
        .ok()
    }
}

impl Store {
    /// The directory of run `number`.
    pub(crate) fn run(&self, number: u64) -> PathBuf {
        self.root.join(RUNS).join(format!("{number:0DIGITS$}"))
    }

    /// All runs, complete or not, ascending.
    pub(crate) fn all_runs(&self) -> Vec<u64> {
        names(&self.root.join(RUNS))
            .into_iter()
            .filter(|name| name.len() == DIGITS)
            .filter_map(|name| name.parse().ok())
            .collect()
    }
}

fn lost(error: &io::Error) -> Box<Notice> {
    let message = format!("the record of the run is not kept: {error}");
    Box::new(Notice::warning(
        Stage::Report,
        WarningKind::StateUnavailable,
        message,
    ))
}
