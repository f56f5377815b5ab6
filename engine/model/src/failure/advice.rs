// SPDX-License-Identifier: Apache-2.0
//! What a person can do about each kind of failure.

use super::FailureKind;

impl FailureKind {
    /// One clause that says what to do; empty where the record itself says it, or nothing can be
    /// done. Not an interface: diagnostics for people and `docs/failures.md` show it.
    #[expect(clippy::too_many_lines, reason = "one arm for each group of kinds")]
    pub const fn advice(self) -> &'static str {
        use FailureKind as K;
        match self {
            K::Passed
            | K::Skipped
            | K::AssertionFailed
            | K::CompilerRefused
            | K::SetupBuildRefused
            | K::Interrupted => "",
            K::UsageError => "`edict-test --help` shows every option",
            K::ReportExists | K::ReportPathUnusable => {
                "name another path, or add `--report-existing replace`"
            }
            K::StateUnusable => "name another `--state`, or add `--no-state`",
            K::EmptyDocument
            | K::ByteOrderMark
            | K::InvalidUtf8
            | K::ControlCharacter
            | K::InvalidEscape
            | K::LoneSurrogate
            | K::UnexpectedEnd
            | K::DuplicateKey
            | K::NumberForm
            | K::NumberRange
            | K::JsonSyntax
            | K::NestingTooDeep
            | K::TrailingData => {
                "write strict JSON: UTF-8, no member twice, integers only, nothing behind the value"
            }
            K::MissingField
            | K::WrongType
            | K::UnsupportedSchema
            | K::UnknownField
            | K::UnknownVariant
            | K::EmptyString
            | K::StringTooLong
            | K::UnsupportedValue
            | K::ValueOutOfRange => {
                "give the member the form that docs/suite.md or docs/lock.md states"
            }
            K::InvalidIdentifier | K::DuplicateCaseId | K::InvalidPath | K::InvalidCoordinate => {
                "give it a name of the right form that nothing else has"
            }
            K::LimitNotPositive
            | K::LimitAboveCeiling
            | K::TooManyCases
            | K::TooManySetupOperations
            | K::ManifestTooLarge
            | K::LockTooLarge
            | K::FixtureBytesExceeded
            | K::ClosureTooLarge => "stay within docs/limits.md, or split the suite",
            K::UnsupportedAlgorithm
            | K::DomainMismatch
            | K::InvalidDigest
            | K::InvalidRevision
            | K::LocatorScopeNotAllowed
            | K::RoleKindMismatch
            | K::VerifierNotIndependent => "let `edict-test lock` write the lock",
            K::PathEscape | K::SymlinkRejected | K::NotARegularFile => {
                "put a regular file below the directory of the suite"
            }
            K::LockUnreadable => "`edict-test lock --suite PATH` writes a lock",
            K::ManifestUnreadable | K::InputMissing | K::InputUnreadable => {
                "correct the path, or make the file readable"
            }
            K::InputChanged => "run again when nothing writes there",
            K::ApplicationInvalid => "correct the member of the application document",
            K::PlatformUnsupported => "use a kernel with `openat2`; there is no weaker way",
            K::ToolMissing | K::ToolMismatch | K::ToolNotExecutable | K::ToolBytesExceeded => {
                "`edict-test lock --check LOCK` shows what changed, `edict-test lock` pins it anew"
            }
            K::ProviderPackageMismatch | K::ProviderManifestMismatch => {
                "restore the provider package, or pin it anew"
            }
            K::SourceRevisionMismatch | K::SourceTreeDirty | K::SourceTreeTooLarge => {
                "commit and pin the work tree anew, or restore it"
            }
            K::AbiMismatch
            | K::ProfileUnsupported
            | K::ProfileMismatch
            | K::EvidenceVersionUnsupported
            | K::LockDisagreesWithApplication => {
                "use programs, profiles and application documents of one release"
            }
            K::IsolationUnavailable => "use another machine, or `--isolation best-effort`",
            K::NoExecutableCases => "add a case that declares no skip",
            K::CompilerFailed
            | K::CompilerProtocol
            | K::CompilerCrashed
            | K::CompilerSpawnFailed => "the compiler is at fault, not the case",
            K::BuildTimeout | K::VerifyTimeout | K::WallTimeout => {
                "raise `limits.wallTimeoutMs`, or make the program smaller"
            }
            K::BuildOutputMissing
            | K::BuildOutputUnexpected
            | K::ArtifactInvalid
            | K::VerifierRejected => "report a defect of the compiler",
            K::VerifierFailed
            | K::VerifierProtocol
            | K::VerifierCrashed
            | K::VerifierSpawnFailed
            | K::VerificationReportMissing
            | K::VerificationReportInvalid => "the verifier is at fault, not the case",
            K::VerificationReportMismatch
            | K::CoreMismatch
            | K::TargetIrMismatch
            | K::ClosureMismatch
            | K::ProjectionMismatch
            | K::PackageMismatch => {
                "build again with `--fresh-build --fresh-verify`; if it stays, report a defect"
            }
            K::InputRefused | K::ExpectedPayloadInvalid => {
                "`edict-test fixture encode` writes a fixture of the declared type"
            }
            K::InstallRefused | K::InvocationRefused | K::ContextRefused => {
                "the code of the host says what it does not admit"
            }
            K::SetupObstructed => "correct the setup operation or its input",
            K::HostSpawnFailed
            | K::HandshakeFailed
            | K::HostLost
            | K::HostProtocol
            | K::HostFault
            | K::FrameMalformed
            | K::FrameTruncated
            | K::FrameTooLarge => "the host is at fault, not the case",
            K::OutcomeMissing
            | K::OutcomeDuplicate
            | K::OutcomeUnknown
            | K::OutcomeLate
            | K::OutcomeReordered
            | K::EvidenceMissing
            | K::EvidenceMalformed
            | K::SemanticDigestMismatch
            | K::ForeignContext
            | K::ReplayedContext
            | K::ForeignInvocation
            | K::SubjectMismatch
            | K::InputMismatch
            | K::BasisMismatch
            | K::BudgetMismatch
            | K::ResultBindingMismatch
            | K::HostBuildMismatch
            | K::FootprintMismatch
            | K::SettlementMismatch => "report a defect of the host",
            K::EvaluatorDisagreement => "report a defect of the host or of the verifier",
            K::InvalidCaseResult | K::CaseResultTooLarge => {
                "return the record `status`, `assertions`, `message` of docs/suite.md"
            }
            K::UnexpectedSuccess
            | K::UnexpectedObstruction
            | K::ObstructionCoordinateMismatch
            | K::ObstructionPayloadMismatch => {
                "correct the program, or what the case expects; `edict-test fixture decode` shows payloads"
            }
            K::ReportTooLarge
            | K::ReportWriteFailed
            | K::JournalWriteFailed
            | K::ArtifactBytesExceeded
            | K::ArtifactWriteFailed => "give the report more room, or another path",
            K::ArtifactBodyMismatch => "use a fresh artifact directory",
            K::StdoutClosed | K::StdoutWriteFailed => "leave standard output open to a reader",
            K::CleanupIncomplete => "remove what the message names",
            K::InternalError => "report a defect of the runner",
        }
    }
}
