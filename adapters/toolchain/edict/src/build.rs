// SPDX-License-Identifier: Apache-2.0
//! Building an application: document, source, closure, Core, Target IR, projection, package.

mod assemble;

use crate::{
    application::{Application, LawpackPaths},
    core::extent,
    diagnostic::{Diagnostic, Finding, Kind, Span, Stage},
    document::MAX_BYTES,
    failure::{Failure, Report},
    lawpack::{
        closure::{Files, close},
        context::LawpackContext,
        target,
    },
    output::{Artifact, is_free, publish},
    paths,
    syntax::{
        self,
        ast::{Ast, Declaration, IntentDecl},
        semantic::check_semantic,
    },
    types::{compile_module, oversized},
};
use edict_codec::cbor::Value;
use std::path::Path;

/// Greatest size of a source in bytes; one more is read so that the parser can refuse it.
const MAX_SOURCE: u64 = 1_048_577;

/// What a build makes.
#[derive(Debug)]
pub struct Built {
    /// Coordinate of the operation.
    pub operation: String,
    /// The output directory as written in the document.
    pub output_directory: String,
    /// Core, Target IR, projection and package.
    pub artifacts: [Artifact; 4],
    /// Core, Target IR and projection as values.
    pub values: [Value; 3],
}

/// Compiles the application whose document stands at `document` and writes its artifacts.
///
/// # Errors
/// The kinds of `docs/contracts/compiler-process.md` that belong to applications.
pub fn build(document: &str) -> Result<Built, Box<Failure>> {
    let built = compile(document, None)?;
    let root = paths::directory_of(Path::new(document));
    write(&root, &built)?;
    Ok(built)
}

/// Compiles the application whose document stands at `document`; nothing is written. `unsaved`
/// is name and text of a source that stands for the file of the document.
///
/// # Errors
/// As [`build`], but for those about the output directory.
pub fn compile(document: &str, unsaved: Option<(String, Vec<u8>)>) -> Result<Built, Box<Failure>> {
    let limit = u64::try_from(MAX_BYTES)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let bytes =
        paths::read(Path::new(document), limit).map_err(|error| unreadable(document, &error))?;
    let application = Application::parse(document, &bytes)?;
    if application.target_profile != target::PROFILE {
        let message = format!(
            "target profile `{}` is not that of the bundled target, `{}`",
            application.target_profile,
            target::PROFILE
        );
        return Err(Failure::cli("InvalidApplicationConfig", message));
    }
    let root = paths::directory_of(Path::new(document));
    let (name, source) = if let Some(unsaved) = unsaved {
        unsaved
    } else {
        let bytes = paths::read_below(&root, &application.source, MAX_SOURCE).map_err(|error| {
            let kind = error.kind("ApplicationPathEscape", "ApplicationReadFailed");
            Failure::cli(kind, format!("read `{}`: {error}", application.source))
        })?;
        (application.source.clone(), bytes)
    };
    let ast = judge(&name, &source, &application)?;
    let files: Vec<Files<'_>> = application.lawpacks.iter().map(files).collect();
    if files.is_empty() {
        return Err(without_lawpacks(&name, &ast));
    }
    let closure = close(&root, &files, &name, &ast)?;
    let contexts: Vec<LawpackContext> = closure.iter().map(|it| it.context.clone()).collect();
    let refuse = |diagnostics: &[Diagnostic]| {
        Failure::source("ApplicationCompilationFailed", &name, diagnostics)
    };
    let compiled = compile_module(&ast, &contexts).map_err(|diagnostics| refuse(&diagnostics))?;
    let projection = |finding| refuse(&[ast.lines.diagnostic(Stage::Projection, finding)]);
    let declared = only_intent(&ast).map_err(|finding| projection(*finding))?;
    let intent = declared.name.text.as_str();
    let program = assemble::Program {
        source: &source,
        compiled: &compiled,
        closure: &closure,
        intent,
    };
    let (artifacts, values) = program.assemble().map_err(|error| {
        let finding = Finding::new(
            Kind::ResultProjectionUnavailable,
            declared.name.span,
            error.to_string(),
        );
        projection(finding.help("return fewer parts"))
    })?;
    if let Some(stage) = too_large(&artifacts) {
        let finding = oversized(&declared.name);
        return Err(refuse(&[ast.lines.diagnostic(stage, finding)]));
    }
    Ok(Built {
        operation: format!("{}.{intent}", compiled.module.coordinate),
        output_directory: application.output_directory,
        artifacts,
        values,
    })
}

/// The stage that makes the first artifact which no verifier reads, if there is one.
fn too_large(artifacts: &[Artifact; 4]) -> Option<Stage> {
    let is_large = |it: &Artifact| extent::length_of(&it.bytes) > extent::MAX_ARTIFACT;
    let [core, beside @ ..] = artifacts;
    if is_large(core) {
        return Some(Stage::LowerCore);
    }
    beside.iter().any(is_large).then_some(Stage::TargetLowering)
}

/// An application needs the lawpack of its profile; what else is wrong with the source is said too.
fn without_lawpacks(name: &str, ast: &Ast) -> Box<Failure> {
    let diagnostics = compile_module(ast, &[]).err().unwrap_or_default();
    let message = "the application lists no lawpack; the first one is that of the profile";
    Box::new(Failure {
        sources: diagnostics
            .iter()
            .map(|it| Report::source(name, it))
            .collect(),
        summary: Report::cli("InvalidApplicationClosure", message),
    })
}

fn unreadable(name: &str, error: &dyn std::error::Error) -> Box<Failure> {
    Failure::cli("ApplicationReadFailed", format!("read `{name}`: {error}"))
}

fn files(paths: &LawpackPaths) -> Files<'_> {
    let target = paths.target.as_ref();
    Files {
        manifest: &paths.manifest,
        exports: &paths.exports,
        target: target.map(|(left, right)| (left.as_str(), right.as_str())),
    }
}

/// Parses the source and applies the rules that need no lawpack.
fn judge(name: &str, source: &[u8], application: &Application) -> Result<Ast, Box<Failure>> {
    let refuse =
        |diagnostics: &[Diagnostic]| Failure::source("InvalidApplicationSource", name, diagnostics);
    let ast = syntax::parse(source).map_err(|diagnostic| refuse(&[diagnostic]))?;
    check_semantic(&ast).map_err(|diagnostics| refuse(&diagnostics))?;
    let package = &ast.package.coordinate;
    if *package != application.coordinate {
        let message = format!(
            "`{name}` is of package `{package}`, the document says `{}`",
            application.coordinate
        );
        let report = Report::cli("ApplicationCoordinateMismatch", message);
        return Err(Box::new(Failure::from(report)));
    }
    Ok(ast)
}

/// The one intent of an application.
fn only_intent(ast: &Ast) -> Result<&IntentDecl, Box<Finding>> {
    let mut intents = ast.declarations.iter().filter_map(|it| match it {
        Declaration::Intent(intent) => Some(intent),
        Declaration::Type(_) | Declaration::Function(_) => None,
    });
    let refuse = |span, message: &str, help: &str| {
        let finding = Finding::new(Kind::ResultProjectionUnavailable, span, message);
        Err(Box::new(finding.help(help)))
    };
    match (intents.next(), intents.next()) {
        (Some(intent), None) => Ok(intent),
        (Some(_), Some(second)) => {
            let message = "an application has exactly one intent, this is the second";
            refuse(second.name.span, message, "split the module")
        }
        (None, _) => {
            let message = "an application has exactly one intent, this module has none";
            refuse(Span::new(0, 0), message, "declare an intent")
        }
    }
}

fn write(root: &Path, built: &Built) -> Result<(), Box<Failure>> {
    let directory = &built.output_directory;
    let failed = |reason: String| {
        let message = format!("write `{directory}`: {reason}");
        Failure::cli("ApplicationOutputWriteFailed", message)
    };
    let full = paths::below(root, directory).map_err(|error| {
        let message = format!("write `{directory}`: {error}");
        Failure::cli("ApplicationPathEscape", message)
    })?;
    if !is_free(&full).map_err(|error| failed(error.to_string()))? {
        return Err(failed(
            "it is not empty; remove it or choose another".to_owned(),
        ));
    }
    let files: Vec<(String, Vec<u8>)> = built
        .artifacts
        .iter()
        .map(|artifact| (artifact.name.clone(), artifact.bytes.clone()))
        .collect();
    publish(&full, &files).map_err(|error| failed(error.to_string()))
}
