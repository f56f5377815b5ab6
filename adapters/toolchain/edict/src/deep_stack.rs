// SPDX-License-Identifier: Apache-2.0
//! A stack that is large enough for the deepest tree the parser lets through.

use std::thread;

/// 256 levels take at most 12 KiB each in an unoptimized build; only touched pages cost memory.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Runs `work` on a stack of its own, so that the limits of the language and not those of the
/// caller's thread decide; without a second thread it runs where it is.
pub(crate) fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let mut work = Some(work);
    let mut result = None;
    thread::scope(|scope| {
        let run = || result = work.take().map(|work| work());
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        if let Ok(thread) = thread.spawn_scoped(scope, run)
            && let Err(panic) = thread.join()
        {
            std::panic::resume_unwind(panic);
        }
    });
    result.or_else(|| work.take().map(|work| work()))
}
