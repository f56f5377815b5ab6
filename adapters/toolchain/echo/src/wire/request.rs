// SPDX-License-Identifier: Apache-2.0
//! The requests a client can make, as decoded values.

use crate::{
    pin::{Budget, Pin, Policy},
    refusal::Refusal,
};
use edict_codec::digest::TypedDigest;

/// One decoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Section 2.1.
    Hello(Hello),
    /// Section 2.2.
    Install(Box<Install>),
    /// Section 2.2.
    Uninstall(TypedDigest),
    /// Section 2.3.
    Open(Box<Open>),
    /// Section 2.4.
    Invoke(Box<Invoke>),
    /// Section 2.5.
    Recall(Recall),
    /// Section 2.6.
    Observe(Box<Observe>),
    /// Section 2.7.
    Close(TypedDigest),
    /// Section 2.7.
    Shutdown,
}

/// `hello`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Protocol the client speaks.
    pub protocol: String,
    /// Profiles it needs.
    pub profiles: Vec<String>,
    /// Evidence it needs.
    pub evidence: Vec<String>,
    /// Greatest whole frame it reads, in bytes.
    pub max_frame_bytes: u64,
}

/// `install`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// Package bytes.
    pub package: Vec<u8>,
    /// Pin of the package.
    pub package_pin: Pin,
    /// Report bytes.
    pub report: Vec<u8>,
    /// Pin of the report.
    pub report_pin: Pin,
    /// What the client is willing to run.
    pub policy: Policy,
}

/// How a context begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From the empty basis.
    Create,
    /// From the log, which must reach the position the client saw acknowledged.
    Recover {
        /// That position.
        expect: Option<Position>,
    },
}

/// A committed position of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// LSN of a commit record.
    pub last_lsn: u64,
    /// dig(echo/wal-record/v1) of it.
    pub commit: TypedDigest,
}

/// Where a context lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In memory.
    Volatile,
    /// In the directory of that name below the state root.
    Durable(String),
}

impl Storage {
    /// The text of its kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Volatile => "volatile",
            Self::Durable(_) => "durable",
        }
    }
}

/// `open-context`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Freshness of all evidence of the context.
    pub nonce: [u8; 32],
    /// Opaque name given by the client.
    pub subject: TypedDigest,
    /// How it begins.
    pub mode: Mode,
    /// Where it lives.
    pub storage: Storage,
    /// All installations it may ever invoke, ascending.
    pub grants: Vec<TypedDigest>,
}

/// A Tick number and a state root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Settled changes so far.
    pub tick: u64,
    /// dig(echo/state-root/v1).
    pub state_root: TypedDigest,
}

impl Basis {
    /// Whether a request that means this basis meets the `current` one.
    ///
    /// # Errors
    /// `basis-mismatch`, at the member that differs.
    pub fn meets(&self, current: &Self) -> Result<(), Refusal> {
        let path = if self.tick != current.tick {
            ".basis.tick"
        } else if self.state_root != current.state_root {
            ".basis.stateRoot"
        } else {
            return Ok(());
        };
        Err(Refusal::at(
            "basis-mismatch",
            path,
            format!("the current basis is Tick {}", current.tick),
        ))
    }
}

/// `invoke`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoke {
    /// The open context.
    pub worldline: TypedDigest,
    /// The granted installation.
    pub installation: TypedDigest,
    /// Id, consumed once per worldline.
    pub invocation: [u8; 32],
    /// The basis the client means; none for pure.
    pub basis: Option<Basis>,
    /// Canonical value of the declared input type.
    pub input: Vec<u8>,
    /// A lower budget than the declared one.
    pub budget: Option<Budget>,
    /// dig(echo/invocation/v1) of the body bytes of the frame.
    pub request: TypedDigest,
}

/// `recall`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    /// The open context.
    pub worldline: TypedDigest,
    /// The decided invocation.
    pub invocation: [u8; 32],
}

/// `observe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observe {
    /// The open context.
    pub worldline: TypedDigest,
    /// The current basis.
    pub basis: Basis,
    /// What to look at.
    pub select: Select,
    /// Most value bytes of the answer.
    pub max_bytes: u64,
}

/// What an observation looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// Single atoms, `(space, key)`.
    Atoms(Vec<(String, Vec<u8>)>),
    /// Ascending keys of a space.
    Scan {
        /// The space.
        space: String,
        /// Only keys after this one.
        after: Option<Vec<u8>>,
        /// Most entries, 1..1024.
        limit: u64,
    },
}
