// SPDX-License-Identifier: Apache-2.0
//! The identities of section 2 as far as the members of a report determine them.

use crate::{
    recipe::BUILD,
    run::{CaseReport, Producer, SemanticReport, SuiteReport},
    suite::{
        Role,
        identity::{CASE, EXPECTATION, SuiteSubject, TOOLCHAIN_LOCK},
        lock,
    },
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};

fn text_or_null(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::text)
}

fn of(context: &str, parts: Vec<Value>) -> TypedDigest {
    derive_typed(context, &encode(&Value::Array(parts)))
}

/// The producer of a role.
pub(super) fn producer(semantic: &SemanticReport, role: Role) -> Option<&Producer> {
    semantic.producers.iter().find(|it| it.role == role)
}

/// The lock identity: shape, provider package and the eleven roles.
pub(super) fn lock(semantic: &SemanticReport) -> Option<TypedDigest> {
    let shape = semantic.suite.as_ref()?.shape?;
    let provider = semantic
        .provider_package
        .as_ref()
        .map_or(Value::Null, |package| {
            Value::Array(vec![
                Value::text(package.coordinate.as_str()),
                package.identity.to_value(),
            ])
        });
    let role = |entry: &Producer| {
        let source = match (&entry.revision, &entry.tree) {
            (Some(revision), Some(tree)) => {
                Value::Array(vec![Value::text(revision.as_str()), tree.to_value()])
            }
            _ => Value::Null,
        };
        Value::Array(vec![
            Value::text(entry.role.name()),
            Value::text(entry.kind.name()),
            text_or_null(entry.coordinate.as_deref()),
            entry.identity.to_value(),
            source,
        ])
    };
    let parts = vec![
        Value::text(lock::SCHEMA),
        Value::text(shape.name()),
        provider,
        Value::Array(semantic.producers.iter().map(role).collect()),
    ];
    Some(of(TOOLCHAIN_LOCK, parts))
}

/// The suite identity; `None` while a case or the lock has none.
pub(super) fn suite(semantic: &SemanticReport, suite: &SuiteReport) -> Option<TypedDigest> {
    let cases = semantic
        .cases
        .iter()
        .map(|case| Some((case.label.clone(), case.case.clone()?)))
        .collect::<Option<_>>()?;
    let subject = SuiteSubject {
        id: suite.id.clone(),
        lock: suite.lock.clone()?,
        limits: semantic.limits?,
        cases,
    };
    Some(subject.identity())
}

/// The identity of a case; `None` while a part of it is unknown.
pub(super) fn case(case: &CaseReport) -> Option<TypedDigest> {
    let setup = case
        .setup
        .iter()
        .map(|entry| {
            let pair = [entry.application.as_ref()?, entry.input.as_ref()?];
            Some(Value::Array(pair.map(TypedDigest::to_value).to_vec()))
        })
        .collect::<Option<_>>()?;
    let skip = case.skip.as_ref().map_or(Value::Null, |skip| {
        Value::Array(vec![
            Value::text(skip.reason.as_str()),
            Value::text(skip.tracking_reference.as_str()),
        ])
    });
    let parts = vec![
        Value::text(case.id.as_str()),
        case.application.as_ref()?.to_value(),
        case.input.as_ref()?.to_value(),
        case.expectation.as_ref()?.to_value(),
        Value::Array(setup),
        skip,
    ];
    Some(of(CASE, parts))
}

/// The identity of an expected obstruction.
pub(super) fn obstruction(coordinate: &str, payload: &TypedDigest) -> TypedDigest {
    let parts = vec![
        Value::text("obstruction"),
        Value::text("execution"),
        Value::text(coordinate),
        payload.to_value(),
    ];
    of(EXPECTATION, parts)
}

/// The build key of an application under the pins of the report.
pub(super) fn build_key(
    semantic: &SemanticReport,
    application: &TypedDigest,
) -> Option<TypedDigest> {
    let shape = semantic.suite.as_ref()?.shape?;
    let pin = |role| producer(semantic, role).map(|it| it.identity.to_value());
    let provider = semantic
        .provider_package
        .as_ref()
        .map_or(Value::Null, |it| it.identity.to_value());
    let parts = vec![
        Value::text("edict.test.build-adapter/v1"),
        Value::text(shape.name()),
        application.to_value(),
        pin(Role::Compiler)?,
        pin(Role::Lowerer)?,
        provider,
        pin(Role::TargetProfile)?,
        pin(Role::InterpreterProfile)?,
        pin(Role::CodecAbi)?,
    ];
    Some(of(BUILD, parts))
}
