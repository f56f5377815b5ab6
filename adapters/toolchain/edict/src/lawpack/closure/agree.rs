// SPDX-License-Identifier: Apache-2.0
//! Agreement between lawpacks, and between lawpacks and the source that imports them.

use super::Entry;
use crate::{
    diagnostic::Span,
    failure::{Failure, Place, Report},
    lawpack::{assemble::Lawpack, target},
    output::digest_text,
    syntax::ast::{Ast, ClauseKind, Declaration, Import, ImportKind, Path},
};
use std::collections::BTreeSet;

/// Kind of every disagreement with the source.
const KIND: &str = "InvalidApplicationClosure";

/// No lawpack stands twice, and none in two versions.
pub(super) fn one_version(entries: &[Entry<'_>], kind: &'static str) -> Result<(), Box<Failure>> {
    let mut seen = BTreeSet::new();
    for entry in entries {
        let id = &entry.manifest.id;
        if !seen.insert(id) {
            let message = format!("lawpack `{id}` stands twice in the closure");
            return Err(Failure::cli(kind, message));
        }
    }
    Ok(())
}

/// Every dependency is there, with the manifest that its dependent states.
pub(super) fn dependencies(entries: &[Entry<'_>], kind: &'static str) -> Result<(), Box<Failure>> {
    for entry in entries {
        let dependent = entry.coordinate();
        for dependency in &entry.manifest.dependencies {
            let wanted = &dependency.coordinate;
            let found = entries.iter().find(|other| other.coordinate() == *wanted);
            let Some(found) = found else {
                let message = format!("`{dependent}` depends on `{wanted}`, which is not listed");
                return Err(Failure::cli(kind, message));
            };
            if found.digest != dependency.manifest {
                let message = format!(
                    "`{dependent}` depends on another manifest of `{wanted}`: it states {}, the \
                     listed one has {}",
                    digest_text(&dependency.manifest),
                    digest_text(&found.digest)
                );
                return Err(Failure::cli(kind, message));
            }
        }
    }
    Ok(())
}

/// The source and the lawpacks that are listed for it.
pub(super) struct Imports<'a> {
    pub(super) file: &'a str,
    pub(super) ast: &'a Ast,
    pub(super) entries: &'a [Entry<'a>],
}

impl Imports<'_> {
    /// The digests of imports are those of the entries, and every entry is needed.
    pub(super) fn check_entries(&self) -> Result<(), Box<Failure>> {
        one_version(self.entries, KIND)?;
        for import in self.imports(ImportKind::Lawpack) {
            let coordinate = &import.package.coordinate;
            let (Some((digest, span)), Some(entry)) = (import.digest, self.entry(coordinate))
            else {
                continue;
            };
            if digest != entry.digest {
                let found = digest_text(&entry.digest);
                let path = entry.files.manifest;
                let message = format!("`{path}` is another `{coordinate}`: expected {found}");
                return Err(self.at(span, message, &found));
            }
        }
        dependencies(self.entries, KIND)?;
        self.check_needed()
    }

    fn check_needed(&self) -> Result<(), Box<Failure>> {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut pending: Vec<String> = self
            .imports(ImportKind::Lawpack)
            .map(|import| import.package.coordinate.clone())
            .collect();
        while let Some(coordinate) = pending.pop() {
            let Some(entry) = self.entry(&coordinate) else {
                continue;
            };
            if needed.insert(coordinate) {
                let dependencies = entry.manifest.dependencies.iter();
                pending.extend(dependencies.map(|it| it.coordinate.clone()));
            }
        }
        for entry in self.entries {
            let coordinate = entry.coordinate();
            if !needed.contains(&coordinate) {
                let message = format!("`{coordinate}` is listed, but nothing imports it");
                return Err(Failure::cli(KIND, message));
            }
        }
        Ok(())
    }

    /// All adapters accept one target profile, which is that of `use target`.
    pub(super) fn check_target(&self, lawpacks: &[Lawpack]) -> Result<(), Box<Failure>> {
        let mut accepted: Option<[u8; 32]> = None;
        for lawpack in lawpacks {
            let Some(profile) = lawpack.profile else {
                continue;
            };
            if accepted.is_some_and(|before| before != profile) {
                let coordinate = &lawpack.context.coordinate;
                let message = format!("`{coordinate}` accepts another target profile");
                return Err(Failure::cli(KIND, message));
            }
            accepted = Some(profile);
        }
        let accepted = accepted.unwrap_or_else(target::profile_digest);
        for import in self.imports(ImportKind::Target) {
            let coordinate = &import.package.coordinate;
            if coordinate != target::PROFILE {
                let message = format!("the target is `{}`", target::PROFILE);
                return Err(self.at(import.package.span, message, target::PROFILE));
            }
            if let Some((digest, span)) = import.digest
                && digest != accepted
            {
                let found = digest_text(&accepted);
                let message = format!("the lawpacks accept another `{coordinate}`: {found}");
                return Err(self.at(span, message, &found));
            }
        }
        Ok(())
    }

    /// The first entry is the lawpack of the profile, and every effect that it allows can be
    /// lowered.
    pub(super) fn check_profile(&self, lawpacks: &[Lawpack]) -> Result<(), Box<Failure>> {
        for (path, lawpack, name) in self.profiles() {
            let Some(first) = lawpacks.first().map(|first| &first.context) else {
                continue;
            };
            if self.entry(lawpack).is_none() {
                continue;
            }
            if first.coordinate != lawpack {
                let first = &first.coordinate;
                let message = format!("the first lawpack of the application is `{first}`");
                let help = format!("list `{lawpack}` first");
                return Err(self.at(path.span, message, &help));
            }
            let effects = first.profiles.get(name).map(|profile| &profile.effects);
            for effect in effects.into_iter().flatten() {
                let unsupported = lawpacks.first().and_then(|it| it.unsupported.get(effect));
                if let Some((rule, reason)) = unsupported {
                    let message = format!("{}: {reason}", rule.name());
                    return Err(Failure::cli("InvalidLawpackAdapter", message));
                }
            }
        }
        Ok(())
    }

    /// Profile clauses that name an imported lawpack: the path, the lawpack and the profile.
    fn profiles(&self) -> impl Iterator<Item = (&Path, &str, &str)> {
        let intents = self.ast.declarations.iter().filter_map(|it| match it {
            Declaration::Intent(intent) => Some(intent),
            Declaration::Type(_) | Declaration::Function(_) => None,
        });
        let clauses = intents.flat_map(|intent| &intent.clauses);
        let paths = clauses.filter_map(|clause| match &clause.kind {
            ClauseKind::Profile(path) => Some(path),
            ClauseKind::Basis(_) | ClauseKind::Budget(_) | ClauseKind::Where(_) => None,
        });
        paths.filter_map(|path| {
            let (alias, name) = path.qualified()?;
            let import = self
                .imports(ImportKind::Lawpack)
                .find(|import| import.alias.text == alias)?;
            Some((path, import.package.coordinate.as_str(), name))
        })
    }

    fn imports(&self, kind: ImportKind) -> impl Iterator<Item = &Import> {
        self.ast.imports.iter().filter(move |it| it.kind == kind)
    }

    fn entry(&self, coordinate: &str) -> Option<&Entry<'_>> {
        self.entries.iter().find(|it| it.coordinate() == coordinate)
    }

    fn at(&self, span: Span, message: String, help: &str) -> Box<Failure> {
        let offset = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
        let span = edict_codec::json::Span {
            start: offset(span.start),
            end: offset(span.end),
        };
        let place = Place::new(self.file, span, &self.ast.lines);
        let report = Report::cli(KIND, message).at(place).help(help);
        Box::new(Failure::from(report))
    }
}
