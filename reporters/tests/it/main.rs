// SPDX-License-Identifier: Apache-2.0
//! Tests of the reporters.

#[cfg(test)]
mod diagnostics;
#[cfg(test)]
mod export;
#[cfg(test)]
mod label;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod places;
#[cfg(test)]
mod tap;
#[cfg(test)]
mod why_text;
