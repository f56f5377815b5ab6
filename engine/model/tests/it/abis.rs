// SPDX-License-Identifier: Apache-2.0
//! Lock entries for ABIs and profiles against what the runner and the applications say.

use crate::golden_run::reader;
use crate::support::Doc;
use edict_test_model::{
    FailureKind, Stage, abi,
    run::{host_pins, producers},
    suite::{LockDocument, Role},
};

/// The golden lock with the ABI documents of this runner.
fn lock(edit: impl Fn(&mut Doc)) -> LockDocument {
    let bytes = (reader().read)("edict.test-toolchain-lock.json");
    let mut doc = Doc::parse(&String::from_utf8(bytes).unwrap());
    for document in abi::DOCUMENTS {
        let role = document.role.name();
        let identity = format!("\"{}\"", document.identity().hex());
        doc.replace(&format!("/roles/{role}/identity/bytes"), &identity);
    }
    edit(&mut doc);
    LockDocument::decode(doc.text().as_bytes()).unwrap()
}

#[test]
fn a_lock_names_the_documents_of_this_runner() {
    assert_eq!(abi::check(&lock(|_| {})), Ok(()));
    for document in abi::DOCUMENTS {
        let role = document.role.name();
        let zeros = format!("\"{}\"", "0".repeat(64));
        for (member, value) in [
            ("identity/bytes", zeros.as_str()),
            ("coordinate", "\"other/v1\""),
        ] {
            let changed = lock(|doc| doc.replace(&format!("/roles/{role}/{member}"), value));
            let failure = abi::check(&changed).unwrap_err();
            assert_eq!(
                (failure.stage, failure.kind),
                (Stage::Toolchain, FailureKind::AbiMismatch)
            );
            assert_eq!(failure.role, Some(document.role));
            assert_eq!(failure.actual, Some(document.identity()));
        }
    }
}

#[test]
fn the_documents_differ_and_say_their_coordinate_first() {
    for document in abi::DOCUMENTS {
        let text = std::str::from_utf8(document.definition).unwrap();
        assert_eq!(text.lines().next(), Some(document.coordinate));
    }
}

#[test]
fn an_application_is_for_the_pinned_target_profile() {
    let reader = reader();
    let locator = reader.document().cases[0].application.clone();
    let application = reader.application_document(&locator);
    assert_eq!(abi::check_application(&lock(|_| {}), &application), Ok(()));
    let other = lock(|doc| doc.replace("/roles/targetProfile/coordinate", "\"echo.dpo@2\""));
    let failure = abi::check_application(&other, &application).unwrap_err();
    assert_eq!(failure.kind, FailureKind::LockDisagreesWithApplication);
    assert_eq!(failure.role, Some(Role::TargetProfile));
}

#[test]
fn a_lock_says_the_eleven_producers_and_the_pins_of_the_host() {
    let lock = lock(|_| {});
    let roles: Vec<Role> = producers(&lock).iter().map(|it| it.role).collect();
    assert_eq!(roles, Role::ALL);
    let pins = host_pins(&lock).unwrap();
    assert_eq!(pins.interpreter, "echo.interpreter/v1");
    assert_eq!(
        Some(&pins.executable),
        lock.entry(Role::Host).map(|it| &it.identity)
    );
}
