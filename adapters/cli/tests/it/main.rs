// SPDX-License-Identifier: Apache-2.0
//! The runner as its users start it: real programs, whole streams, exit status and report.

#[cfg(test)]
mod behavior;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod consumers;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod docs_commands;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod empty;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod labels;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod pins;
#[cfg(test)]
mod publication;
#[cfg(test)]
mod standin;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod support;
#[cfg(test)]
mod swaps;
#[cfg(test)]
mod tour;
