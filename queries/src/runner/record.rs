// SPDX-License-Identifier: Apache-2.0
//! What a run record is made from beside the report: subjects, keys and the files of the snapshot.

use super::{Runner, no_suite};
use crate::{
    build::{build, recipe},
    inputs::{Suite, Toolchain},
    snapshot::{case_subject, snapshot},
};
use edict_codec::digest::TypedDigest;
use edict_test_model::{
    Failure, Locator,
    recipe::{VerifyRecipe, key},
    suite::identity::{CaseSubject, SuiteSubject},
};
use std::sync::Arc;

/// A file of a snapshot: where it was, its blob and its bytes.
pub type SnapshotFile = (Locator, TypedDigest, Arc<[u8]>);

/// What decides one case, and the keys of its own program.
#[derive(Clone, Debug)]
pub struct CaseFacts {
    /// Everything that its identity is made of.
    pub subject: CaseSubject,
    /// The build key.
    pub build_key: TypedDigest,
    /// The verify key; `None` when the case declares a skip or its program was not built.
    pub verify_key: Option<TypedDigest>,
}

impl Runner {
    /// What the identity of the suite is made of.
    ///
    /// # Errors
    /// `InternalError` before a suite is loaded.
    pub fn suite_subject(&self) -> Result<SuiteSubject, Failure> {
        let suite = self.suite.as_ref().ok_or_else(no_suite)?;
        let labels = suite.document.cases.iter().map(|case| case.label.clone());
        let cases = labels.zip(self.case_identities()?.into_iter().map(|(_, case)| case));
        Ok(SuiteSubject {
            id: suite.document.id.clone(),
            lock: suite.lock.identity(),
            limits: suite.document.limits,
            cases: cases.collect(),
        })
    }

    /// The facts of every case in suite order; builds nothing that was not built.
    ///
    /// # Errors
    /// `InternalError` before a suite is loaded.
    pub fn case_facts(&self) -> Result<Vec<CaseFacts>, Failure> {
        let engine = &self.engine;
        let suite = Suite::try_get(engine).ok_or_else(no_suite)?;
        let roles = Toolchain::get(engine).verify_roles(engine);
        let facts = snapshot(engine, suite).into_iter().map(|case| {
            let application = case.application(engine);
            let built = match case.skip(engine) {
                // Nothing was built for it, and nothing is built for a record.
                Some(_) => None,
                None => build(engine, application).ok(),
            };
            let verify = built.map(|built| {
                key(&VerifyRecipe::of(
                    &built,
                    &roles.verifier,
                    &roles.verification_report_abi,
                    &roles.codec_abi,
                ))
            });
            CaseFacts {
                subject: case_subject(engine, case),
                build_key: key(&recipe(engine, application)),
                verify_key: verify,
            }
        });
        Ok(facts.collect())
    }

    /// Every file of the loaded snapshot, ascending by locator: where it was, blob and bytes.
    ///
    /// # Errors
    /// `InternalError` before a suite is loaded.
    pub fn files(&self) -> Result<Vec<SnapshotFile>, Failure> {
        let engine = &self.engine;
        let suite = Suite::try_get(engine).ok_or_else(no_suite)?;
        let files = suite.files(engine).iter().map(|(locator, file)| {
            let digest = file.digest(engine).clone();
            (locator.clone(), digest, Arc::clone(file.bytes(engine)))
        });
        Ok(files.collect())
    }
}
