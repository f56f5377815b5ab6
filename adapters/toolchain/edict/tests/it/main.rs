// SPDX-License-Identifier: Apache-2.0
//! Tests of the compiler: its process, lawpacks, applications and every language case.

#[cfg(test)]
mod application;
#[cfg(test)]
mod closure;
#[cfg(test)]
mod front;
#[cfg(test)]
mod language;
#[cfg(test)]
mod lawpack;
#[cfg(test)]
mod process;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod support;
