// SPDX-License-Identifier: Apache-2.0
//! The run form: one suite, one TAP document, one report.

use crate::{
    args::{self, Existing, Invocation, Isolation, RunArgs},
    output::{Stderr, Stdout, check_stdout},
    publish::{Publisher, ReportPlace},
    signals,
    wire::{OpenedSuite, Surroundings, Wired, nonce},
};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use edict_test_model::{Failure, FailureKind, Stage, ports::StopFlag};
use edict_test_queries::{ReusePolicy, Runner};
use edict_test_reporters::diagnostics::Style;
use std::{
    ffi::OsString,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

/// Reads the command line and runs. Every way out but `--help` and `--version` leaves a TAP
/// document on standard output, unless standard output itself is gone.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let parsed = args::parse(arguments);
    if let Err(error) = &parsed
        && !error.use_stderr()
    {
        return match std::io::Write::write_all(&mut Stdout, error.to_string().as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(2),
        };
    }
    note_panics();
    let style = match &parsed {
        Ok(Invocation::Run(run)) => super::style(run.diagnostics, run.color),
        _ => Style::Jsonl,
    };
    let publisher = Publisher::new(Stdout, Stderr, style);
    if let Err(failure) = check_stdout() {
        return publisher.unfinished(failure);
    }
    match parsed {
        Ok(Invocation::Run(run)) => guarded(publisher, |publisher| execute(&run, publisher)),
        Ok(Invocation::Command(_)) => {
            publisher.bail_out(Failure::internal("a subcommand reached the run form"))
        }
        Err(error) => publisher.bail_out(usage(&error)),
    }
}

/// Where the last panic of this process was, for the word about it.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Keeps the place of a panic instead of printing it: standard error belongs to diagnostics.
fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        if let Some(place) = info.location() {
            *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = format!(" at {place}");
        }
    }));
}

/// A panic anywhere is a defect of the runner: a bail-out and exit 2, never status 101 (T11).
fn guarded<Out: Write, Err: Write>(
    mut publisher: Publisher<Out, Err>,
    body: impl FnOnce(&mut Publisher<Out, Err>) -> Result<(), Failure>,
) -> ExitCode {
    let ended = catch_unwind(AssertUnwindSafe(|| body(&mut publisher)));
    match ended {
        Ok(Ok(())) => publisher.conclude(),
        Ok(Err(failure)) => publisher.bail_out(failure),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("a panic without words");
            let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
            publisher.bail_out(Failure::internal(format!(
                "the runner failed: {text}{place}"
            )))
        }
    }
}

/// Everything between the command line and the last point.
fn execute(run: &RunArgs, publisher: &mut Publisher<Stdout, Stderr>) -> Result<(), Failure> {
    if let Some(message) = args::contradiction(&run.isolation) {
        return Err(Failure::new(
            Stage::Arguments,
            FailureKind::UsageError,
            message,
        ));
    }
    let stop = StopFlag::new();
    let hurry = signals::listen(stop.clone())
        .map_err(|error| Failure::internal(format!("listen for signals: {error}")))?;
    publisher.may_hurry(hurry);
    publisher.show_progress(run.progress);
    if let Some(path) = &run.report_json {
        publisher.place(ReportPlace::claim(
            path,
            run.artifact_store.as_deref(),
            run.report_existing == Existing::Replace,
            run.keep_journal,
        )?);
    }
    let suite = OpenedSuite::open(&run.suite, publisher.documents())?;
    publisher.manifest(&suite.document, &suite.manifest);
    let state = super::state::claim(run, &suite)?;
    publisher.plan()?;
    let (bytes, lock_bytes) = suite.read_lock(publisher.documents())?;
    publisher.lock(&bytes);
    let documents = suite.documents(&bytes, lock_bytes);
    let lock = Arc::clone(&bytes.lock);
    let around = Surroundings {
        temporary: run.temp_root.clone(),
        isolation_required: run.isolation.contains(&Isolation::Required),
        process_per_case: run.isolation.contains(&Isolation::Process),
        policy: ReusePolicy {
            fresh_build: run.fresh_build,
            fresh_verify: run.fresh_verify,
            check: run.verify_cache,
        },
        actions: state.actions(),
    };
    let wired = Wired::of(&suite.root, &bytes, &around, &stop)?;
    publisher.isolation(wired.isolation);
    let mut runner = Runner::new(wired.ports.clone());
    if run.cross_check {
        runner.cross_check(Arc::clone(&wired.cross_check));
    }
    let ran = (|| {
        runner.load(&suite.root, bytes)?;
        if !run.no_state {
            super::state::clear_of_closure(run.state.as_deref(), &suite, &lock, &runner)?;
        }
        publisher.hard_linked(runner.hard_linked());
        let state = super::state::settle(state, run, (&suite, &lock), publisher);
        if let Some(store) = state.actions() {
            wired.ports.actions.attach(store);
        }
        publisher.begin(&runner.run_plan()?)?;
        let prepared = runner.prepare()?;
        if let Some(keeper) = state.record(&runner, &lock, documents) {
            publisher.record(keeper);
        }
        let outcome = runner.run(&prepared, &mut nonce, &stop, publisher)?;
        publisher.outcome(outcome, runner.decisions(), wired.clock.durations());
        Ok(())
    })();
    drop(runner);
    let notices = wired.notices.clone();
    let ended = wired.end();
    for notice in notices.take() {
        publisher.notice(notice);
    }
    ran?;
    if let Err(failure) = ended {
        publisher.also(failure);
    }
    Ok(())
}

/// A usage error in one line.
pub(crate) fn usage(error: &clap::Error) -> Failure {
    let message = missing(error).unwrap_or_else(|| {
        let text = error.to_string();
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.strip_prefix("error: ").unwrap_or(line).trim())
            .take_while(|line| !line.starts_with("Usage:"))
            .filter(|line| !line.is_empty())
            .collect();
        lines.join(" ")
    });
    Failure::new(Stage::Arguments, FailureKind::UsageError, message)
}

/// What a command line lacks: the names of its required arguments without their values, or an action.
fn missing(error: &clap::Error) -> Option<String> {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Some("an action is required; --help names them".to_owned());
    }
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let first = |name: &str| name.split(' ').next().unwrap_or(name).to_owned();
    let names: Vec<String> = names
        .iter()
        .map(|name| match name.strip_prefix("<--") {
            // Several that would each do: `<--out <PATH>|--check <LOCK>>`.
            Some(_) => {
                let each: Vec<String> = name
                    .trim_matches(['<', '>'])
                    .split('|')
                    .map(first)
                    .collect();
                each.join(" or ")
            }
            None => first(name),
        })
        .collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    Some(format!("{} {verb} required", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a body leaves on standard output, and its exit status.
    fn ran(
        body: impl FnOnce(&mut Publisher<&mut Vec<u8>, &mut Vec<u8>>) -> Result<(), Failure>,
    ) -> (String, String, ExitCode) {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let publisher = Publisher::new(&mut output, &mut errors, Style::Jsonl);
        let code = guarded(publisher, body);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output), text(errors), code)
    }

    #[test]
    fn a_panic_is_a_bail_out_and_exit_two() {
        let (output, errors, code) = ran(|_| panic!("a defect # with a sign"));
        assert!(output.starts_with("TAP version 14\nBail out! InternalError: the runner failed: "));
        assert!(output.contains("a defect \\# with a sign"), "{output}");
        assert_eq!(output.lines().count(), 2);
        assert!(
            errors.contains("\"kind\":\"InternalError\",\"primary\":true"),
            "{errors}"
        );
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(2)));
    }

    #[test]
    fn a_run_that_says_nothing_is_no_success() {
        let (output, _, code) = ran(|_| Ok(()));
        assert!(output.starts_with("TAP version 14\nBail out! "), "{output}");
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(2)));
    }
}
