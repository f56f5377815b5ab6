// SPDX-License-Identifier: Apache-2.0
//! One line on standard error that says what the run is doing: only when asked for, and only on a
//! terminal. It is erased before anything else is written, and nothing ever waits for it.

use crate::output::Stderr;
use std::io::{IsTerminal as _, Write as _};

/// Carriage return, then erase the line.
const ERASE: &str = "\r\u{1b}[2K";

/// The line, when there is one.
#[derive(Debug, Default)]
pub(super) struct Progress {
    on: bool,
    shown: bool,
}

impl Progress {
    /// A line that is shown when `asked` and when standard error is a terminal.
    pub(super) fn new(asked: bool) -> Self {
        Self {
            on: asked && std::io::stderr().is_terminal(),
            shown: false,
        }
    }

    /// Shows `text` in place of what was shown before. A line that cannot be written is no loss.
    pub(super) fn show(&mut self, text: &str) {
        if self.on {
            self.shown = Stderr
                .write_all(format!("{ERASE}{text}").as_bytes())
                .is_ok();
        }
    }

    /// Erases the line.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            _ = Stderr.write_all(ERASE.as_bytes());
        }
    }
}
