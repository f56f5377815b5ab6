// SPDX-License-Identifier: Apache-2.0
//! The limits of section 8. Exactly the limit is accepted, one more is refused.

macro_rules! limits {
    ($($(#[$doc:meta])* $constant:ident $name:literal = $value:expr;)*) => {
        $($(#[$doc])* pub const $constant: u64 = $value;)*

        /// Every limit under its bare name, as `hello` reports them.
        pub const NAMED: &[(&str, u64)] = &[$(($name, $constant)),*];
    };
}

limits! {
    /// Bytes of a whole frame.
    MAX_FRAME_BYTES "maxFrameBytes" = 16_777_216;
    /// Body bytes of `hello`.
    MAX_HELLO_BYTES "maxHelloBytes" = 65_536;
    /// Body bytes of `install`.
    MAX_INSTALL_BYTES "maxInstallBytes" = 4_718_592;
    /// Body bytes of `invoke`.
    MAX_INVOKE_BYTES "maxInvokeBytes" = 8_454_144;
    /// Body bytes of `open-context`.
    MAX_OPEN_BYTES "maxOpenBytes" = 131_072;
    /// Body bytes of `observe`.
    MAX_OBSERVE_BYTES "maxObserveBytes" = 1_048_576;
    /// Body bytes of all other requests.
    MAX_CONTROL_BYTES "maxControlBytes" = 65_536;
    /// Bytes of a package.
    MAX_PACKAGE_BYTES "maxPackageBytes" = 4_194_304;
    /// Bytes of a report.
    MAX_REPORT_BYTES "maxReportBytes" = 262_144;
    /// Bytes of an input.
    MAX_INPUT_BYTES "maxInputBytes" = 8_388_608;
    /// Nesting of containers.
    MAX_CBOR_DEPTH "maxCborDepth" = 128;
    /// Items of a body, an input or a value.
    MAX_CBOR_NODES "maxCborNodes" = 65_536;
    /// Items of a package, a report or an embedded artifact.
    MAX_ARTIFACT_NODES "maxArtifactNodes" = 1_048_576;
    /// Unanswered requests.
    MAX_IN_FLIGHT "maxInFlight" = 64;
    /// Body bytes of unanswered requests.
    MAX_IN_FLIGHT_BYTES "maxInFlightBytes" = 33_554_432;
    /// Bytes on stderr.
    MAX_STDERR_BYTES "maxStderrBytes" = 65_536;
    /// Bytes of a footprint body.
    MAX_FOOTPRINT_BYTES "maxFootprintBytes" = 4_194_304;
    /// Steps of a budget.
    MAX_STEPS "maxSteps" = 1_000_000_000;
    /// Allocated bytes of a budget.
    MAX_ALLOCATED_BYTES "maxAllocatedBytes" = 268_435_456;
    /// Output bytes of a budget.
    MAX_OUTPUT_BYTES "maxOutputBytes" = 8_388_608;
    /// Bytes of an authored payload.
    MAX_PAYLOAD_BYTES "maxPayloadBytes" = 65_536;
    /// Nodes of a program.
    MAX_PROGRAM_NODES "maxProgramNodes" = 262_144;
    /// Nesting of a program.
    MAX_PROGRAM_DEPTH "maxProgramDepth" = 128;
    /// Functions a program reaches.
    MAX_FUNCTIONS "maxFunctions" = 16_384;
    /// Nesting of calls.
    MAX_CALL_DEPTH "maxCallDepth" = 128;
    /// Nesting of types.
    MAX_TYPE_DEPTH "maxTypeDepth" = 128;
    /// Bytes of an atom key.
    MAX_KEY_BYTES "maxKeyBytes" = 256;
    /// Bytes of a space.
    MAX_SPACE_BYTES "maxSpaceBytes" = 256;
    /// Bytes of an atom value.
    MAX_ATOM_VALUE_BYTES "maxAtomValueBytes" = 1_048_576;
    /// Entries of a patch.
    MAX_ATOMS_PER_PATCH "maxAtomsPerPatch" = 4_096;
    /// Bytes of a patch body.
    MAX_PATCH_BYTES "maxPatchBytes" = 8_388_608;
    /// Atoms of a context.
    MAX_ATOMS "maxAtoms" = 65_536;
    /// Sum of value lengths of a context.
    MAX_STATE_BYTES "maxStateBytes" = 67_108_864;
    /// Bytes of the log of a context.
    MAX_WAL_BYTES "maxWalBytes" = 268_435_456;
    /// Decided invocations of a context.
    MAX_INVOCATIONS "maxInvocations" = 65_536;
    /// Open contexts.
    MAX_CONTEXTS "maxContexts" = 64;
    /// Contexts opened in a process life.
    MAX_CONTEXTS_PER_PROCESS "maxContextsPerProcess" = 65_536;
    /// Sum of value lengths of all open contexts.
    MAX_TOTAL_STATE_BYTES "maxTotalStateBytes" = 268_435_456;
    /// Installations.
    MAX_INSTALLATIONS "maxInstallations" = 512;
    /// Package and report bytes of all installations.
    MAX_TOTAL_PACKAGE_BYTES "maxTotalPackageBytes" = 67_108_864;
}

/// Whether `length` is at most `limit`.
pub fn admits(limit: u64, length: usize) -> bool {
    u64::try_from(length).is_ok_and(|length| length <= limit)
}
