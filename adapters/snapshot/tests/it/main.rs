// SPDX-License-Identifier: Apache-2.0
//! Reading inputs, programs, trees and checkouts, honest and hostile.

#[cfg(test)]
mod git;
#[cfg(test)]
mod index;
#[cfg(test)]
mod program;
#[cfg(test)]
mod root;
#[cfg(test)]
mod support;
#[cfg(test)]
mod toolchain;
#[cfg(test)]
mod tree;
