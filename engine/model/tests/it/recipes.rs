// SPDX-License-Identifier: Apache-2.0
//! The law of recipes: two keys are equal exactly when the two lists of leaves are equal (A3).

use edict_codec::digest::{Algorithm, TypedDigest, derive_typed};
use edict_test_model::{
    built::ArtifactRole,
    ids::{CaseId, Coordinate, Locator, SuiteId},
    limits::{Limit, Limits},
    recipe::{
        ApplicationSubject, ArtifactPin, BuildRecipe, ContentFile, LawpackFiles, LeafValue, Recipe,
        VerifyRecipe, differing, explain, key, leaves,
    },
    suite::{
        Shape, Skip,
        identity::{
            CaseSubject, ExpectationSubject, FixtureSubject, FixtureUse, SetupSubject, SuiteSubject,
        },
    },
};
use expect_test::expect;
use proptest::{collection::vec, option, prelude::*, sample::select};

/// Few values, so that equal recipes are found as well as different ones.
fn digests() -> impl Strategy<Value = TypedDigest> {
    (select(vec!["a/v1", "b/v1"]), 0u8..3)
        .prop_map(|(domain, byte)| TypedDigest::new(domain, Algorithm::Blake3, [byte; 32]))
}

fn texts() -> impl Strategy<Value = String> {
    select(vec!["", "a", "ab", "null"]).prop_map(str::to_owned)
}

fn files() -> impl Strategy<Value = ContentFile> {
    (digests(), select(vec!["x", "y/z"])).prop_map(|(blob, path)| ContentFile {
        blob,
        locator: Locator::parse(path).unwrap(),
    })
}

fn lawpacks() -> impl Strategy<Value = LawpackFiles> {
    (files(), files(), option::of(files()), option::of(files())).prop_map(
        |(manifest, exports, adapter, target_configuration)| LawpackFiles {
            manifest,
            exports,
            adapter,
            target_configuration,
        },
    )
}

prop_compose! {
    fn applications()(
        texts in (texts(), texts(), texts()),
        sources in vec(files(), 0..3),
        lawpacks in vec(lawpacks(), 0..3),
        resources in vec(files(), 0..2),
    ) -> ApplicationSubject {
        ApplicationSubject {
            build_kind: texts.0,
            coordinate: texts.1,
            sources,
            lawpacks,
            resources,
            target_profile: texts.2,
        }
    }
}

prop_compose! {
    fn builds()(
        shape in select(vec![Shape::Bundled, Shape::Upstream]),
        application in applications(),
        pins in (digests(), digests(), digests(), digests(), digests()),
        provider_package in option::of(digests()),
    ) -> BuildRecipe {
        BuildRecipe {
            shape,
            application,
            compiler: pins.0,
            lowerer: pins.1,
            provider_package,
            target_profile: pins.2,
            interpreter_profile: pins.3,
            codec_abi: pins.4,
        }
    }
}

prop_compose! {
    fn verifications()(
        pins in (digests(), digests(), digests()),
        artifacts in vec((select(ArtifactRole::ALL.to_vec()), digests()), 0..5),
    ) -> VerifyRecipe {
        let artifacts = artifacts.into_iter().map(|(role, identity)| ArtifactPin { role, identity });
        VerifyRecipe {
            verifier: pins.0,
            verification_report_abi: pins.1,
            codec_abi: pins.2,
            artifacts: artifacts.collect(),
        }
    }
}

fn fixtures(usage: FixtureUse) -> impl Strategy<Value = FixtureSubject> {
    (0u64..2, files()).prop_map(move |(byte_length, file)| FixtureSubject {
        usage,
        byte_length,
        file,
    })
}

fn expectations() -> impl Strategy<Value = ExpectationSubject> {
    prop_oneof![
        Just(ExpectationSubject::CaseResult),
        (select(vec!["a@1", "a@2"]), fixtures(FixtureUse::Payload)).prop_map(
            |(coordinate, payload)| ExpectationSubject::Obstruction {
                coordinate: Coordinate::parse(coordinate).unwrap(),
                payload,
            }
        ),
    ]
}

prop_compose! {
    fn cases()(
        id in select(vec!["a", "b"]),
        application in applications(),
        input in fixtures(FixtureUse::Input),
        expectation in expectations(),
        setup in vec((applications(), fixtures(FixtureUse::Input)), 0..2),
        skip in option::of((texts(), texts())),
    ) -> CaseSubject {
        let setup = setup.into_iter().map(|(application, input)| SetupSubject { application, input });
        CaseSubject {
            id: CaseId::parse(id).unwrap(),
            application,
            input,
            expectation,
            setup: setup.collect(),
            skip: skip.map(|(reason, tracking_reference)| Skip { reason, tracking_reference }),
        }
    }
}

prop_compose! {
    fn suites()(
        id in select(vec!["a", "b"]),
        lock in digests(),
        lowered in option::of(select(Limit::ALL.to_vec())),
        cases in vec((texts(), digests()), 0..4),
    ) -> SuiteSubject {
        let mut limits = Limits::default();
        if let Some(limit) = lowered {
            limits.lower(limit, i128::from(limit.ceiling()) - 1).unwrap();
        }
        SuiteSubject { id: SuiteId::parse(id).unwrap(), lock, limits, cases }
    }
}

/// Equal keys, equal leaves and no difference are one and the same.
fn law(left: &dyn Recipe, right: &dyn Recipe) -> Result<(), TestCaseError> {
    let equal = leaves(left) == leaves(right);
    prop_assert_eq!(key(left) == key(right), equal);
    prop_assert_eq!(differing(&leaves(left), &leaves(right)).is_empty(), equal);
    prop_assert_eq!(leaves(left) == leaves(left), true);
    Ok(())
}

/// A recipe with one part taken from another: nearly equal ones are the interesting ones.
fn mixed(left: &BuildRecipe, right: &BuildRecipe, part: usize) -> BuildRecipe {
    let mut mixed = left.clone();
    match part {
        0 => mixed.shape = right.shape,
        1 => mixed
            .application
            .sources
            .clone_from(&right.application.sources),
        2 => mixed
            .application
            .lawpacks
            .clone_from(&right.application.lawpacks),
        3 => mixed
            .application
            .resources
            .clone_from(&right.application.resources),
        4 => mixed
            .application
            .coordinate
            .clone_from(&right.application.coordinate),
        5 => mixed.compiler.clone_from(&right.compiler),
        6 => mixed.provider_package.clone_from(&right.provider_package),
        _ => mixed.codec_abi.clone_from(&right.codec_abi),
    }
    mixed
}

proptest! {
    #[test]
    fn build_keys_are_equal_exactly_when_their_leaves_are(left in builds(), right in builds(), part in 0usize..8) {
        law(&left, &right)?;
        law(&left, &mixed(&left, &right, part))?;
    }

    #[test]
    fn verify_keys_are_equal_exactly_when_their_leaves_are(left in verifications(), right in verifications()) {
        law(&left, &right)?;
        let mut mixed = left.clone();
        mixed.artifacts.clone_from(&right.artifacts);
        law(&left, &mixed)?;
        mixed.artifacts.reverse();
        law(&right, &mixed)?;
    }

    #[test]
    fn case_identities_are_equal_exactly_when_their_leaves_are(left in cases(), right in cases()) {
        law(&left, &right)?;
        let mut mixed = left.clone();
        mixed.skip.clone_from(&right.skip);
        mixed.setup.clone_from(&right.setup);
        law(&left, &mixed)?;
    }

    #[test]
    fn suite_identities_are_equal_exactly_when_their_leaves_are(left in suites(), right in suites()) {
        law(&left, &right)?;
        let mut mixed = left.clone();
        mixed.limits = right.limits;
        law(&left, &mixed)?;
        mixed.cases.reverse();
        law(&left, &mixed)?;
    }

    #[test]
    fn where_a_file_is_changes_no_key(recipe in builds(), path in select(vec!["p", "q/r"])) {
        let mut moved = recipe.clone();
        let locator = Locator::parse(path).unwrap();
        for file in &mut moved.application.sources {
            file.locator = locator.clone();
        }
        for lawpack in &mut moved.application.lawpacks {
            lawpack.manifest.locator = locator.clone();
        }
        prop_assert_eq!(key(&recipe), key(&moved));
        prop_assert_eq!(leaves(&recipe), leaves(&moved));
    }
}

fn small() -> BuildRecipe {
    let digest = |name: &str| derive_typed("d/v1", name.as_bytes());
    let file = |name: &str| ContentFile {
        blob: digest(name),
        locator: Locator::parse(name).unwrap(),
    };
    BuildRecipe {
        shape: Shape::Bundled,
        application: ApplicationSubject {
            build_kind: "executableOperation".to_owned(),
            coordinate: "demo@1".to_owned(),
            sources: vec![file("main.edict")],
            lawpacks: vec![LawpackFiles {
                manifest: file("m"),
                exports: file("e"),
                adapter: None,
                target_configuration: None,
            }],
            resources: Vec::new(),
            target_profile: "echo.dpo@1".to_owned(),
        },
        compiler: digest("compiler"),
        lowerer: digest("lowerer"),
        provider_package: None,
        target_profile: digest("profile"),
        interpreter_profile: digest("interpreter"),
        codec_abi: digest("codec"),
    }
}

#[test]
fn leaves_have_the_labels_of_the_contract_in_preimage_order() {
    let labels: Vec<String> = leaves(&small())
        .into_iter()
        .map(|leaf| leaf.label)
        .collect();
    expect![[r"
        adapter
        shape
        application.buildKind
        application.coordinate
        application.source[0]
        application.lawpack[0].manifest
        application.lawpack[0].exports
        application.lawpack[0].adapter
        application.lawpack[0].targetConfiguration
        application.targetProfile
        toolchain.compiler
        toolchain.lowerer
        toolchain.providerPackage
        toolchain.targetProfile
        toolchain.interpreterProfile
        toolchain.codecAbi
    "]]
    .assert_eq(&(labels.join("\n") + "\n"));
    let pin = |role| ArtifactPin {
        role,
        identity: derive_typed("d/v1", b"x"),
    };
    let verify = VerifyRecipe {
        verifier: derive_typed("d/v1", b"v"),
        verification_report_abi: derive_typed("d/v1", b"r"),
        codec_abi: derive_typed("d/v1", b"c"),
        artifacts: vec![
            pin(ArtifactRole::Core),
            pin(ArtifactRole::LawpackExports),
            pin(ArtifactRole::LawpackExports),
        ],
    };
    let labels: Vec<String> = leaves(&verify).into_iter().map(|leaf| leaf.label).collect();
    expect![[r"
        adapter
        toolchain.verifier
        toolchain.verificationReportAbi
        toolchain.codecAbi
        artifact.core[0]
        artifact.lawpack-exports[0]
        artifact.lawpack-exports[1]
    "]]
    .assert_eq(&(labels.join("\n") + "\n"));
}

#[test]
fn an_explanation_shows_where_each_file_is() {
    let text = explain(&small());
    let line = text
        .lines()
        .find(|line| line.starts_with("application.source[0]"));
    assert!(line.unwrap().ends_with("  main.edict"), "{text}");
    assert_eq!(text.lines().count(), leaves(&small()).len());
}

#[test]
fn a_difference_names_the_label_and_both_values() {
    let mut changed = small();
    changed.compiler = derive_typed("d/v1", b"another");
    changed.application.lawpacks.clear();
    let differences = differing(&leaves(&small()), &leaves(&changed));
    let labels: Vec<&str> = differences.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "toolchain.compiler",
            "application.lawpack[0].manifest",
            "application.lawpack[0].exports",
            "application.lawpack[0].adapter",
            "application.lawpack[0].targetConfiguration",
        ]
    );
    let from = LeafValue::Digest(small().compiler);
    assert_eq!(differences[0].from, Some(from));
    assert_eq!(differences[1].to, None);
}
