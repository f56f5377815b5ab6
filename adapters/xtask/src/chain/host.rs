// SPDX-License-Identifier: Apache-2.0
//! A small client of the host process (`echo.host-transport/v1`), written from its contract.

use super::{Atoms, ChainError, Programs};
use crate::host::{
    self,
    requests::{self, Opening},
    wire::Frame,
};
use edict_codec::{
    cbor::{Value, decode},
    digest::{derive, derive_typed},
};
use std::path::Path;

/// A running host.
#[derive(Debug)]
pub struct Host {
    host: host::Host,
    nonces: u64,
}

/// A reply that is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of the host.
    pub kind: String,
    /// Its sentence and path.
    pub message: String,
}

/// An open context.
#[derive(Clone, Debug)]
pub struct Context {
    worldline: Value,
    basis: Value,
    invocations: u64,
}

/// Key and value bytes of an atom.
pub type Atom = (Vec<u8>, Vec<u8>);

/// A decided invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The coordinate of an obstruction.
    pub coordinate: Option<String>,
    /// Result or payload.
    pub body: Vec<u8>,
    /// Steps, allocated bytes and output bytes.
    pub consumed: [u64; 3],
}

impl Host {
    /// A host that was greeted; with `state` it can keep durable contexts.
    ///
    /// # Errors
    /// When it cannot be started or does not greet.
    pub fn serve(programs: &Programs, state: Option<&Path>) -> Result<Self, ChainError> {
        Ok(Self {
            host: host::Host::start(&programs.path("echo-host"), state, None)?,
            nonces: 0,
        })
    }

    /// One request and its reply.
    fn ask(&mut self, kind: u16, body: &Value) -> Result<Result<Value, Refusal>, ChainError> {
        let reply: Frame = self.host.ask(kind, body)?;
        let Some(refused) = reply.refused() else {
            return Ok(Ok(reply.ok(kind | 0x8000)?));
        };
        let text = |name: &str| reply.body.get(name).and_then(Value::as_text);
        Ok(Err(Refusal {
            kind: refused.to_owned(),
            message: format!(
                "{} at {}",
                text("message").unwrap_or_default(),
                text("path").unwrap_or_default()
            ),
        }))
    }

    fn must(&mut self, kind: u16, body: &Value) -> Result<Value, ChainError> {
        self.ask(kind, body)?.map_err(|refusal| {
            ChainError::new(format!(
                "the host refused request {kind}: {}: {}",
                refusal.kind, refusal.message
            ))
        })
    }

    /// Installs a package with its report under exactly its own policy; gives the installation.
    ///
    /// # Errors
    /// When the host refuses it.
    pub fn install(&mut self, package: &[u8], report: &[u8]) -> Result<Value, ChainError> {
        let reply = self.must(2, &requests::install(package, report)?)?;
        Ok(requests::member(&reply, "installation")?)
    }

    /// Asks for an installation that may be refused for any reason; whether it was accepted. The
    /// host must go on.
    ///
    /// # Errors
    /// When the host answers with anything but a reply.
    pub fn offer(&mut self, request: &Value) -> Result<bool, ChainError> {
        self.ask(2, request).map(|it| it.is_ok())
    }

    /// Forgets an installation.
    ///
    /// # Errors
    /// When the host refuses it.
    pub fn uninstall(&mut self, installation: &Value) -> Result<(), ChainError> {
        let request = Value::text_map([("installation", installation.clone())]);
        self.must(3, &request).map(|_| ())
    }

    /// Opens a fresh context with these grants, durable when `durable` names it.
    ///
    /// # Errors
    /// When the host refuses it.
    pub fn open(&mut self, grants: &[Value], durable: Option<&str>) -> Result<Context, ChainError> {
        self.nonces += 1;
        let seed = format!("{}/{}", self.host.id(), self.nonces);
        let opening = Opening {
            nonce: derive("xtask/nonce/v1", seed.as_bytes()),
            subject: derive_typed("xtask/subject/v1", b""),
            name: durable,
            is_recovery: false,
        };
        let request = opening.body(grants.iter().cloned());
        let reply = self.must(4, &request)?;
        match (reply.get("worldline"), reply.get("basis")) {
            (Some(worldline), Some(basis)) => Ok(Context {
                worldline: worldline.clone(),
                basis: basis.clone(),
                invocations: 0,
            }),
            _ => Err(ChainError::new("a context without worldline and basis")),
        }
    }

    /// Closes a context.
    ///
    /// # Errors
    /// When the host refuses it.
    pub fn close(&mut self, context: &Context) -> Result<(), ChainError> {
        self.must(8, &requests::close(&context.worldline))
            .map(|_| ())
    }

    /// Invokes an installation once, an effectful one on the current basis.
    ///
    /// # Errors
    /// When the host answers with something else than an outcome or a refusal.
    pub fn invoke(
        &mut self,
        context: &mut Context,
        (installation, is_effectful): (&Value, bool),
        input: &[u8],
    ) -> Result<Result<Outcome, Refusal>, ChainError> {
        context.invocations += 1;
        let id = derive("xtask/invocation/v1", &context.invocations.to_be_bytes());
        let basis = if is_effectful {
            context.basis.clone()
        } else {
            Value::Null
        };
        let whose = (&context.worldline, installation);
        let request = requests::invoke(whose, id, &basis, input, Value::Null);
        let reply = match self.ask(5, &request)? {
            Ok(reply) => reply,
            Err(refusal) => return Ok(Err(refusal)),
        };
        outcome(context, &reply, &id)
            .map(Ok)
            .ok_or_else(|| ChainError::new(format!("no outcome of this invocation: {reply:?}")))
    }

    /// The atoms of all these spaces.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn atoms(&mut self, context: &Context, spaces: &[&str]) -> Result<Atoms, ChainError> {
        let mut atoms = Atoms::new();
        for space in spaces {
            for (key, value) in self.scan(context, space)? {
                atoms.insert(((*space).to_owned(), key), value);
            }
        }
        Ok(atoms)
    }

    /// The atoms of a space: key and value bytes, ascending.
    ///
    /// # Errors
    /// When the host refuses it or there are more than a reply holds.
    pub fn scan(&mut self, context: &Context, space: &str) -> Result<Vec<Atom>, ChainError> {
        let select = Value::text_map([
            ("kind", Value::text("scan")),
            ("space", Value::text(space)),
            ("after", Value::Null),
            ("limit", Value::unsigned(1024)),
        ]);
        let request = requests::observe(&context.worldline, &context.basis, select);
        let reply = self.must(7, &request)?;
        let entries = reply
            .get("entries")
            .and_then(Value::as_array)
            .unwrap_or_default();
        if reply.get("more").and_then(Value::as_bool) != Some(false) {
            return Err(ChainError::new(format!(
                "`{space}` has more atoms than a reply"
            )));
        }
        let bytes = |entry: &Value, name: &str| Some(entry.get(name)?.as_bytes()?.to_vec());
        let atoms = entries
            .iter()
            .map(|entry| Some((bytes(entry, "key")?, bytes(entry, "value")?)));
        atoms
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| ChainError::new("an atom without key and value"))
    }
}

/// The outcome that a reply states about this invocation; the context moves on to its basis.
fn outcome(context: &mut Context, reply: &Value, id: &[u8]) -> Option<Outcome> {
    let bytes = |name: &str| reply.get(name).and_then(Value::as_bytes);
    let asked = bytes("invocation")? == id && reply.get("worldline")? == &context.worldline;
    let record = decode(bytes("record")?).ok()?;
    let body = bytes("body")?.to_vec();
    let stated = record.get("outcome")?;
    let same = stated.get("body")? == &derive_typed("echo/body/v1", &body).to_value();
    if !asked || !same {
        return None;
    }
    if let Some(after) = record.get("after") {
        context.basis = after.clone();
    }
    let consumed = record.get("consumed")?;
    let counter = |name: &str| consumed.get(name).and_then(Value::as_u64);
    let coordinate = match stated.get("kind")?.as_text()? {
        "result" => None,
        _ => Some(stated.get("coordinate")?.as_text()?.to_owned()),
    };
    Some(Outcome {
        coordinate,
        body,
        consumed: [
            counter("steps")?,
            counter("allocatedBytes")?,
            counter("outputBytes")?,
        ],
    })
}
