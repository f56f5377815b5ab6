// SPDX-License-Identifier: Apache-2.0
//! The tests of the codec, one binary.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod cbor;
#[cfg(test)]
mod digests;
#[cfg(test)]
mod json;
#[cfg(test)]
mod read;
#[cfg(test)]
mod support;
