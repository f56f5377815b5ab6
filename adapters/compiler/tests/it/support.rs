// SPDX-License-Identifier: Apache-2.0
//! A compiler made of shell lines, and an application for it.

use edict_codec::{
    bounded::ByteLimit,
    cbor::{Value, encode},
    digest::derive_typed,
};
use edict_test_compiler::EdictCompiler;
use edict_test_model::{
    built::{Built, blob},
    failure::{Failure, FailureKind},
    ids::Locator,
    ports::{BuildRequest, Compiler as _, StagedFile, StagedLawpack, StopFlag},
    recipe::{ApplicationSubject, BuildRecipe},
    suite::Shape,
};
use edict_test_process::{Isolation, Staging, ToolDir};
use std::path::Path;

/// Makes a named test of each function.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(libtest_mimic::Trial::test(stringify!($name), || { $name(); Ok(()) })),*]
    };
}
pub(crate) use trials;

/// Shell lines that write the four artifacts and answer with success.
pub(crate) const GOOD: &str = "
mkdir output
for name in core target-ir result-projection executable-operation-package; do printf '\\200' > output/$name.cbor; done
echo '{\"schema\":\"edict.cli.build-result/v1\",\"type\":\"buildResult\"}'
echo '{\"command\":\"build\",\"event\":\"completed\",\"exitCode\":0,\"schema\":\"edict.cli.event/v1\",\"type\":\"event\"}'
";

pub(crate) const DOCUMENT: &str = r#"{"outputDirectory": "src", "schema": "edict.application/v1"}"#;

pub(crate) struct Space {
    root: tempfile::TempDir,
    tools: ToolDir,
    pub(crate) stop: StopFlag,
}

impl Space {
    pub(crate) fn new(script: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let program = format!("#!/bin/sh\n{script}\n");
        let tools = ToolDir::create(root.path(), [("edict", program.as_bytes())]).unwrap();
        Self {
            root,
            tools,
            stop: StopFlag::new(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn build(&self, request: &BuildRequest) -> Result<Built, Failure> {
        self.build_with(request, &[])
    }

    /// Builds with the files of a provider package.
    pub(crate) fn build_with(
        &self,
        request: &BuildRequest,
        provider: &[(&str, &[u8])],
    ) -> Result<Built, Failure> {
        let provider = provider.iter();
        let compiler = EdictCompiler {
            provider: provider
                .map(|(path, bytes)| ((*path).to_owned(), (*bytes).into()))
                .collect(),
            program: self.tools.program("edict"),
            staging: Staging::below(self.root.path()).into(),
            isolation: Isolation::BestEffort,
            stop: self.stop.clone(),
            notices: edict_test_model::ports::Notices::default(),
        };
        let built = compiler.build(request);
        drop(compiler);
        // Beside the tool directory nothing of a build may be left.
        assert_eq!(std::fs::read_dir(self.root.path()).unwrap().count(), 1);
        built
    }
}

/// How `script` fails to build the plain application.
pub(crate) fn failure(script: &str) -> Failure {
    Space::new(script).build(&request()).unwrap_err()
}

pub(crate) fn kind(script: &str) -> FailureKind {
    failure(script).kind
}

pub(crate) fn locator(path: &str) -> Locator {
    Locator::parse(path).unwrap()
}

pub(crate) fn file(path: &str, bytes: &[u8]) -> StagedFile {
    StagedFile {
        path: locator(path),
        bytes: bytes.into(),
    }
}

/// A lawpack manifest that names the coordinate of its exports.
pub(crate) fn manifest() -> Vec<u8> {
    let digest = Value::Array(vec![Value::text("sha256"), Value::bytes(vec![0; 32])]);
    let exports = Value::text_map([("id", Value::text("pack.exports/v1")), ("digest", digest)]);
    encode(&Value::text_map([("exports", exports)]))
}

pub(crate) fn request() -> BuildRequest {
    let digest = derive_typed("edict.test/executable/v1", b"tool");
    BuildRequest {
        recipe: BuildRecipe {
            shape: Shape::Bundled,
            application: ApplicationSubject {
                build_kind: "executableOperation".to_owned(),
                coordinate: "example.a@1".to_owned(),
                sources: Vec::new(),
                lawpacks: Vec::new(),
                resources: Vec::new(),
                target_profile: "echo.dpo@1".to_owned(),
            },
            compiler: digest.clone(),
            lowerer: digest.clone(),
            provider_package: None,
            target_profile: digest.clone(),
            interpreter_profile: digest.clone(),
            codec_abi: blob(b"abi"),
        },
        document: locator("edict.application.json"),
        source: locator("src/m.edict"),
        lawpacks: vec![StagedLawpack {
            manifest: locator("pack/manifest.cbor"),
            exports: locator("pack/exports.cbor"),
            adapter: None,
            target_configuration: None,
        }],
        provider_package: None,
        files: vec![
            file("edict.application.json", DOCUMENT.as_bytes()),
            file("src/m.edict", b"package example.a@1;\n"),
            file("pack/manifest.cbor", &manifest()),
            file("pack/exports.cbor", b"\xa0"),
        ],
        wall_timeout_ms: 30_000,
        artifact_bytes: ByteLimit::new(1_000_000),
    }
}
