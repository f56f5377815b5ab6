// SPDX-License-Identifier: Apache-2.0
//! What decides a verification: the verifier and the artifacts it is shown (D4).

use super::{Recipe, RecipeVisitor, Scalar};
use crate::{
    built::{ArtifactRole, Built},
    recipe::key::VERIFY,
};
use edict_codec::digest::TypedDigest;

/// One artifact by identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactPin {
    /// Its role.
    pub role: ArtifactRole,
    /// Its identity.
    pub identity: TypedDigest,
}

/// Everything that decides one verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyRecipe {
    /// Identity of the verifier.
    pub verifier: TypedDigest,
    /// Identity of the report ABI.
    pub verification_report_abi: TypedDigest,
    /// Identity of the codec ABI.
    pub codec_abi: TypedDigest,
    /// The artifacts in the order of D4.
    pub artifacts: Vec<ArtifactPin>,
}

impl VerifyRecipe {
    /// The recipe for verifying `built`.
    pub fn of(
        built: &Built,
        verifier: &TypedDigest,
        verification_report_abi: &TypedDigest,
        codec_abi: &TypedDigest,
    ) -> Self {
        let pin = |artifact: &crate::built::Artifact| ArtifactPin {
            role: artifact.role,
            identity: artifact.identity.clone(),
        };
        Self {
            verifier: verifier.clone(),
            verification_report_abi: verification_report_abi.clone(),
            codec_abi: codec_abi.clone(),
            artifacts: built.artifacts().into_iter().map(pin).collect(),
        }
    }
}

impl Recipe for VerifyRecipe {
    fn context(&self) -> &'static str {
        VERIFY
    }

    fn visit(&self, visitor: &mut dyn RecipeVisitor) {
        visitor.scalar("adapter", Scalar::Text("edict.test.verify-adapter/v1"));
        visitor.leaf("toolchain.verifier", &self.verifier, None);
        visitor.leaf(
            "toolchain.verificationReportAbi",
            &self.verification_report_abi,
            None,
        );
        visitor.leaf("toolchain.codecAbi", &self.codec_abi, None);
        visitor.list(&mut |visitor| {
            for (position, artifact) in self.artifacts.iter().enumerate() {
                let role = artifact.role.name();
                let before = self.artifacts.iter().take(position);
                let index = before.filter(|other| other.role == artifact.role).count();
                visitor.list(&mut |visitor| {
                    visitor.constant(role);
                    let label = format!("artifact.{role}[{index}]");
                    visitor.leaf(&label, &artifact.identity, None);
                });
            }
        });
    }
}
