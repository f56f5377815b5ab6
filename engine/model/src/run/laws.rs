// SPDX-License-Identifier: Apache-2.0
//! The laws of a report (M3).
