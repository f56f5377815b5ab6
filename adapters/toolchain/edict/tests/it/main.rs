// SPDX-License-Identifier: Apache-2.0
//! Tests of the compiler through its library.

mod language;
mod support;
