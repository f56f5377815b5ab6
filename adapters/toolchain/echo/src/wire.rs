// SPDX-License-Identifier: Apache-2.0
//! The transport: frames, and the messages in them (sections 1.2 to 2.7).

pub mod fields;
pub mod frame;
pub mod message;
pub mod reply;
pub mod request;
