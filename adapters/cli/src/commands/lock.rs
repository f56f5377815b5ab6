// SPDX-License-Identifier: Apache-2.0
//! `lock`: the only command that writes pins, and only when asked (C4, C8).

use super::{Answer, Problems};
use crate::{
    args::{Existing, LockArgs, ShapeArg},
    files::{replace, write_new_unless_told},
    wire::{OpenedSuite, read_argument},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{Algorithm, TypedDigest, derive_typed},
    hex,
};
use edict_test_model::{
    Failure, FailureKind, Locator, Stage,
    abi::DOCUMENTS,
    suite::{
        GitSource, LockDocument, Pinned, Role, RoleEntry, RoleKind, RoleLocator, RolePin, Shape,
        ToolLocator,
        lock::{INTERPRETER_PROFILE, TARGET_PROFILE},
    },
};
use edict_test_reporters::{
    diagnostics::Documents,
    lock::{differences, lines, write},
};
use edict_test_snapshot::{
    Place, SuiteRoot,
    program::{Program, measure, measure_own_image},
    toolchain::{
        MeasureError, measure_clean_source, measure_component, measure_package, measure_source,
    },
    tree::{Tree, TreeError},
};
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// Coordinate and identity of the target profile of the bundled toolchain.
const BUNDLED_TARGET: (&str, &str) = (
    "echo.dpo@1",
    "debace378973d1cbe66ebaebc1a326b1fffc17e0c2628d42f2b8ca5098da821b",
);
/// Coordinate of the interpreter profile of the bundled host.
const BUNDLED_INTERPRETER: &str = "echo.interpreter/v1";

/// Writes a lock, or compares one.
pub(super) fn lock(arguments: &LockArgs) -> Result<Answer, Problems> {
    let one = |failure| vec![failure];
    match &arguments.check {
        Some(path) => compare(path, arguments).map_err(one),
        None => pin(arguments).map_err(one),
    }
}

fn pin(arguments: &LockArgs) -> Result<Answer, Failure> {
    if arguments.provider_package.is_some() && arguments.shape == ShapeArg::Bundled {
        return Err(refused("--provider-package is of shape upstream"));
    }
    for source in &arguments.source {
        let (role, _, _) = split_source(source)?;
        if role.kind(Shape::Bundled) != RoleKind::Executable {
            let message = format!("--source: {} is no program", role.name());
            return Err(refused(&message));
        }
    }
    let place = match (&arguments.suite, &arguments.out) {
        (Some(suite), _) => {
            let opened = OpenedSuite::open(suite, &mut Documents::default())?;
            opened
                .root
                .path()
                .join(opened.document.toolchain_lock.as_str())
        }
        (None, Some(out)) => out.clone(),
        (None, None) => return Err(refused("`lock` needs --suite, --out or --check")),
    };
    let root = directory_of(&place)?;
    let made = Pins {
        root: &root,
        arguments,
    }
    .lock()?;
    let text = write(&made);
    match arguments.existing {
        Existing::Refuse => write_new_unless_told(&place, text.as_bytes())?,
        Existing::Replace => {
            replace(&place, text.as_bytes(), |old| {
                LockDocument::decode(old).is_ok()
            })?;
        }
    }
    Ok(Answer::text(lines(&made)))
}

fn compare(path: &Path, arguments: &LockArgs) -> Result<Answer, Failure> {
    let bytes = read_argument(path, 1 << 20)?;
    let pinned =
        LockDocument::decode(&bytes).map_err(|error| error.into_failure(Stage::Lock, "lock"))?;
    let root = directory_of(path)?;
    let found = Pins {
        root: &root,
        arguments,
    }
    .of(&pinned)?;
    let drift = differences(&pinned, &found);
    Ok(if drift.is_empty() {
        Answer::text(lines(&pinned))
    } else {
        Answer::text(drift).with_status(1)
    })
}

/// What is measured to make a lock in the directory `root`.
struct Pins<'a> {
    root: &'a SuiteRoot,
    arguments: &'a LockArgs,
}

impl Pins<'_> {
    fn lock(&self) -> Result<LockDocument, Failure> {
        if self.arguments.shape == ShapeArg::Upstream {
            return Err(refused(
                "a lock of shape upstream is written by hand: its coordinates and manifest roles \
                 are those of the provider package; docs/lock.md has an example",
            ));
        }
        let compiler = beside(self.arguments.compiler.as_deref(), "edict")?;
        let lowerer = match &self.arguments.lowerer {
            Some(path) => path.clone(),
            None => compiler.clone(),
        };
        let verifier = beside(self.arguments.verifier.as_deref(), "edict-verifier")?;
        let host = beside(self.arguments.host.as_deref(), "echo-host")?;
        let mut roles = vec![self.runner()?];
        let programs = [
            (Role::Compiler, compiler),
            (Role::Lowerer, lowerer),
            (Role::Verifier, verifier),
            (Role::Host, host),
        ];
        for (role, path) in programs {
            let locator = self.locator(&path)?;
            let place = Place {
                root: self.root,
                locator: &locator,
            };
            let program = measure(place).map_err(|error| missing(role, &error.message))?;
            roles.push(self.executable(role, locator, &program)?);
        }
        roles.extend(embedded());
        Ok(LockDocument {
            shape: Shape::Bundled,
            provider_package: None,
            roles,
        })
    }

    /// The same lock with everything measured again at the places that it names. Profiles of shape
    /// upstream stay as they are: only packages and the host state them.
    fn of(&self, pinned: &LockDocument) -> Result<LockDocument, Failure> {
        let mut found = pinned.clone();
        let package = match &mut found.provider_package {
            Some(package) => {
                let tree = measure_package(self.root, &package.locator).map_err(|error| {
                    let message = format!("provider package `{}`: {error}", package.coordinate);
                    Failure::new(Stage::Toolchain, FailureKind::ToolMissing, message)
                })?;
                package.identity = tree.identity.clone();
                Some(tree)
            }
            None => None,
        };
        let fresh = embedded();
        for entry in &mut found.roles {
            match entry.kind() {
                RoleKind::Executable => self.measure_again(entry)?,
                RoleKind::Component => measure_again_in(package.as_ref(), entry)?,
                RoleKind::Profile if pinned.shape == Shape::Upstream => {}
                RoleKind::Profile | RoleKind::Abi => {
                    if let Some(it) = fresh.iter().find(|it| it.role == entry.role) {
                        entry.identity.clone_from(&it.identity);
                    }
                }
            }
        }
        Ok(found)
    }

    fn measure_again(&self, entry: &mut RoleEntry) -> Result<(), Failure> {
        let role = entry.role;
        let RolePin::Executable {
            byte_length,
            source,
        } = &mut entry.pin
        else {
            return Ok(());
        };
        let program = match &entry.locator {
            _ if role == Role::Runner => measure_own_image(),
            RoleLocator::Tool(locator) => measure(Place {
                root: self.root,
                locator,
            }),
            RoleLocator::Package(_) | RoleLocator::Embedded(_) => return Ok(()),
        }
        .map_err(|error| missing(role, &error.message))?;
        *byte_length = program.byte_length;
        entry.identity = program.identity;
        if let Some(source) = source {
            let (revision, tree) = measure_source(self.root, &source.worktree, &source.paths)
                .map_err(|error| missing(role, &error.to_string()))?;
            (source.revision, source.tree) = (revision, tree);
        }
        Ok(())
    }

    fn runner(&self) -> Result<RoleEntry, Failure> {
        let program = measure_own_image().map_err(|error| missing(Role::Runner, &error.message))?;
        let path = own_path()?;
        self.executable(Role::Runner, self.locator(&path)?, &program)
    }

    fn executable(
        &self,
        role: Role,
        locator: ToolLocator,
        program: &Program,
    ) -> Result<RoleEntry, Failure> {
        Ok(RoleEntry {
            role,
            identity: program.identity.clone(),
            locator: RoleLocator::Tool(locator),
            pin: RolePin::Executable {
                byte_length: program.byte_length,
                source: self.source(role)?,
            },
        })
    }

    /// The checkout that `--source ROLE=DIR:PATH` names for a role; its pins are what it holds now.
    fn source(&self, role: Role) -> Result<Option<GitSource>, Failure> {
        let mut worktree: Option<PathBuf> = None;
        let mut paths = Vec::new();
        for argument in &self.arguments.source {
            let (named, directory, path) = split_source(argument)?;
            if named != role {
                continue;
            }
            if worktree.as_ref().is_some_and(|it| *it != directory) {
                return Err(refused(&format!("role {} has two work trees", role.name())));
            }
            worktree = Some(directory);
            paths.push(path);
        }
        let Some(directory) = worktree else {
            return Ok(None);
        };
        let worktree = self.locator(&directory)?;
        let (revision, tree) =
            measure_clean_source(self.root, &worktree, &paths).map_err(|error| {
                let mut failure = missing(role, &error.to_string());
                if matches!(
                    error,
                    MeasureError::Dirty(_) | MeasureError::Tree(TreeError::Special { .. })
                ) {
                    failure.kind = FailureKind::SourceTreeDirty;
                }
                failure
            })?;
        Ok(Some(GitSource {
            revision,
            tree,
            worktree,
            paths,
        }))
    }

    /// Scope `suite` below the directory of the lock, otherwise an absolute place outside (C8).
    fn locator(&self, path: &Path) -> Result<ToolLocator, Failure> {
        let absolute = |path: &Path| {
            std::path::absolute(path)
                .map_err(|error| refused(&format!("`{}`: {error}", path.display())))
        };
        let (path, directory) = (absolute(path)?, absolute(self.root.path())?);
        if let Some(inside) = path.strip_prefix(&directory).ok().and_then(Path::to_str)
            && let Ok(locator) = Locator::parse(inside)
        {
            return Ok(ToolLocator::Suite(locator));
        }
        match path.to_str() {
            Some(text) => Ok(ToolLocator::Outside(text.to_owned())),
            None => Err(refused(&format!(
                "`{}` is not UTF-8; a lock is text",
                path.display()
            ))),
        }
    }
}

/// Measures a component of a provider package again.
fn measure_again_in(package: Option<&Tree>, entry: &mut RoleEntry) -> Result<(), Failure> {
    let (RolePin::Component { byte_length, .. }, RoleLocator::Package(path)) =
        (&mut entry.pin, &entry.locator)
    else {
        return Ok(());
    };
    let found = package.and_then(|tree| measure_component(tree, path.as_str()));
    let (identity, length) = found.ok_or_else(|| {
        let reason = format!("the provider package has no file `{path}`");
        missing(entry.role, &reason)
    })?;
    (entry.identity, *byte_length) = (identity, length);
    Ok(())
}

/// Profiles and ABIs, which are stated by the programs themselves.
fn embedded() -> Vec<RoleEntry> {
    let (coordinate, digest) = BUNDLED_TARGET;
    let target = hex::decode_32(digest).unwrap_or_default();
    let interpreter = encode(&Value::Array(vec![Value::text(BUNDLED_INTERPRETER)]));
    let mut entries = vec![
        RoleEntry {
            role: Role::TargetProfile,
            identity: TypedDigest::new(TARGET_PROFILE, Algorithm::Sha256, target),
            locator: RoleLocator::Embedded(Pinned::Compiler),
            pin: RolePin::Profile {
                coordinate: coordinate.to_owned(),
            },
        },
        RoleEntry {
            role: Role::InterpreterProfile,
            identity: derive_typed(INTERPRETER_PROFILE, &interpreter),
            locator: RoleLocator::Embedded(Pinned::Host),
            pin: RolePin::Profile {
                coordinate: BUNDLED_INTERPRETER.to_owned(),
            },
        },
    ];
    entries.extend(DOCUMENTS.iter().map(|document| RoleEntry {
        role: document.role,
        identity: document.identity(),
        locator: RoleLocator::Embedded(Pinned::Runner),
        pin: RolePin::Abi {
            coordinate: document.coordinate.to_owned(),
        },
    }));
    entries
}

fn split_source(argument: &OsString) -> Result<(Role, PathBuf, Locator), Failure> {
    let wrong = || refused("--source has the form ROLE=DIR:PATH, for example host=.:src");
    let text = argument.to_str().ok_or_else(wrong)?;
    let (role, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (directory, path) = rest.rsplit_once(':').ok_or_else(wrong)?;
    let role = Role::from_name(role).ok_or_else(wrong)?;
    Ok((
        role,
        PathBuf::from(directory),
        Locator::parse(path).map_err(|_| wrong())?,
    ))
}

fn directory_of(place: &Path) -> Result<SuiteRoot, Failure> {
    let directory = match place.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new(OsStr::from_bytes(b".")),
    };
    SuiteRoot::open(directory).map_err(|error| refused(&error.message))
}

/// The named program, or the one beside this one.
fn beside(given: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    match given {
        Some(path) => Ok(path.to_path_buf()),
        None => Ok(own_path()?.with_file_name(name)),
    }
}

fn own_path() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| refused(&format!("find this program: {error}")))
}

fn missing(role: Role, reason: &str) -> Failure {
    Failure::new(Stage::Toolchain, FailureKind::ToolMissing, reason).of_role(role)
}

fn refused(message: &str) -> Failure {
    Failure::new(Stage::Arguments, FailureKind::UsageError, message)
}
