// SPDX-License-Identifier: Apache-2.0
//! The verifier against hand-made artifacts, against the real compiler, and against mutations.

#[cfg(test)]
mod accepted;
#[cfg(test)]
mod atoms;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod hand;
#[cfg(test)]
mod lawpacks;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod process;
#[cfg(test)]
mod retyped;
#[cfg(test)]
mod support;
#[cfg(test)]
mod typed;
