// SPDX-License-Identifier: Apache-2.0
//! Why a lawpack is refused: the part that is wrong, and the rule of adapters it breaks.

use crate::shape::ShapeError;

/// A part of a lawpack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The manifest.
    Manifest,
    /// The exports.
    Exports,
    /// The adapter.
    Adapter,
    /// The target configuration.
    Configuration,
}

impl Part {
    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Exports => "exports",
            Self::Adapter => "adapter",
            Self::Configuration => "target configuration",
        }
    }
}

/// A rule of adapters; the names are stable and begin the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterRule {
    /// The target profile or Target IR is not one that this compiler lowers to.
    UnsupportedTargetProfile,
    /// The intrinsic is none of the accepted profile.
    UnsupportedTargetIntrinsic,
    /// Failures and their mappings do not fit.
    FailureMappingMismatch,
    /// The configuration does not fit the effects.
    InvalidTargetConfiguration,
    /// The write class is not that of the intrinsic.
    WriteClassMismatch,
    /// Profiles, effects or budgets are missing or superfluous.
    IncompleteAdapter,
}

impl AdapterRule {
    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnsupportedTargetProfile => "UnsupportedTargetProfile",
            Self::UnsupportedTargetIntrinsic => "UnsupportedTargetIntrinsic",
            Self::FailureMappingMismatch => "FailureMappingMismatch",
            Self::InvalidTargetConfiguration => "InvalidTargetConfiguration",
            Self::WriteClassMismatch => "WriteClassMismatch",
            Self::IncompleteAdapter => "IncompleteAdapter",
        }
    }
}

/// A refused lawpack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawpackError {
    /// Where the path of `shape` starts.
    pub part: Part,
    /// The broken rule; `None` for a value that is not of its form.
    pub rule: Option<AdapterRule>,
    /// What is wrong and where.
    pub shape: ShapeError,
}

impl LawpackError {
    /// A value that is not of its form.
    pub fn form(part: Part, shape: ShapeError) -> Box<Self> {
        Box::new(Self {
            part,
            rule: None,
            shape,
        })
    }

    /// A configuration that does not fit the effects.
    pub fn configuration(shape: ShapeError) -> Box<Self> {
        let rule = AdapterRule::InvalidTargetConfiguration;
        Self::rule(Part::Configuration, rule, shape)
    }

    /// A broken rule of adapters.
    pub fn rule(part: Part, rule: AdapterRule, shape: ShapeError) -> Box<Self> {
        Box::new(Self {
            part,
            rule: Some(rule),
            shape,
        })
    }
}
