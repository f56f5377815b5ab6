// SPDX-License-Identifier: Apache-2.0
//! What a bail-out says (T3).

use edict_test_model::{Failure, FailureKind, Form, Stage, run::RunSummary};

/// Kind and text of the bail-out: the primary failure, its case, and how many more failed so.
pub(super) fn bail_text(
    summary: &RunSummary,
    failures: &[Failure],
    bail: Option<&Failure>,
) -> (&'static str, String) {
    let primary = summary.outcome.primary.as_ref();
    let first = failures.iter().find(|it| it.stage != Stage::Compare);
    let Some(failure) = first.or(bail) else {
        let kind = primary.map_or(FailureKind::InternalError, |it| it.kind);
        return (kind.name(), "the run was not faithful".to_owned());
    };
    if failure.form() != Form::PointThenBail {
        return (failure.kind.name(), failure.message.clone());
    }
    let more = failures
        .iter()
        .filter(|it| it.form() == Form::PointThenBail)
        .count()
        - 1;
    let case = failure
        .case
        .as_ref()
        .map(|case| format!("case {case}: "))
        .unwrap_or_default();
    let others = if more == 0 {
        String::new()
    } else {
        format!(" (and {more} more)")
    };
    (
        failure.kind.name(),
        format!("{case}{}{others}", failure.message),
    )
}
