// SPDX-License-Identifier: Apache-2.0
//! Report, package, subject and source, held against one another.
