// SPDX-License-Identifier: Apache-2.0
//! Any bytes as something a compiler, a verifier or a host wrote: no panic.
#![no_main]

use edict_test_model::{
    evidence::{
        ExecutionRecord, HostHello, InvokeRequest, Opening, Receipt, decode_footprint, decode_patch,
    },
    package::{ProgramPackage, VerificationReport},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = ProgramPackage::decode(bytes);
    let _ = VerificationReport::decode(bytes);
    let _ = ExecutionRecord::decode(bytes);
    let _ = Receipt::decode(bytes);
    let _ = HostHello::decode(bytes);
    let _ = Opening::decode(bytes);
    let _ = InvokeRequest::decode(bytes);
    let _ = decode_patch(bytes);
    let _ = decode_footprint(bytes);
});
