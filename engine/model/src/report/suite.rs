// SPDX-License-Identifier: Apache-2.0
//! A suite as content, read again to hold a report against it: documents, fixtures, closures.

use crate::{
    binding::manifest_identity,
    built::{Body, blob},
    ids::Locator,
    plan::Expectation,
    recipe::{ApplicationSubject, BuildRecipe, ContentFile, LawpackFiles, key},
    suite::{
        ApplicationDocument, CaseDocument, Expect, LockDocument, Role, SuiteDocument,
        application::BUILD_KIND,
        decode::DocumentError,
        identity::{
            CaseSubject, ExpectationSubject, FixtureSubject, FixtureUse, SetupSubject, SuiteSubject,
        },
    },
};
use edict_codec::digest::TypedDigest;
use std::collections::BTreeMap;

/// Why a suite could not be read again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SuiteReadError {
    /// The manifest, the lock or a path below the suite.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
}

/// Gives the bytes of a path below the suite.
type Read<'a> = dyn Fn(&Locator) -> Result<Vec<u8>, String> + 'a;

/// A suite with everything that its documents name.
#[derive(Clone, Debug)]
pub struct SuiteContent {
    /// The manifest.
    pub document: SuiteDocument,
    /// Blob of the exact manifest bytes.
    pub manifest: TypedDigest,
    /// The lock.
    pub lock: LockDocument,
    /// Blob of the exact lock bytes.
    pub lock_file: TypedDigest,
    /// The cases in order.
    pub cases: Vec<CaseContent>,
    /// Coordinate and identities of the lawpack manifests of each application, by its identity.
    pub applications: BTreeMap<TypedDigest, (ApplicationSubject, Vec<TypedDigest>)>,
}

/// One case by content.
#[derive(Clone, Debug)]
pub struct CaseContent {
    /// Everything its identity is made of.
    pub subject: CaseSubject,
    /// Description or id.
    pub label: String,
    /// What it must end in.
    pub expectation: Expectation,
}

impl SuiteContent {
    /// Reads a suite from the bytes of its manifest; `read` gives every other file.
    ///
    /// # Errors
    /// The first document that is none, or the first file that cannot be read.
    pub fn read(manifest: &[u8], read: &Read<'_>) -> Result<Self, SuiteReadError> {
        let document =
            SuiteDocument::decode(manifest).map_err(|error| wrong("manifest", &error))?;
        let mut reader = Reader {
            read,
            applications: BTreeMap::new(),
            shape: crate::suite::Shape::Bundled,
        };
        let bytes = reader.bytes(&document.toolchain_lock)?;
        let lock = LockDocument::decode(&bytes).map_err(|error| wrong("lock", &error))?;
        reader.shape = lock.shape;
        let cases = document
            .cases
            .iter()
            .map(|case| reader.case(case))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            manifest: blob(manifest),
            lock_file: blob(&bytes),
            applications: reader.applications,
            document,
            lock,
            cases,
        })
    }

    /// The suite identity.
    pub fn identity(&self) -> TypedDigest {
        let row = |case: &CaseContent| (case.label.clone(), case.subject.identity());
        SuiteSubject {
            id: self.document.id.clone(),
            lock: self.lock.identity(),
            limits: self.document.limits,
            cases: self.cases.iter().map(row).collect(),
        }
        .identity()
    }

    /// The build key of an application of the suite.
    pub(super) fn build_key(&self, application: &ApplicationSubject) -> Option<TypedDigest> {
        let pin = |role| self.lock.entry(role).map(|entry| entry.identity.clone());
        Some(key(&BuildRecipe {
            shape: self.lock.shape,
            application: application.clone(),
            compiler: pin(Role::Compiler)?,
            lowerer: pin(Role::Lowerer)?,
            provider_package: self
                .lock
                .provider_package
                .as_ref()
                .map(|it| it.identity.clone()),
            target_profile: pin(Role::TargetProfile)?,
            interpreter_profile: pin(Role::InterpreterProfile)?,
            codec_abi: pin(Role::CodecAbi)?,
        }))
    }
}

fn wrong(place: &str, error: &DocumentError) -> SuiteReadError {
    SuiteReadError {
        place: place.to_owned(),
        message: error.to_string(),
    }
}

struct Reader<'a> {
    read: &'a Read<'a>,
    applications: BTreeMap<TypedDigest, (ApplicationSubject, Vec<TypedDigest>)>,
    shape: crate::suite::Shape,
}

impl Reader<'_> {
    fn bytes(&self, locator: &Locator) -> Result<Vec<u8>, SuiteReadError> {
        (self.read)(locator).map_err(|message| SuiteReadError {
            place: locator.to_string(),
            message,
        })
    }

    fn fixture(
        &self,
        usage: FixtureUse,
        locator: &Locator,
    ) -> Result<(FixtureSubject, Body), SuiteReadError> {
        let body = Body::new(self.bytes(locator)?);
        let subject = FixtureSubject {
            usage,
            byte_length: body.byte_length(),
            file: ContentFile {
                blob: body.blob.clone(),
                locator: locator.clone(),
            },
        };
        Ok((subject, body))
    }

    fn case(&mut self, case: &CaseDocument) -> Result<CaseContent, SuiteReadError> {
        let (expectation_subject, expectation) = match &case.expect {
            Expect::CaseResult => (ExpectationSubject::CaseResult, Expectation::CaseResult),
            Expect::Obstruction {
                coordinate,
                payload,
            } => {
                let (subject, body) = self.fixture(FixtureUse::Payload, payload)?;
                let expectation = Expectation::Obstruction {
                    coordinate: coordinate.clone(),
                    fixture: subject.identity(),
                    payload: body,
                };
                let subject = ExpectationSubject::Obstruction {
                    coordinate: coordinate.clone(),
                    payload: subject,
                };
                (subject, expectation)
            }
        };
        let mut setup = Vec::new();
        for entry in &case.setup {
            setup.push(SetupSubject {
                application: self.application(&entry.application)?,
                input: self.fixture(FixtureUse::Input, &entry.input)?.0,
            });
        }
        Ok(CaseContent {
            subject: CaseSubject {
                id: case.id.clone(),
                application: self.application(&case.application)?,
                input: self.fixture(FixtureUse::Input, &case.input)?.0,
                expectation: expectation_subject,
                setup,
                skip: case.skip.clone(),
            },
            label: case.label.clone(),
            expectation,
        })
    }

    fn application(&mut self, locator: &Locator) -> Result<ApplicationSubject, SuiteReadError> {
        let document = ApplicationDocument::decode(&self.bytes(locator)?, self.shape)
            .map_err(|error| wrong(locator.as_str(), &error))?;
        let mut manifests = Vec::new();
        let mut lawpacks = Vec::new();
        for lawpack in &document.lawpacks {
            let manifest = self.below(locator, &lawpack.manifest)?;
            let identity = manifest_identity(&manifest.1).ok_or_else(|| SuiteReadError {
                place: manifest.0.locator.to_string(),
                message: "a lawpack manifest is one canonical item".to_owned(),
            })?;
            manifests.push(identity);
            let target = lawpack.target.as_ref();
            let file = |path| self.below(locator, path).map(|it| it.0);
            lawpacks.push(LawpackFiles {
                manifest: manifest.0,
                exports: file(&lawpack.exports)?,
                adapter: target.map(|it| file(&it.adapter)).transpose()?,
                target_configuration: target.map(|it| file(&it.configuration)).transpose()?,
            });
        }
        let subject = ApplicationSubject {
            build_kind: BUILD_KIND.to_owned(),
            coordinate: document.coordinate.clone(),
            sources: vec![self.below(locator, &document.source)?.0],
            lawpacks,
            resources: Vec::new(),
            target_profile: document.target_profile.clone(),
        };
        self.applications
            .insert(subject.identity(), (subject.clone(), manifests));
        Ok(subject)
    }

    /// A file that the document at `locator` names.
    fn below(
        &self,
        locator: &Locator,
        path: &Locator,
    ) -> Result<(ContentFile, Vec<u8>), SuiteReadError> {
        let locator = locator.sibling(path).map_err(|error| SuiteReadError {
            place: locator.to_string(),
            message: error.to_string(),
        })?;
        let bytes = self.bytes(&locator)?;
        let blob = blob(&bytes);
        Ok((ContentFile { blob, locator }, bytes))
    }
}
