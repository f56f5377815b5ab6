// SPDX-License-Identifier: Apache-2.0
//! What is kept, what is refused, and what is never overwritten.

#[cfg(test)]
mod actions;
#[cfg(test)]
mod collection;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod publication;
#[cfg(test)]
mod state;
#[cfg(test)]
mod support;
