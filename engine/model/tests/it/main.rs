// SPDX-License-Identifier: Apache-2.0
//! The tests of the model, one binary.

#[cfg(test)]
mod abis;
#[cfg(test)]
mod case_results;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod evidence;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod golden_report;
#[cfg(test)]
mod golden_run;
#[cfg(test)]
mod host_vectors;
#[cfg(test)]
mod identities;
#[cfg(test)]
mod judging;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod proofs;
#[cfg(test)]
mod reader;
#[cfg(test)]
mod recipes;
#[cfg(test)]
mod report_verify;
#[cfg(test)]
mod substitutions;
#[cfg(test)]
mod support;
#[cfg(test)]
mod types;
#[cfg(test)]
mod why;
#[cfg(test)]
mod why_records;
