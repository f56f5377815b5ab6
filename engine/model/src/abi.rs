// SPDX-License-Identifier: Apache-2.0
//! The ABI documents embedded in the runner (S16).
