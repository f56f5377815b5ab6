// SPDX-License-Identifier: Apache-2.0
//! One independent verification of one build.

use crate::{
    build::{build, files, lawpacks},
    db::Db,
    inputs::{Suite, Toolchain},
    reuse::verify_or_reuse,
    snapshot::Application,
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    Failure, binding::report_of_build, built::Verified, ports::VerifyRequest, recipe::VerifyRecipe,
};
use std::sync::Arc;

/// The judgement, accepted or rejected, or why there is none.
#[salsa::tracked(returns(clone))]
pub(crate) fn verify<'db>(
    db: &'db dyn Db,
    application: Application<'db>,
) -> Result<Arc<Verified>, Arc<Failure>> {
    let built = build(db, application)?;
    if let Some(verified) = report_of_build(&built).map_err(Arc::new)? {
        return Ok(Arc::new(verified));
    }
    let limits = Suite::get(db).limits(db);
    let roles = Toolchain::get(db).verify_roles(db);
    let request = VerifyRequest {
        recipe: VerifyRecipe::of(
            &built,
            &roles.verifier,
            &roles.verification_report_abi,
            &roles.codec_abi,
        ),
        built,
        source: application.document(db).source.clone(),
        lawpacks: lawpacks(db, application),
        files: files(db, application),
        wall_timeout_ms: limits.wall_timeout_ms(),
        artifact_bytes: ByteLimit::new(limits.max_artifact_bytes()),
    };
    verify_or_reuse(db.ports(), &request)
        .map(Arc::new)
        .map_err(Arc::new)
}
