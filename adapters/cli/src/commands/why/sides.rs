// SPDX-License-Identifier: Apache-2.0
//! The two runs of an explanation: numbered records of one state directory, or two reports.

use super::{Place, refused};
use crate::{
    args::number::{is_number, number},
    commands::state,
    wire::{OpenedSuite, read_argument},
};
use edict_test_model::{
    Failure,
    ports::RunStore as _,
    recipe::LeafValue,
    why::{RunRecord, decode_record, report_record, settle},
};
use edict_test_reporters::{diagnostics::Documents, why_json::RunName};
use edict_test_store::Store;
use std::{ffi::OsStr, path::Path, sync::Arc};

/// Greatest size of a report in bytes.
const MAX_REPORT: u64 = 64 << 20;

/// One run, what it is called, and whether its record is what its own digest says.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) record: RunRecord,
    pub(super) name: RunName,
    pub(super) holds: bool,
}

/// The two runs; the store is that of numbered records.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) from: Side,
    pub(super) to: Side,
    pub(super) store: Option<Arc<Store>>,
}

/// What `--from` or `--to` names.
enum Named<'a> {
    Relative,
    Number(u64),
    Report(&'a Path),
}

impl<'a> Named<'a> {
    fn of(text: &'a OsStr, relative: &str) -> Result<Self, Failure> {
        if text == relative {
            return Ok(Self::Relative);
        }
        match text.to_str().filter(|it| is_number(it)) {
            Some(run) => number(run)
                .map(Self::Number)
                .map_err(|error| refused(&format!("run `{run}`: {error}"))),
            None => Ok(Self::Report(Path::new(text))),
        }
    }
}

impl Sides {
    /// Reads what `--from` and `--to` name.
    pub(super) fn read(place: Place<'_>, [from, to]: [&OsStr; 2]) -> Result<Self, Failure> {
        match (Named::of(from, "previous")?, Named::of(to, "latest")?) {
            (Named::Report(from), Named::Report(to)) => Self::of_reports(from, to),
            (Named::Report(report), _) | (_, Named::Report(report)) => Err(refused(&format!(
                "`{}` is a report; give --from and --to two reports or two run numbers",
                report.display()
            ))),
            (from, to) => Records::open(place)?.sides(&from, &to),
        }
    }

    /// Reads two reports.
    pub(super) fn of_reports(from: &Path, to: &Path) -> Result<Self, Failure> {
        let (mut from, mut to) = (report(from)?, report(to)?);
        settle(&mut from.record, &mut to.record);
        Ok(Self {
            from,
            to,
            store: None,
        })
    }
}

fn report(path: &Path) -> Result<Side, Failure> {
    let bytes = read_argument(path, MAX_REPORT)?;
    let shown = path.display().to_string();
    let (record, holds) =
        report_record(&bytes).map_err(|error| refused(&format!("`{shown}`: {error}")))?;
    Ok(Side {
        record,
        name: RunName::Report(shown),
        holds,
    })
}

/// The records of one state directory.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) store: Arc<Store>,
    /// Id of the suite, when a readable manifest was named: a state may serve several suites.
    suite: Option<String>,
}

impl Records {
    /// Opens an existing state; makes none.
    pub(super) fn open(place: Place<'_>) -> Result<Self, Failure> {
        let (directory, suite) = match (place.state, place.suite) {
            (Some(state), _) => (state.to_path_buf(), None),
            (None, Some(suite)) => {
                let opened = OpenedSuite::open(suite, &mut Documents::default()).ok();
                let id = opened.map(|it| it.document.id.to_string());
                (state::beside(suite), id)
            }
            (None, None) => return Err(refused("name the runs with --suite PATH or --state DIR")),
        };
        let store = state::existing(&directory)?;
        Ok(Self { store, suite })
    }

    fn sides(&self, from: &Named<'_>, to: &Named<'_>) -> Result<Sides, Failure> {
        let to = match to {
            Named::Number(number) => self.numbered(*number)?,
            Named::Relative | Named::Report(_) => self.latest()?,
        };
        let from = match from {
            Named::Number(number) => self.numbered(*number)?,
            Named::Relative | Named::Report(_) => self.before(&to.record).ok_or_else(|| {
                refused(&format!(
                    "there is no complete run of the suite before {}; run it once more",
                    to.name
                ))
            })?,
        };
        Ok(Sides {
            from,
            to,
            store: Some(Arc::clone(&self.store)),
        })
    }

    /// The newest complete run of the suite.
    pub(super) fn latest(&self) -> Result<Side, Failure> {
        let ours = |record: &RunRecord| match (&self.suite, suite_id(record)) {
            (Some(wanted), Some(found)) => wanted == found,
            _ => true,
        };
        self.newest(u64::MAX, ours).ok_or_else(|| {
            refused("the state directory has no complete run of the suite; run it first")
        })
    }

    /// The newest complete run of the same suite before `record`.
    pub(super) fn before(&self, record: &RunRecord) -> Option<Side> {
        self.newest(record.number, |it| suite_id(it) == suite_id(record))
    }

    fn newest(&self, below: u64, wanted: impl Fn(&RunRecord) -> bool) -> Option<Side> {
        let numbers = self.store.numbers().into_iter().rev();
        numbers
            .filter(|number| *number < below)
            .filter_map(|number| self.load(number))
            .find(|side| wanted(&side.record))
    }

    fn numbered(&self, number: u64) -> Result<Side, Failure> {
        self.load(number).ok_or_else(|| {
            let known = self.store.numbers();
            let known = match (known.first(), known.last()) {
                (Some(first), Some(last)) => format!("the complete ones are {first} to {last}"),
                _ => "there is no complete one".to_owned(),
            };
            refused(&format!("run {number} has no readable record; {known}"))
        })
    }

    fn load(&self, number: u64) -> Option<Side> {
        let bytes = self.store.load(number)?;
        let record = decode_record(&bytes).ok()?;
        // A record that was moved under another number is not the record of that run.
        let holds = record.holds();
        (record.number == number).then_some(Side {
            record,
            name: RunName::Number(number),
            holds,
        })
    }
}

fn suite_id(record: &RunRecord) -> Option<&str> {
    match record.leaf("suite.id") {
        Some(LeafValue::Text(id)) => Some(id),
        _ => None,
    }
}
