// SPDX-License-Identifier: Apache-2.0
//! The tests of the host client, one binary. Every host here is a stand-in in memory: nothing it
//! answers is evidence of an execution.

#[cfg(test)]
mod frames;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod order;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod standin;
