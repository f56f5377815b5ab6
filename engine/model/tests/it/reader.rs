// SPDX-License-Identifier: Apache-2.0
//! A suite as content: documents are decoded, every file they name becomes a digest.

use edict_test_model::{
    built::blob,
    ids::Locator,
    recipe::{ApplicationSubject, BuildRecipe, ContentFile, LawpackFiles},
    suite::{
        ApplicationDocument, CaseDocument, Expect, LockDocument, Role, Shape, SuiteDocument,
        application::BUILD_KIND,
        identity::{
            CaseSubject, ExpectationSubject, FixtureSubject, FixtureUse, SetupSubject, SuiteSubject,
        },
    },
};

/// Gives the bytes of a path below the suite.
type Read<'a> = Box<dyn Fn(&str) -> Vec<u8> + 'a>;

/// Reads a suite through `read`, which gives the bytes of a path below it.
pub(crate) struct Reader<'a> {
    pub(crate) read: Read<'a>,
}

impl Reader<'_> {
    pub(crate) fn bytes(&self, locator: &Locator) -> Vec<u8> {
        (self.read)(locator.as_str())
    }

    pub(crate) fn document(&self) -> SuiteDocument {
        SuiteDocument::decode(&(self.read)("edict.test-suite.json")).unwrap()
    }

    pub(crate) fn lock(&self) -> LockDocument {
        LockDocument::decode(&(self.read)("edict.test-toolchain-lock.json")).unwrap()
    }

    pub(crate) fn application_document(&self, locator: &Locator) -> ApplicationDocument {
        ApplicationDocument::decode(&self.bytes(locator), Shape::Bundled).unwrap()
    }

    fn content(&self, locator: &Locator) -> ContentFile {
        ContentFile {
            blob: blob(&self.bytes(locator)),
            locator: locator.clone(),
        }
    }

    pub(crate) fn fixture(&self, usage: FixtureUse, locator: &Locator) -> FixtureSubject {
        FixtureSubject {
            usage,
            byte_length: self.bytes(locator).len() as u64,
            file: self.content(locator),
        }
    }

    pub(crate) fn application(&self, locator: &Locator) -> ApplicationSubject {
        let document = self.application_document(locator);
        let file = |path: &Locator| self.content(&locator.sibling(path).unwrap());
        let lawpacks = document.lawpacks.iter().map(|lawpack| LawpackFiles {
            manifest: file(&lawpack.manifest),
            exports: file(&lawpack.exports),
            adapter: lawpack.target.as_ref().map(|it| file(&it.adapter)),
            target_configuration: lawpack.target.as_ref().map(|it| file(&it.configuration)),
        });
        ApplicationSubject {
            build_kind: BUILD_KIND.to_owned(),
            coordinate: document.coordinate.clone(),
            sources: vec![file(&document.source)],
            lawpacks: lawpacks.collect(),
            resources: Vec::new(),
            target_profile: document.target_profile.clone(),
        }
    }

    pub(crate) fn case(&self, case: &CaseDocument) -> CaseSubject {
        let expectation = match &case.expect {
            Expect::CaseResult => ExpectationSubject::CaseResult,
            Expect::Obstruction {
                coordinate,
                payload,
            } => ExpectationSubject::Obstruction {
                coordinate: coordinate.clone(),
                payload: self.fixture(FixtureUse::Payload, payload),
            },
        };
        let setup = case.setup.iter().map(|entry| SetupSubject {
            application: self.application(&entry.application),
            input: self.fixture(FixtureUse::Input, &entry.input),
        });
        CaseSubject {
            id: case.id.clone(),
            application: self.application(&case.application),
            input: self.fixture(FixtureUse::Input, &case.input),
            expectation,
            setup: setup.collect(),
            skip: case.skip.clone(),
        }
    }

    pub(crate) fn cases(&self) -> Vec<CaseSubject> {
        self.document()
            .cases
            .iter()
            .map(|case| self.case(case))
            .collect()
    }

    pub(crate) fn suite(&self) -> SuiteSubject {
        let document = self.document();
        let row = |case: &CaseDocument| (case.label.clone(), self.case(case).identity());
        SuiteSubject {
            id: document.id.clone(),
            lock: self.lock().identity(),
            limits: document.limits,
            cases: document.cases.iter().map(row).collect(),
        }
    }
}

/// The recipe that builds `application` with the pins of `lock`.
pub(crate) fn build_recipe(lock: &LockDocument, application: ApplicationSubject) -> BuildRecipe {
    let pin = |role| lock.entry(role).unwrap().identity.clone();
    BuildRecipe {
        shape: lock.shape,
        application,
        compiler: pin(Role::Compiler),
        lowerer: pin(Role::Lowerer),
        provider_package: lock.provider_package.as_ref().map(|it| it.identity.clone()),
        target_profile: pin(Role::TargetProfile),
        interpreter_profile: pin(Role::InterpreterProfile),
        codec_abi: pin(Role::CodecAbi),
    }
}
