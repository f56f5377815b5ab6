// SPDX-License-Identifier: Apache-2.0
//! The runner as its users start it: real programs, whole streams, exit status and report.

#[cfg(test)]
mod consumers;
#[cfg(test)]
mod support;
