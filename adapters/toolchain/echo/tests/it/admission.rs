// SPDX-License-Identifier: Apache-2.0
//! Every check of admission: its kind, its place, and its order.

mod artifacts;
mod bounds;
mod form;
mod identity;
mod policy;
mod program;
mod types;

use crate::support::program::{Build, Program, Sealed, binding, input, local, record};
use serde_json::Value as Json;

fn copy() -> Program {
    Program::pure(
        "Record<a:U64>",
        "Record<r:U64>",
        &record(&[("r", input("a"))]),
    )
}

/// A program whose result is one bound expression.
fn bound(ty: &str, value: &Json) -> Program {
    Program::pure(
        "Record<a:U64>",
        &format!("Record<r:{ty}>"),
        &record(&[("r", local("local.0"))]),
    )
    .then("pureBindings", binding(0, ty, value))
}

fn refusal(sealed: &Sealed) -> (&'static str, Option<String>) {
    let refusal = sealed.admit().unwrap_err();
    (refusal.kind, refusal.path)
}

fn refused(build: Build) -> (&'static str, String) {
    let (kind, path) = refusal(&build.seal());
    (kind, path.unwrap())
}

fn kind_of(program: &Program) -> &'static str {
    program.admit().unwrap_err().kind
}

fn place(kind: &'static str, path: &str) -> (&'static str, String) {
    (kind, path.to_owned())
}
