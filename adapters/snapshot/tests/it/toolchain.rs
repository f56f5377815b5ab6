// SPDX-License-Identifier: Apache-2.0
//! S14 and S15 over a whole lock: programs, components, the provider package and checkouts.

use crate::support::{Space, locator, outside, suite};
use edict_codec::digest::{Algorithm, TypedDigest, derive_typed, sha256};
use edict_test_model::{
    diagnostic::Detail,
    failure::{Failure, FailureKind, Stage},
    suite::{
        GitSource, LockDocument, ProviderPackage, Role, RoleEntry, RoleLocator, RolePin, Shape,
        ToolLocator,
    },
};
use edict_test_snapshot::{
    Place,
    toolchain::{measure_source, read_tools},
    tree::{PROVIDER_PACKAGE, read_tree},
};
use std::{fs, os::unix::fs::PermissionsExt as _};

const REVISION: &str = "1111111111111111111111111111111111111111";

fn program(role: Role, bytes: &[u8], locator: ToolLocator) -> RoleEntry {
    RoleEntry {
        role,
        identity: derive_typed("edict.test/executable/v1", bytes),
        locator: RoleLocator::Tool(locator),
        pin: RolePin::Executable {
            byte_length: bytes.len() as u64,
            source: None,
        },
    }
}

fn component(bytes: &[u8], manifest_role: &str) -> RoleEntry {
    RoleEntry {
        role: Role::Lowerer,
        identity: TypedDigest::new(
            "edict.provider-component/v1",
            Algorithm::Sha256,
            sha256(bytes),
        ),
        locator: RoleLocator::Package(locator("components/lowerer.wasm")),
        pin: RolePin::Component {
            coordinate: "echo.lowerer@1".to_owned(),
            byte_length: bytes.len() as u64,
            manifest_role: manifest_role.to_owned(),
        },
    }
}

fn lock(roles: Vec<RoleEntry>) -> LockDocument {
    LockDocument {
        shape: Shape::Bundled,
        provider_package: None,
        roles,
    }
}

fn space() -> Space {
    let space = Space::new(&[
        ("compiler", "the compiler"),
        ("host", "the host"),
        ("tree/.git/HEAD", REVISION),
        ("tree/src/a.rs", "a"),
        ("tree/src/b.rs", "b"),
        ("tree/notes", "not pinned"),
    ]);
    for name in ["compiler", "host"] {
        fs::set_permissions(space.path(name), fs::Permissions::from_mode(0o700)).unwrap();
    }
    space
}

/// The programs that were staged, in the order in which their bytes came.
fn read(space: &Space, roles: Vec<RoleEntry>) -> Result<Vec<(Role, Vec<u8>)>, Failure> {
    let mut staged: Vec<(Role, Vec<u8>)> = Vec::new();
    read_tools(&space.root(), &lock(roles), &mut |role, part| {
        match staged.last_mut().filter(|(last, _)| *last == role) {
            Some((_, bytes)) => bytes.extend_from_slice(part),
            None => staged.push((role, part.to_vec())),
        }
        Ok(())
    })?;
    Ok(staged)
}

fn refusal(space: &Space, roles: Vec<RoleEntry>) -> (FailureKind, Option<Role>) {
    let failure = read(space, roles).unwrap_err();
    assert_eq!(failure.stage, Stage::Toolchain);
    (failure.kind, failure.role)
}

#[test]
fn programs_come_in_the_order_of_the_lock() {
    let space = space();
    let roles = vec![
        program(Role::Compiler, b"the compiler", suite("compiler")),
        program(Role::Host, b"the host", suite("host")),
    ];
    assert_eq!(
        read(&space, roles).unwrap(),
        [
            (Role::Compiler, b"the compiler".to_vec()),
            (Role::Host, b"the host".to_vec()),
        ],
    );
}

#[test]
fn the_first_failing_role_is_named() {
    let space = space();
    let wrong = program(Role::Host, b"another", suite("host"));
    let missing = program(Role::Compiler, b"the compiler", suite("absent"));
    let roles = || vec![missing.clone(), wrong.clone()];
    assert_eq!(
        refusal(&space, roles()),
        (FailureKind::ToolMissing, Some(Role::Compiler))
    );
    assert_eq!(
        refusal(&space, vec![wrong.clone()]),
        (FailureKind::ToolMismatch, Some(Role::Host))
    );
}

#[test]
fn the_pin_of_the_runner_is_held_against_the_running_image() {
    let space = space();
    // The locator names the very bytes that are pinned, but they are not what runs.
    let roles = vec![program(Role::Runner, b"the host", suite("host"))];
    assert_eq!(
        refusal(&space, roles),
        (FailureKind::ToolMismatch, Some(Role::Runner))
    );
}

#[test]
fn staged_bytes_are_limited_and_equal_programs_count_once() {
    let space = space();
    let sized = |role, name: &[u8], byte_length| {
        let mut entry = program(role, name, suite("absent"));
        entry.pin = RolePin::Executable {
            byte_length,
            source: None,
        };
        entry
    };
    let half = 256 * 1024 * 1024;
    let fits = vec![
        sized(Role::Compiler, b"a", half),
        sized(Role::Lowerer, b"a", half),
        sized(Role::Host, b"b", half),
    ];
    assert_eq!(refusal(&space, fits.clone()).0, FailureKind::ToolMissing);
    let mut over = fits;
    over.push(sized(Role::Verifier, b"c", 1));
    let failure = read(&space, over).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ToolBytesExceeded);
    let detail = Detail::Limit {
        limit: 2 * half,
        actual: Some(2 * half + 1),
    };
    assert_eq!(failure.detail, Some(detail));
}

fn with_source(space: &Space, change: impl FnOnce(&mut GitSource)) -> Vec<RoleEntry> {
    let worktree = outside("tree");
    let paths = vec![locator("src")];
    let (revision, tree) = measure_source(&space.root(), &worktree, &paths).unwrap();
    let mut source = GitSource {
        revision,
        tree,
        worktree,
        paths,
    };
    change(&mut source);
    let mut entry = program(Role::Host, b"the host", suite("host"));
    entry.pin = RolePin::Executable {
        byte_length: 8,
        source: Some(source),
    };
    vec![entry]
}

#[test]
fn a_clean_checkout_passes_and_files_elsewhere_do_not_matter() {
    let space = space();
    let roles = with_source(&space, |_| ());
    space.write("tree/notes", b"changed");
    read(&space, roles).unwrap();
}

#[test]
fn another_revision_is_told_before_the_tree() {
    let space = space();
    let roles = with_source(&space, |source| source.revision = "2".repeat(40));
    space.write("tree/src/a.rs", b"changed");
    let expected = (FailureKind::SourceRevisionMismatch, Some(Role::Host));
    assert_eq!(refusal(&space, roles), expected);
}

#[test]
fn every_kind_of_dirt_is_found() {
    type Dirt = fn(&Space);
    let dirt: [Dirt; 6] = [
        |space| space.write("tree/src/a.rs", b"changed"),
        |space| space.write("tree/src/new.rs", b""),
        |space| fs::remove_file(space.path("tree/src/b.rs")).unwrap(),
        |space| fs::remove_dir_all(space.path("tree/src")).unwrap(),
        |space| space.link("a.rs", "tree/src/link.rs"),
        |space| space.fifo("tree/src/fifo"),
    ];
    for spoil in dirt {
        let space = space();
        let roles = with_source(&space, |_| ());
        spoil(&space);
        assert_eq!(
            refusal(&space, roles),
            (FailureKind::SourceTreeDirty, Some(Role::Host))
        );
    }
}

fn provider() -> Space {
    let digest = edict_codec::hex::encode(&sha256(b"wasm"));
    let manifest = format!(
        r#"{{"artifacts": [{{"role": "verifier", "digest": "sha256:00"}}, {{"role": "lowerer", "digest": "sha256:{digest}"}}]}}"#
    );
    Space::new(&[
        ("provider/components/lowerer.wasm", "wasm"),
        ("provider/provider-manifest.echo.json", &manifest),
    ])
}

fn upstream(space: &Space, roles: Vec<RoleEntry>) -> LockDocument {
    let root = space.root();
    let place = Place {
        root: &root,
        locator: &suite("provider"),
    };
    LockDocument {
        shape: Shape::Upstream,
        provider_package: Some(ProviderPackage {
            coordinate: "echo.provider@1".to_owned(),
            identity: read_tree(place, PROVIDER_PACKAGE).unwrap().identity,
            locator: suite("provider"),
        }),
        roles,
    }
}

#[test]
fn a_component_is_held_against_pin_and_manifest() {
    let space = provider();
    let kind = |roles| {
        let lock = upstream(&space, roles);
        read_tools(&space.root(), &lock, &mut |_, _| Ok(())).map_err(|failure| failure.kind)
    };
    let package = kind(vec![component(b"wasm", "lowerer")]).unwrap();
    assert_eq!(package.unwrap().files.len(), 2);
    assert_eq!(
        kind(vec![component(b"wasn", "lowerer")]),
        Err(FailureKind::ToolMismatch)
    );
    for role in ["verifier", "absent", ""] {
        let refused = kind(vec![component(b"wasm", role)]);
        assert_eq!(
            refused,
            Err(FailureKind::ProviderManifestMismatch),
            "{role}"
        );
    }
}

#[test]
fn another_provider_package_is_a_mismatch() {
    for spoil in ["provider/more", "provider/components/lowerer.wasm"] {
        let space = provider();
        let lock = upstream(&space, Vec::new());
        space.write(spoil, b"other");
        let failure = read_tools(&space.root(), &lock, &mut |_, _| Ok(())).unwrap_err();
        assert_eq!(
            failure.kind,
            FailureKind::ProviderPackageMismatch,
            "{spoil}"
        );
    }
    let space = provider();
    let lock = upstream(&space, Vec::new());
    space.link("more", "provider/link");
    let failure = read_tools(&space.root(), &lock, &mut |_, _| Ok(())).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ProviderPackageMismatch);
    fs::remove_dir_all(space.path("provider")).unwrap();
    let failure = read_tools(&space.root(), &lock, &mut |_, _| Ok(())).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ToolMissing);
}
