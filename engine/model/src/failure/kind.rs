// SPDX-License-Identifier: Apache-2.0
//! Every failure kind there is (section 4), with its stable name.

use edict_codec::json::JsonErrorKind;

macro_rules! kinds {
    ($($name:ident)*) => {
        /// The stable kind of an outcome. Its name is the spelling in TAP, reports and diagnostics;
        /// which stages it may stand in, and what it means there, says [`super::rule`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FailureKind {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                $name,
            )*
        }

        impl FailureKind {
            /// All kinds in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stable name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}

kinds! {
    // arguments
    UsageError ReportExists ReportPathUnusable StateUnusable
    // the strict reader
    EmptyDocument ByteOrderMark InvalidUtf8 ControlCharacter InvalidEscape LoneSurrogate
    UnexpectedEnd DuplicateKey NumberForm NumberRange JsonSyntax NestingTooDeep TrailingData
    // typed documents
    MissingField WrongType UnsupportedSchema UnknownField InvalidIdentifier InvalidPath PathEscape
    LimitNotPositive LimitAboveCeiling TooManyCases DuplicateCaseId StringTooLong
    TooManySetupOperations UnknownVariant EmptyString UnsupportedValue InvalidCoordinate
    UnsupportedAlgorithm DomainMismatch InvalidDigest InvalidRevision LocatorScopeNotAllowed
    ValueOutOfRange RoleKindMismatch VerifierNotIndependent
    // manifest, lock
    ManifestUnreadable ManifestTooLarge LockUnreadable LockTooLarge
    // snapshot
    InputMissing InputUnreadable SymlinkRejected NotARegularFile InputChanged FixtureBytesExceeded
    ClosureTooLarge ApplicationInvalid PlatformUnsupported
    // toolchain
    ToolMissing ToolMismatch ToolNotExecutable ToolBytesExceeded ProviderPackageMismatch
    ProviderManifestMismatch SourceRevisionMismatch SourceTreeDirty SourceTreeTooLarge AbiMismatch
    ProfileUnsupported ProfileMismatch EvidenceVersionUnsupported LockDisagreesWithApplication
    IsolationUnavailable
    // plan
    NoExecutableCases
    // build
    CompilerRefused CompilerFailed CompilerProtocol CompilerCrashed CompilerSpawnFailed
    BuildTimeout BuildOutputMissing BuildOutputUnexpected ArtifactInvalid
    // verify
    VerifierRejected VerifierFailed VerifierProtocol VerifierCrashed VerifierSpawnFailed
    VerifyTimeout VerificationReportMissing VerificationReportInvalid VerificationReportMismatch
    CoreMismatch TargetIrMismatch ClosureMismatch ProjectionMismatch PackageMismatch
    // admission
    InputRefused ExpectedPayloadInvalid InstallRefused InvocationRefused ContextRefused
    // setup
    SetupObstructed SetupBuildRefused
    // host
    HostSpawnFailed HandshakeFailed HostLost HostProtocol FrameMalformed FrameTruncated
    FrameTooLarge HostFault
    // execute
    WallTimeout OutcomeMissing OutcomeDuplicate OutcomeUnknown OutcomeLate OutcomeReordered
    // evidence
    EvidenceMissing EvidenceMalformed ForeignContext ReplayedContext ForeignInvocation
    SubjectMismatch InputMismatch BasisMismatch BudgetMismatch ResultBindingMismatch
    SemanticDigestMismatch HostBuildMismatch FootprintMismatch SettlementMismatch
    EvaluatorDisagreement
    // result
    InvalidCaseResult CaseResultTooLarge
    // compare
    Passed AssertionFailed UnexpectedSuccess UnexpectedObstruction ObstructionCoordinateMismatch
    ObstructionPayloadMismatch Skipped
    // report
    ReportTooLarge ReportWriteFailed JournalWriteFailed ArtifactBytesExceeded ArtifactWriteFailed
    ArtifactBodyMismatch
    // output, cleanup, interrupt, internal
    StdoutClosed StdoutWriteFailed CleanupIncomplete Interrupted InternalError
}

impl FailureKind {
    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The kind of a rejection by the strict reader. `TooLarge` is named after the document, which
    /// `too_large` says (S1).
    pub const fn of_json(kind: JsonErrorKind, too_large: Self) -> Self {
        match kind {
            JsonErrorKind::TooLarge => too_large,
            JsonErrorKind::EmptyDocument => Self::EmptyDocument,
            JsonErrorKind::ByteOrderMark => Self::ByteOrderMark,
            JsonErrorKind::InvalidUtf8 => Self::InvalidUtf8,
            JsonErrorKind::ControlCharacter => Self::ControlCharacter,
            JsonErrorKind::InvalidEscape => Self::InvalidEscape,
            JsonErrorKind::LoneSurrogate => Self::LoneSurrogate,
            JsonErrorKind::UnexpectedEnd => Self::UnexpectedEnd,
            JsonErrorKind::DuplicateKey => Self::DuplicateKey,
            JsonErrorKind::NumberForm => Self::NumberForm,
            JsonErrorKind::NumberRange => Self::NumberRange,
            JsonErrorKind::JsonSyntax => Self::JsonSyntax,
            JsonErrorKind::NestingTooDeep => Self::NestingTooDeep,
            JsonErrorKind::TrailingData => Self::TrailingData,
        }
    }
}
