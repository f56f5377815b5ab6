// SPDX-License-Identifier: Apache-2.0
//! The documents of a suite: where a failure stands in them, and by which paths people know them.

use edict_codec::json::{JsonLimits, Node, parse};
use edict_test_model::{Failure, FailureKind, FileSpan, Stage};
use std::{cell::OnceCell, sync::Arc};

/// Greatest size of a manifest and of a lock in bytes.
const MAX_DOCUMENT: usize = 1 << 20;

/// Manifest and lock of a suite, as far as they were read.
#[derive(Debug, Default)]
pub struct Documents {
    path: Option<String>,
    manifest: Option<Document>,
    lock: Option<Document>,
}

#[derive(Debug)]
struct Document {
    bytes: Arc<[u8]>,
    tree: OnceCell<Option<Node>>,
}

impl Document {
    fn new(bytes: Arc<[u8]>) -> Self {
        Self {
            bytes,
            tree: OnceCell::new(),
        }
    }

    /// Read only when something failed.
    fn tree(&self) -> Option<&Node> {
        let read = || parse(&self.bytes, JsonLimits::document(MAX_DOCUMENT)).ok();
        self.tree.get_or_init(read).as_ref()
    }

    /// The member behind a JSON Pointer as a place in the file that records call `name`.
    fn place(&self, name: &str, pointer: &str) -> Option<FileSpan> {
        Some(FileSpan {
            file: name.to_owned(),
            span: self.tree()?.at(pointer)?.span,
            text: Some(Arc::clone(&self.bytes)),
        })
    }
}

impl Documents {
    /// The path by which people know the manifest.
    pub fn suite(&mut self, path: String) {
        self.path = Some(path);
    }

    /// The manifest was read.
    pub fn manifest(&mut self, bytes: Arc<[u8]>) {
        self.manifest = Some(Document::new(bytes));
    }

    /// The lock was read.
    pub fn lock(&mut self, bytes: Arc<[u8]>) {
        self.lock = Some(Document::new(bytes));
    }

    /// The failure with the member that it is about, where it has no place of its own.
    pub(super) fn place(&self, failure: &Failure) -> Failure {
        let mut placed = failure.clone();
        if placed.span.is_some() {
            return placed;
        }
        let (name, document, pointer) = match (pinned(failure), self.declared(failure)) {
            (Some(pointer), _) => ("lock", &self.lock, pointer),
            (None, Some(pointer)) => ("suite", &self.manifest, pointer),
            (None, None) => return placed,
        };
        let found = document.as_ref().and_then(|it| it.place(name, &pointer));
        if found.is_some() {
            (placed.span, placed.pointer) = (found, Some(pointer));
        }
        placed
    }

    /// The member of the manifest that a failure is about.
    fn declared(&self, failure: &Failure) -> Option<String> {
        match (failure.stage, failure.kind) {
            (Stage::Lock, FailureKind::LockUnreadable) => {
                return Some("/toolchainLock".to_owned());
            }
            (Stage::Snapshot, _) if failure.pointer.is_some() => return failure.pointer.clone(),
            _ => {}
        }
        let member = match failure.kind {
            FailureKind::InputRefused => "/input",
            FailureKind::SetupObstructed => "",
            FailureKind::ExpectedPayloadInvalid | FailureKind::ObstructionPayloadMismatch => {
                "/expect/payload"
            }
            FailureKind::ObstructionCoordinateMismatch => "/expect/coordinate",
            FailureKind::UnexpectedSuccess | FailureKind::UnexpectedObstruction => "/expect",
            _ => return None,
        };
        Some(format!("{}{member}", self.entry(failure)?))
    }

    /// Pointer of the case, or of the setup entry, that a failure names.
    fn entry(&self, failure: &Failure) -> Option<String> {
        let case = failure.case.as_ref()?.as_str();
        let cases = self.manifest.as_ref()?.tree()?.at("/cases")?.as_array()?;
        let index = cases
            .iter()
            .position(|it| it.get("id").and_then(Node::as_text) == Some(case))?;
        Some(match failure.setup_index {
            Some(setup) => format!("/cases/{index}/setup/{setup}"),
            None => format!("/cases/{index}"),
        })
    }

    /// The text of a member of the manifest.
    fn text(&self, pointer: &str) -> Option<&str> {
        self.manifest.as_ref()?.tree()?.at(pointer)?.as_text()
    }

    /// The path by which people know a file that records name.
    pub(super) fn path(&self, file: &str) -> String {
        let Some(manifest) = &self.path else {
            return file.to_owned();
        };
        match file {
            "suite" => manifest.clone(),
            "lock" => self
                .text("/toolchainLock")
                .map_or_else(|| file.to_owned(), |it| beside(manifest, it)),
            _ => beside(manifest, file),
        }
    }

    /// The same for a source, which the compiler names from its application document.
    pub(super) fn source_path(&self, failure: &Failure, file: &str) -> String {
        let entry = self.entry(failure);
        match entry.and_then(|it| self.text(&format!("{it}/application"))) {
            Some(application) => beside(&self.path(application), file),
            None => file.to_owned(),
        }
    }
}

/// The member of the lock that a failure is about.
fn pinned(failure: &Failure) -> Option<String> {
    if failure.stage != Stage::Toolchain
        || failure.kind == FailureKind::LockDisagreesWithApplication
    {
        return None;
    }
    match (failure.role, failure.kind) {
        (Some(role), _) => Some(format!("/roles/{}", role.name())),
        (None, FailureKind::ProviderPackageMismatch) => Some("/providerPackage".to_owned()),
        _ => None,
    }
}

/// `file` in the directory of the file at `path`.
fn beside(path: &str, file: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/{file}"),
        None => file.to_owned(),
    }
}
