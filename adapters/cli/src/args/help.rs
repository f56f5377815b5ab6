// SPDX-License-Identifier: Apache-2.0
//! What `--help` says after the options: streams, exit statuses, limits and one full example (C2).

pub(super) const RUN_HELP: &str = "\
Streams: stdout is TAP 14 and nothing else; stderr is one JSON diagnostic a line
(--diagnostics human renders text). Exit status: 0 every executed case passed; 1 a
comparison failed; 2 the suite could not be completed faithfully, and the last line of
stdout is a bail-out.

Ceilings, which a suite may lower: 1 MiB manifest, 1,024 cases, 128 setup operations a
case, 8 MiB fixtures, 2,048 bytes a case result, 16 MiB a frame, 64 MiB report, 256 MiB
artifacts, 30 s an operation.

Example:
  edict-test --suite tests/edict.test-suite.json --report-json artifacts/run.json

Subcommands: check, lock, init, fixture, why, why-not, report, cache; each has --help.";

pub(super) const CHECK_HELP: &str = "\
Streams: stdout is the suite identity, then one line a case; stderr is one JSON diagnostic
a line, and every problem that was found has one. Exit status: 0 valid; 2 not valid, and
stdout is empty. Nothing is executed; limits are those of a run.

Example:
  edict-test check --suite tests/edict.test-suite.json --json";

pub(super) const LOCK_HELP: &str = "\
Streams: stdout is the lock identity and one line a role, with --check the drift; stderr is
one JSON diagnostic a line. Exit status: 0 written or equal; 1 drift with --check; 2
failure. Limits: a lock has at most 1 MiB, a program 256 MiB.

Example:
  edict-test lock --suite tests/edict.test-suite.json --existing replace";

pub(super) const INIT_HELP: &str = "\
Streams: stdout is one line a file that was written, then how to run it; stderr is one JSON
diagnostic a line. Exit status: 0 written; 2 failure. The directory must be absent or
empty; its lock pins the programs beside this one. Limits: an id has at most 128 bytes.

Example:
  edict-test init my-tests";

pub(super) const FIXTURE_HELP: &str = "\
Streams: stdout is the blob and the fixture identity, or the JSON of `decode`; stderr is
one JSON diagnostic a line. Exit status: 0 done; 2 failure. Limits: 8 MiB a fixture, 4 MiB
a package, depth 128.

Example:
  edict-test fixture encode --untyped --in value.json --out value.bin";

pub(super) const WHY_HELP: &str = "\
Streams: stdout is the explanation, with --json one document; stderr is one JSON diagnostic
a line. Exit status: 0 explained; 1 the verdict changed and nothing that is pinned did; 2
failure. Limits: a report has at most 64 MiB; only --prove executes anything, at most
--prove-max times (1 to 64), in no TAP and no report.

Example:
  edict-test why choose-left --suite tests/edict.test-suite.json --prove";

pub(super) const WHY_NOT_HELP: &str = "\
Streams: stdout is the reason, with --json one document; stderr is one JSON diagnostic a
line. Exit status: 0 answered; 2 failure. Limits: a file has at most 8 MiB; nothing is
executed.

Example:
  edict-test why-not choose-left --edited cases/src/main.edict --suite tests/edict.test-suite.json";

pub(super) const REPORT_HELP: &str = "\
Streams: stdout is the answer of the action; stderr is one JSON diagnostic a line. Exit
status: see each action. Limits: a report has at most 64 MiB.

Example:
  edict-test report verify artifacts/run.json --require-green";

pub(super) const CACHE_HELP: &str = "\
Streams: stdout is the counts, or the plan and then what was done; stderr is one JSON
diagnostic a line. Exit status: 0 done; 2 failure, also while a run uses the directory.
Limits: the newest --keep-runs runs (default 20) and what they name are never deleted.

Example:
  edict-test cache gc --state tests/.edict-test --max-bytes 100000000 --dry-run";
