// SPDX-License-Identifier: Apache-2.0
//! What decides a build: an application's content and the pins that build it (D4).

use super::{Recipe, RecipeVisitor, Scalar};
use crate::{
    ids::Locator,
    recipe::key::{BUILD, key},
    suite::Shape,
};
use edict_codec::digest::TypedDigest;

/// Context of application identities.
pub const APPLICATION: &str = "edict.test/application/v1";

/// One file by content. Where it is now is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentFile {
    /// Blob digest of its bytes.
    pub blob: TypedDigest,
    /// Its place below the suite directory.
    pub locator: Locator,
}

/// The files of one lawpack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawpackFiles {
    /// The manifest.
    pub manifest: ContentFile,
    /// The exports.
    pub exports: ContentFile,
    /// The adapter.
    pub adapter: Option<ContentFile>,
    /// The target configuration.
    pub target_configuration: Option<ContentFile>,
}

/// What an application is: its document with content instead of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationSubject {
    /// `executableOperation`.
    pub build_kind: String,
    /// Coordinate of the package of the source.
    pub coordinate: String,
    /// The sources in order.
    pub sources: Vec<ContentFile>,
    /// The lawpacks in order.
    pub lawpacks: Vec<LawpackFiles>,
    /// External action resources; none in this product.
    pub resources: Vec<ContentFile>,
    /// Coordinate of the target profile.
    pub target_profile: String,
}

impl ApplicationSubject {
    /// Its identity.
    pub fn identity(&self) -> TypedDigest {
        key(self)
    }

    /// Shows the application where its identity stands in a preimage; `prefix` starts each label.
    pub fn visit_within(&self, prefix: &str, visitor: &mut dyn RecipeVisitor) {
        visitor.identity(APPLICATION, &mut |visitor| self.parts(prefix, visitor));
    }

    fn parts(&self, prefix: &str, visitor: &mut dyn RecipeVisitor) {
        let label = |part: &str| format!("{prefix}.{part}");
        visitor.constant("edict.application/v1");
        visitor.scalar(&label("buildKind"), Scalar::Text(&self.build_kind));
        visitor.scalar(&label("coordinate"), Scalar::Text(&self.coordinate));
        visitor.list(&mut |visitor| files(visitor, &label("source"), &self.sources));
        visitor.list(&mut |visitor| {
            for (index, lawpack) in self.lawpacks.iter().enumerate() {
                let label = label(&format!("lawpack[{index}]"));
                visitor.list(&mut |visitor| lawpack_files(visitor, &label, lawpack));
            }
        });
        visitor.list(&mut |visitor| files(visitor, &label("resource"), &self.resources));
        visitor.scalar(&label("targetProfile"), Scalar::Text(&self.target_profile));
    }
}

impl Recipe for ApplicationSubject {
    fn context(&self) -> &'static str {
        APPLICATION
    }

    fn visit(&self, visitor: &mut dyn RecipeVisitor) {
        self.parts("application", visitor);
    }
}

fn files(visitor: &mut dyn RecipeVisitor, label: &str, files: &[ContentFile]) {
    for (index, file) in files.iter().enumerate() {
        visitor.leaf(
            &format!("{label}[{index}]"),
            &file.blob,
            Some(&file.locator),
        );
    }
}

fn lawpack_files(visitor: &mut dyn RecipeVisitor, label: &str, lawpack: &LawpackFiles) {
    for (part, file) in [
        ("manifest", Some(&lawpack.manifest)),
        ("exports", Some(&lawpack.exports)),
        ("adapter", lawpack.adapter.as_ref()),
        ("targetConfiguration", lawpack.target_configuration.as_ref()),
    ] {
        let label = format!("{label}.{part}");
        match file {
            Some(file) => visitor.leaf(&label, &file.blob, Some(&file.locator)),
            None => visitor.scalar(&label, Scalar::Absent),
        }
    }
}

/// Everything that decides one build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRecipe {
    /// Shape of the lock.
    pub shape: Shape,
    /// The application.
    pub application: ApplicationSubject,
    /// Identity of the compiler.
    pub compiler: TypedDigest,
    /// Identity of the lowerer.
    pub lowerer: TypedDigest,
    /// Tree identity of the provider package, in shape `upstream`.
    pub provider_package: Option<TypedDigest>,
    /// Identity of the target profile.
    pub target_profile: TypedDigest,
    /// Identity of the interpreter profile.
    pub interpreter_profile: TypedDigest,
    /// Identity of the codec ABI.
    pub codec_abi: TypedDigest,
}

impl Recipe for BuildRecipe {
    fn context(&self) -> &'static str {
        BUILD
    }

    fn visit(&self, visitor: &mut dyn RecipeVisitor) {
        visitor.scalar("adapter", Scalar::Text("edict.test.build-adapter/v1"));
        visitor.scalar("shape", Scalar::Text(self.shape.name()));
        self.application.visit_within("application", visitor);
        visitor.leaf("toolchain.compiler", &self.compiler, None);
        visitor.leaf("toolchain.lowerer", &self.lowerer, None);
        match &self.provider_package {
            Some(tree) => visitor.leaf("toolchain.providerPackage", tree, None),
            None => visitor.scalar("toolchain.providerPackage", Scalar::Absent),
        }
        visitor.leaf("toolchain.targetProfile", &self.target_profile, None);
        visitor.leaf(
            "toolchain.interpreterProfile",
            &self.interpreter_profile,
            None,
        );
        visitor.leaf("toolchain.codecAbi", &self.codec_abi, None);
    }
}
