// SPDX-License-Identifier: Apache-2.0
//! The pairs that must agree, each with the kind of its disagreement (F10).

use crate::{
    built::{Artifact, Built},
    failure::{Failure, FailureKind, FailureKind as K, Stage},
    package::{self, ProgramPackage, VerificationReport, upstream::OPERATION_PACKAGE_SCHEMA},
};
use edict_codec::digest::{TypedDigest, frame_typed};

/// Two sides that should be equal and are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    kind: FailureKind,
    sides: Option<Box<(TypedDigest, TypedDigest)>>,
    message: String,
}

impl Mismatch {
    pub(super) fn into_failure(self) -> Failure {
        let failure = Failure::new(Stage::Verify, self.kind, self.message);
        match self.sides {
            Some(sides) => failure.mismatch(&sides.0, &sides.1),
            None => failure,
        }
    }
}

type Pair = Result<(), Mismatch>;

fn equal(kind: FailureKind, what: &str, expected: &TypedDigest, actual: &TypedDigest) -> Pair {
    if expected == actual {
        return Ok(());
    }
    Err(Mismatch {
        kind,
        sides: Some(Box::new((expected.clone(), actual.clone()))),
        message: format!("{what} is {actual} and should be {expected}"),
    })
}

fn same(kind: FailureKind, holds: bool, message: impl FnOnce() -> String) -> Pair {
    if holds {
        return Ok(());
    }
    Err(Mismatch {
        kind,
        sides: None,
        message: message(),
    })
}

/// Core, Target IR, projection and package: the file, its identity recomputed, and what the package
/// names and embeds. A package that disagrees with several files is itself the odd one out.
pub(super) fn artifacts(built: &Built, package: &ProgramPackage) -> Pair {
    let (Some(core), Some(target_ir), Some(projection)) =
        (&built.core, &built.target_ir, &built.projection)
    else {
        return alone(built, package);
    };
    let rows = [
        (K::CoreMismatch, "Core", core, &package.core),
        (
            K::TargetIrMismatch,
            "Target IR",
            target_ir,
            &package.target_ir,
        ),
        (
            K::ProjectionMismatch,
            "the result projection",
            projection,
            &package.projection,
        ),
    ];
    for (kind, _, artifact, _) in rows {
        recomputed(kind, artifact)?;
    }
    recomputed(K::PackageMismatch, &built.package)?;
    equal(
        K::PackageMismatch,
        "the package",
        &built.package.identity,
        &package.digest,
    )?;
    let mut pairs = rows.map(|(kind, what, artifact, embedded)| {
        let what = format!("{what} in the package");
        equal(kind, &what, &artifact.identity, &embedded.digest).and_then(|()| {
            same(kind, artifact.body.bytes == embedded.bytes, || {
                format!("{what} has other bytes than the file")
            })
        })
    });
    if pairs.iter().filter(|pair| pair.is_err()).count() > 1 {
        for pair in &mut pairs {
            if let Err(mismatch) = pair {
                mismatch.kind = K::PackageMismatch;
            }
        }
    }
    pairs.into_iter().collect()
}

/// The package of shape `upstream`, which is the one file of its build. What it embeds was held
/// against what it names when it was decoded.
fn alone(built: &Built, package: &ProgramPackage) -> Pair {
    same(K::PackageMismatch, package.anchored.is_some(), || {
        "the build left no Core, Target IR or projection beside its package".to_owned()
    })?;
    let (bytes, identity) = (&built.package.body.bytes, &built.package.identity);
    let actual = frame_typed(OPERATION_PACKAGE_SCHEMA, bytes);
    let what = "the identity of the package";
    equal(K::PackageMismatch, what, &actual, identity)?;
    equal(K::PackageMismatch, "the package", identity, &package.digest)
}

/// The identity of a file in its own domain, from its bytes.
fn recomputed(kind: FailureKind, artifact: &Artifact) -> Pair {
    let actual = frame_typed(artifact.identity.domain(), &artifact.body.bytes);
    let what = format!("the identity of `{}`", artifact.role.name());
    let domain = artifact.role.domain();
    let right = domain.is_none_or(|domain| domain == artifact.identity.domain());
    same(kind, right, || format!("{what} is of another domain"))?;
    equal(kind, &what, &actual, &artifact.identity)
}

/// Source and lawpacks: what was staged and what the package names, in order. Manifests are
/// compared where the caller has them.
pub(super) fn closure(
    built: &Built,
    package: &ProgramPackage,
    manifests: Option<&[TypedDigest]>,
) -> Pair {
    let kind = K::ClosureMismatch;
    let source = package::source_digest(&built.source.body.bytes);
    equal(
        kind,
        "the identity of the source",
        &source,
        &built.source.identity,
    )?;
    equal(kind, "the source of the package", &source, &package.source)?;
    if let Some(anchored) = &package.anchored {
        let lawpack = &anchored.lawpack;
        let named = manifests.is_none_or(|manifests| manifests.contains(lawpack));
        return same(kind, named, || {
            let coordinate = &anchored.lawpack_coordinate;
            format!("the package names another manifest of `{coordinate}` than was staged")
        });
    }
    let staged = built.lawpack_exports.len();
    let count = |other: usize| {
        same(kind, other == staged, || {
            format!("{other} lawpacks instead of the {staged} that were staged")
        })
    };
    count(package.lawpacks.len())?;
    for (exports, lawpack) in built.lawpack_exports.iter().zip(&package.lawpacks) {
        recomputed(kind, exports)?;
        let what = format!("the exports of `{}` in the package", lawpack.coordinate);
        equal(kind, &what, &exports.identity, &lawpack.exports.digest)?;
    }
    let Some(manifests) = manifests else {
        return Ok(());
    };
    count(manifests.len())?;
    for (manifest, lawpack) in manifests.iter().zip(&package.lawpacks) {
        let what = format!("the manifest of `{}` in the package", lawpack.coordinate);
        equal(kind, &what, manifest, &lawpack.manifest)?;
    }
    Ok(())
}

/// The operation is one of the application that was asked for, in the pinned codec.
pub(super) fn operation(package: &ProgramPackage, coordinate: &str, codec: &str) -> Pair {
    let intent = package.operation.strip_prefix(coordinate);
    let of_application = intent.is_some_and(|intent| intent.len() > 1 && intent.starts_with('.'));
    same(K::PackageMismatch, of_application, || {
        format!(
            "the package is of `{}`, not of `{coordinate}`",
            package.operation
        )
    })?;
    same(K::PackageMismatch, package.codec == codec, || {
        format!(
            "the package has the codec `{}`, not `{codec}`",
            package.codec
        )
    })
}

/// The profiles of the package are the pinned ones (S16).
pub(super) fn producers(
    package: &ProgramPackage,
    target_profile: &TypedDigest,
    interpreter: &str,
) -> Pair {
    let kind = K::ProfileMismatch;
    equal(
        kind,
        "the target profile of the package",
        target_profile,
        &package.target_profile,
    )?;
    // An upstream package pins the runtime's own profiles, which its host judges.
    let right = package.anchored.is_some() || package.interpreter == interpreter;
    same(kind, right, || {
        format!(
            "the package is for the interpreter `{}`, not `{interpreter}`",
            package.interpreter
        )
    })
}

/// The report is the one identified, and names this package and everything in it.
pub(super) fn verification(
    package: &ProgramPackage,
    report: &VerificationReport,
    identity: &TypedDigest,
) -> Pair {
    let kind = K::VerificationReportMismatch;
    equal(kind, "the identity of the report", &report.digest, identity)?;
    equal(
        kind,
        "the package of the report",
        &package.digest,
        &report.package,
    )?;
    same(kind, report.operation == package.operation, || {
        format!("the report is about `{}`", report.operation)
    })?;
    for (kind, what, expected, actual) in [
        (K::CoreMismatch, "Core", &package.core.digest, &report.core),
        (
            K::TargetIrMismatch,
            "Target IR",
            &package.target_ir.digest,
            &report.target_ir,
        ),
        (
            K::ClosureMismatch,
            "the source",
            &package.source,
            &report.source,
        ),
        (
            K::ProjectionMismatch,
            "the result projection",
            &package.projection.digest,
            &report.projection,
        ),
        (
            K::ProfileMismatch,
            "the target profile",
            &package.target_profile,
            &report.target_profile,
        ),
    ] {
        equal(kind, &format!("{what} in the report"), expected, actual)?;
    }
    let lawpacks = package
        .lawpacks
        .iter()
        .map(|it| (&it.coordinate, &it.manifest, &it.exports.digest));
    let named = report
        .lawpacks
        .iter()
        .map(|it| (&it.coordinate, &it.manifest, &it.exports));
    same(K::ClosureMismatch, lawpacks.eq(named), || {
        "the lawpacks of the report are not those of the package".to_owned()
    })?;
    // A report that rejects states the bounds that it found, which may be the very disagreement.
    let bounds = report.budget == package.budget && report.static_bound == package.static_bound;
    same(kind, bounds || !report.accepted, || {
        "budget or static bound of the report are not those of the package".to_owned()
    })
}

/// The report accepts.
pub(super) fn accepted(report: &VerificationReport) -> Pair {
    same(K::VerifierRejected, report.accepted, || {
        "the report rejects the package".to_owned()
    })
}
