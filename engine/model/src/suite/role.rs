// SPDX-License-Identifier: Apache-2.0
//! The eleven roles of a toolchain lock and the kinds of what they pin (section 1.5).

/// Who builds and verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// The reference programs: compiler, verifier and host are executables.
    Bundled,
    /// A provider package with components beside a foreign compiler.
    Upstream,
}

impl Shape {
    /// The name in lock and report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Upstream => "upstream",
        }
    }

    /// The shape of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "bundled" => Some(Self::Bundled),
            "upstream" => Some(Self::Upstream),
            _ => None,
        }
    }
}

/// What kind of thing a role pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleKind {
    /// A program file.
    Executable,
    /// A file of the provider package.
    Component,
    /// A target or interpreter profile.
    Profile,
    /// A document embedded in the runner.
    Abi,
}

impl RoleKind {
    /// The name in lock and report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Executable => "executable",
            Self::Component => "component",
            Self::Profile => "profile",
            Self::Abi => "abi",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Executable, Self::Component, Self::Profile, Self::Abi]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// A role of the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The running `edict-test`.
    Runner,
    /// The program with the public JSONL interface.
    Compiler,
    /// What lowers to the target.
    Lowerer,
    /// The independent verifier.
    Verifier,
    /// The runtime process.
    Host,
    /// The target profile.
    TargetProfile,
    /// The evaluator profile of the host.
    InterpreterProfile,
    /// The value codec.
    CodecAbi,
    /// The framed host transport.
    TransportAbi,
    /// The verifier's report.
    VerificationReportAbi,
    /// The machine report.
    RunReportAbi,
}

impl Role {
    /// All roles in the order of section 1.5.
    pub const ALL: [Self; 11] = [
        Self::Runner,
        Self::Compiler,
        Self::Lowerer,
        Self::Verifier,
        Self::Host,
        Self::TargetProfile,
        Self::InterpreterProfile,
        Self::CodecAbi,
        Self::TransportAbi,
        Self::VerificationReportAbi,
        Self::RunReportAbi,
    ];

    /// The member of `roles`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runner => "runner",
            Self::Compiler => "compiler",
            Self::Lowerer => "lowerer",
            Self::Verifier => "verifier",
            Self::Host => "host",
            Self::TargetProfile => "targetProfile",
            Self::InterpreterProfile => "interpreterProfile",
            Self::CodecAbi => "codecAbi",
            Self::TransportAbi => "transportAbi",
            Self::VerificationReportAbi => "verificationReportAbi",
            Self::RunReportAbi => "runReportAbi",
        }
    }

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The kind an entry of this role must have.
    pub const fn kind(self, shape: Shape) -> RoleKind {
        match (self, shape) {
            (Self::Lowerer | Self::Verifier, Shape::Upstream) => RoleKind::Component,
            (Self::Runner | Self::Compiler | Self::Lowerer | Self::Verifier | Self::Host, _) => {
                RoleKind::Executable
            }
            (Self::TargetProfile | Self::InterpreterProfile, _) => RoleKind::Profile,
            (
                Self::CodecAbi
                | Self::TransportAbi
                | Self::VerificationReportAbi
                | Self::RunReportAbi,
                _,
            ) => RoleKind::Abi,
        }
    }
}

/// The programs that embed profiles and ABIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pinned {
    /// The runner.
    Runner,
    /// The compiler.
    Compiler,
    /// The verifier.
    Verifier,
    /// The host.
    Host,
}

impl Pinned {
    /// The program of that name in an `embedded` locator.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "runner" => Some(Self::Runner),
            "compiler" => Some(Self::Compiler),
            "verifier" => Some(Self::Verifier),
            "host" => Some(Self::Host),
            _ => None,
        }
    }
}
