// SPDX-License-Identifier: Apache-2.0
//! The cases and applications of a suite, each by its own identity: id or locator.

use crate::{
    db::Db,
    inputs::{FileSnapshot, Suite},
};
use edict_test_model::{
    CaseId, Coordinate, Locator,
    recipe::{ApplicationSubject, ContentFile, LawpackFiles},
    suite::{
        ApplicationDocument, Expect, Skip, application,
        identity::{CaseSubject, ExpectationSubject, FixtureSubject, FixtureUse, SetupSubject},
    },
};
use std::{collections::BTreeMap, sync::Arc};

/// One application document with the files it names.
#[salsa::tracked(debug)]
pub(crate) struct Application<'db> {
    /// Where the document is.
    #[returns(ref)]
    pub(crate) locator: Locator,
    /// What it says.
    #[tracked]
    #[returns(ref)]
    pub(crate) document: Arc<ApplicationDocument>,
    /// The document itself as a file.
    #[tracked]
    #[returns(copy)]
    pub(crate) file: FileSnapshot,
    /// The files it names, in the order of `ApplicationDocument::files`.
    #[tracked]
    #[returns(ref)]
    pub(crate) files: Vec<FileSnapshot>,
}

/// One case.
#[salsa::tracked(debug)]
pub(crate) struct Case<'db> {
    /// The id.
    #[returns(ref)]
    pub(crate) id: CaseId,
    /// What people read.
    #[tracked]
    #[returns(ref)]
    pub(crate) label: String,
    /// The program.
    #[tracked]
    #[returns(copy)]
    pub(crate) application: Application<'db>,
    /// Its input.
    #[tracked]
    #[returns(copy)]
    pub(crate) input: FileSnapshot,
    /// Setup in order.
    #[tracked]
    #[returns(ref)]
    pub(crate) setup: Vec<(Application<'db>, FileSnapshot)>,
    /// Coordinate and payload of an expected obstruction; `None` expects a case result.
    #[tracked]
    #[returns(ref)]
    pub(crate) obstruction: Option<(Coordinate, FileSnapshot)>,
    /// A declared skip.
    #[tracked]
    #[returns(ref)]
    pub(crate) skip: Option<Skip>,
}

/// The cases in suite order. `load` has seen every file that a document names, so a missing one
/// is a defect of `load`; its case is left out here and the run notices the difference.
#[salsa::tracked(returns(clone))]
pub(crate) fn snapshot(db: &dyn Db, suite: Suite) -> Vec<Case<'_>> {
    let document = suite.document(db);
    // By locator: as many applications as cases are common.
    let known: BTreeMap<&Locator, Application<'_>> = applications(db, suite)
        .iter()
        .map(|it| (it.locator(db), *it))
        .collect();
    let application_at = |locator: &Locator| known.get(locator).copied();
    document
        .cases
        .iter()
        .filter_map(|case| {
            let file = |locator: &Locator| suite.files(db).get(locator).copied();
            let setup = case
                .setup
                .iter()
                .map(|entry| Some((application_at(&entry.application)?, file(&entry.input)?)))
                .collect::<Option<Vec<_>>>()?;
            let obstruction = match &case.expect {
                Expect::CaseResult => None,
                Expect::Obstruction {
                    coordinate,
                    payload,
                } => Some((coordinate.clone(), file(payload)?)),
            };
            Some(Case::new(
                db,
                case.id.clone(),
                case.label.clone(),
                application_at(&case.application)?,
                file(&case.input)?,
                setup,
                obstruction,
                case.skip.clone(),
            ))
        })
        .collect()
}

/// The applications, one tracked struct each however many cases name it.
#[salsa::tracked(returns(ref))]
fn applications(db: &dyn Db, suite: Suite) -> Vec<Application<'_>> {
    let files = suite.files(db);
    suite
        .applications(db)
        .iter()
        .filter_map(|(locator, document)| {
            let named = document
                .files()
                .into_iter()
                .map(|name| files.get(&locator.sibling(name).ok()?).copied())
                .collect::<Option<Vec<_>>>()?;
            let file = files.get(locator).copied()?;
            Some(Application::new(
                db,
                locator.clone(),
                Arc::clone(document),
                file,
                named,
            ))
        })
        .collect()
}

/// What decides a build of `application`, by content.
pub(crate) fn subject(db: &dyn Db, application: Application<'_>) -> ApplicationSubject {
    let document = application.document(db);
    let mut files = application.files(db).iter().map(|file| content(db, *file));
    // The files stand in the order of `ApplicationDocument::files`, one an entry.
    let source: Vec<ContentFile> = files.next().into_iter().collect();
    let lawpacks = document
        .lawpacks
        .iter()
        .filter_map(|paths| {
            let (manifest, exports) = (files.next()?, files.next()?);
            let (adapter, target_configuration) = match paths.target {
                Some(_) => (files.next(), files.next()),
                None => (None, None),
            };
            Some(LawpackFiles {
                manifest,
                exports,
                adapter,
                target_configuration,
            })
        })
        .collect();
    ApplicationSubject {
        build_kind: application::BUILD_KIND.to_owned(),
        coordinate: document.coordinate.clone(),
        sources: source,
        lawpacks,
        resources: Vec::new(),
        target_profile: document.target_profile.clone(),
    }
}

/// What decides the identity of a case.
pub(crate) fn case_subject(db: &dyn Db, case: Case<'_>) -> CaseSubject {
    CaseSubject {
        id: case.id(db).clone(),
        application: subject(db, case.application(db)),
        input: fixture(db, FixtureUse::Input, case.input(db)),
        expectation: match case.obstruction(db) {
            None => ExpectationSubject::CaseResult,
            Some((coordinate, payload)) => ExpectationSubject::Obstruction {
                coordinate: coordinate.clone(),
                payload: fixture(db, FixtureUse::Payload, *payload),
            },
        },
        setup: case
            .setup(db)
            .iter()
            .map(|(application, input)| SetupSubject {
                application: subject(db, *application),
                input: fixture(db, FixtureUse::Input, *input),
            })
            .collect(),
        skip: case.skip(db).clone(),
    }
}

fn fixture(db: &dyn Db, usage: FixtureUse, file: FileSnapshot) -> FixtureSubject {
    FixtureSubject {
        usage,
        byte_length: file.bytes(db).len() as u64,
        file: content(db, file),
    }
}

fn content(db: &dyn Db, file: FileSnapshot) -> ContentFile {
    ContentFile {
        blob: file.digest(db).clone(),
        locator: file.locator(db).clone(),
    }
}
