// SPDX-License-Identifier: Apache-2.0
//! `INT`, `TERM` and `HUP` set the stop flag; a second one skips the report (P16).

use edict_test_model::ports::StopFlag;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Whether a second signal asked to leave without a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hurry(Arc<AtomicBool>);

impl Hurry {
    /// Whether it did.
    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Starts the thread that listens until the process ends.
pub(crate) fn listen(stop: StopFlag) -> io::Result<Hurry> {
    let hurry = Hurry::default();
    let second = hurry.clone();
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                if stop.is_set() {
                    second.0.store(true, Ordering::SeqCst);
                }
                stop.stop(u8::try_from(signal).unwrap_or(u8::MAX));
            }
        })?;
    Ok(hurry)
}
