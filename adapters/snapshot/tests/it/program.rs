// SPDX-License-Identifier: Apache-2.0
//! S14: a pinned program is read once and compared in length and identity.

use crate::support::{Space, outside, suite};
use edict_codec::digest::derive_typed;
use edict_test_model::{
    failure::{Failure, FailureKind, Stage},
    suite::{Role, ToolLocator},
};
use edict_test_snapshot::{
    Place,
    program::{ProgramPin, measure, measure_own_image, read_own_image, read_pinned},
};
use std::{fs, os::unix::fs::PermissionsExt as _};

const BYTES: &[u8] = b"#!/bin/sh\n";

fn space() -> Space {
    let space = Space::new(&[]);
    space.write("suite/tool", BYTES);
    space.write("tool", BYTES);
    for path in ["suite/tool", "tool"] {
        fs::set_permissions(space.path(path), fs::Permissions::from_mode(0o700)).unwrap();
    }
    space
}

fn read(
    space: &Space,
    locator: &ToolLocator,
    byte_length: u64,
    bytes: &[u8],
) -> Result<Vec<u8>, Failure> {
    let root = edict_test_snapshot::SuiteRoot::open(&space.path("suite")).unwrap();
    let identity = derive_typed("edict.test/executable/v1", bytes);
    let pin = ProgramPin {
        role: Role::Compiler,
        identity: &identity,
        byte_length,
    };
    let place = Place {
        root: &root,
        locator,
    };
    let mut staged = Vec::new();
    read_pinned(place, &pin, &mut |_, part| {
        staged.extend_from_slice(part);
        Ok(())
    })?;
    Ok(staged)
}

#[test]
fn a_pinned_program_is_found_inside_and_outside() {
    let space = space();
    let absolute = space.path("tool").to_str().unwrap().to_owned();
    fs::create_dir(space.path("linked")).unwrap();
    space.link("../tool", "linked/tool");
    for locator in [
        suite("tool"),
        outside("../tool"),
        outside("../linked/tool"),
        outside(&absolute),
    ] {
        assert_eq!(
            read(&space, &locator, 10, BYTES).unwrap(),
            BYTES,
            "{locator:?}"
        );
    }
}

#[test]
fn another_length_or_identity_is_a_mismatch() {
    let space = space();
    for (length, bytes) in [
        (9, BYTES),
        (11, BYTES),
        (10, b"another".as_slice()),
        (1, b""),
    ] {
        let failure = read(&space, &suite("tool"), length, bytes).unwrap_err();
        assert_eq!(failure.kind, FailureKind::ToolMismatch, "{length}");
        assert_eq!(failure.stage, Stage::Toolchain);
        assert_eq!(failure.role, Some(Role::Compiler));
        let advice = "; run `edict-test lock` with `--existing replace` to pin it anew";
        assert!(failure.message.ends_with(advice), "{}", failure.message);
    }
    let failure = read(&space, &suite("tool"), 10, b"another").unwrap_err();
    let actual = derive_typed("edict.test/executable/v1", BYTES);
    assert_eq!(failure.actual, Some(actual));
}

#[test]
fn what_cannot_be_read_as_a_file_is_missing() {
    let space = space();
    space.fifo("suite/fifo");
    space.link("tool", "suite/link");
    for locator in [
        suite("absent"),
        suite("fifo"),
        suite("link"),
        outside("../suite"),
        outside("/dev/null"),
    ] {
        let failure = read(&space, &locator, 10, BYTES).unwrap_err();
        assert_eq!(failure.kind, FailureKind::ToolMissing, "{locator:?}");
    }
}

#[test]
fn a_program_without_permission_is_not_executable() {
    let space = space();
    fs::set_permissions(space.path("tool"), fs::Permissions::from_mode(0o600)).unwrap();
    let failure = read(&space, &outside("../tool"), 10, BYTES).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ToolNotExecutable);
}

#[test]
fn the_running_image_is_compared_too() {
    let own = measure_own_image().unwrap();
    let byte_length = own.byte_length;
    let pin = ProgramPin {
        role: Role::Runner,
        identity: &own.identity,
        byte_length,
    };
    assert_eq!(read_own_image(&pin).unwrap(), own);
    let pin = ProgramPin {
        byte_length: byte_length - 1,
        ..pin
    };
    assert_eq!(
        read_own_image(&pin).unwrap_err().kind,
        FailureKind::ToolMismatch
    );
}

#[test]
fn a_program_is_measured_to_be_pinned() {
    let space = space();
    space.write("empty", b"");
    let root = space.root();
    let measured = |locator: &ToolLocator| {
        measure(Place {
            root: &root,
            locator,
        })
    };
    let program = measured(&suite("tool")).unwrap();
    assert_eq!(
        program.identity,
        derive_typed("edict.test/executable/v1", BYTES)
    );
    assert_eq!(
        measured(&suite("empty")).unwrap_err().message,
        "read `empty`: it is empty",
    );
}
