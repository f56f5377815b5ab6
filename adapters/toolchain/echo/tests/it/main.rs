// SPDX-License-Identifier: Apache-2.0
//! Everything the host is held to, through the real process where a row asks for it.

#[cfg(test)]
mod support;

#[cfg(test)]
mod admission;
#[cfg(test)]
mod anchored;
#[cfg(test)]
mod bodies;
#[cfg(test)]
mod contexts;
#[cfg(test)]
mod effects;
#[cfg(test)]
mod evaluation;
#[cfg(test)]
mod evidence;
#[cfg(feature = "fault-points")]
#[cfg(test)]
mod fault_chain;
#[cfg(feature = "fault-points")]
#[cfg(test)]
mod faults;
#[cfg(test)]
mod frames;
#[cfg(test)]
mod language;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod log;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod schedule;
#[cfg(test)]
mod settlement;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod start;
// A build with faults greets otherwise.
#[cfg(not(feature = "fault-points"))]
#[cfg(test)]
mod trace;
#[cfg(test)]
mod vectors;
