// SPDX-License-Identifier: Apache-2.0
//! A small client of the host process (`echo.host-transport/v1`), written from its contract.

use super::{Atoms, ChainError, Programs};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{derive, derive_typed, frame_typed},
};
use std::{
    io::{BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const MAX_FRAME_BYTES: u64 = 16_777_216;
const MAGIC: [u8; 6] = [0x89, 0x45, 0x43, 0x48, 0, 1];

/// A running host.
#[derive(Debug)]
pub struct Host {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    sequence: u64,
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
        let mut command = Command::new(programs.path("echo-host"));
        command.arg("serve").env_clear();
        if let Some(state) = state {
            command.arg("--state-root").arg(state);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ChainError::new("the host has no streams"));
        };
        let mut host = Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            sequence: 0,
            nonces: 0,
        };
        let texts =
            |texts: &[&str]| Value::Array(texts.iter().map(|it| Value::text(*it)).collect());
        let evidence = [
            "echo.effectful-execution/v1",
            "echo.pure-execution/v1",
            "echo.receipt/v1",
        ];
        let hello = Value::text_map([
            ("protocol", Value::text("echo.host-transport/v1")),
            ("client", Value::text("xtask")),
            ("profiles", texts(&["echo.program/v1"])),
            ("evidence", texts(&evidence)),
            ("maxFrameBytes", Value::unsigned(MAX_FRAME_BYTES)),
        ]);
        host.must(1, &hello)?;
        Ok(host)
    }

    /// One request and its reply.
    fn ask(&mut self, kind: u16, body: &Value) -> Result<Result<Value, Refusal>, ChainError> {
        self.sequence += 1;
        let body = encode(body);
        let length = u32::try_from(body.len())
            .map_err(|_| ChainError::new("a request is too long for a frame"))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(kind.to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(body);
        let digest = derive("echo/frame/v1", &bytes);
        bytes.extend(digest);
        self.stdin.write_all(&bytes)?;
        self.stdin.flush()?;
        let (answered, body) = self.read()?;
        let text = |name: &str| body.get(name).and_then(Value::as_text).unwrap_or_default();
        match answered {
            _ if answered == kind | 0x8000 || (kind == 6 && answered == 0x8005) => Ok(Ok(body)),
            0x8FFF => Ok(Err(Refusal {
                kind: text("kind").to_owned(),
                message: format!("{} at {}", text("message"), text("path")),
            })),
            other => Err(ChainError::new(format!(
                "the host answered {other:#06x}: {body:?}"
            ))),
        }
    }

    fn must(&mut self, kind: u16, body: &Value) -> Result<Value, ChainError> {
        self.ask(kind, body)?.map_err(|refusal| {
            ChainError::new(format!(
                "the host refused request {kind}: {}: {}",
                refusal.kind, refusal.message
            ))
        })
    }

    fn read(&mut self) -> Result<(u16, Value), ChainError> {
        let broken = |what: &str| ChainError::new(format!("the host's frame has a bad {what}"));
        let mut head = [0; 20];
        self.stdout.read_exact(&mut head)?;
        let [
            m0,
            m1,
            m2,
            m3,
            m4,
            m5,
            k0,
            k1,
            sequence @ ..,
            l0,
            l1,
            l2,
            l3,
        ] = head;
        if [m0, m1, m2, m3, m4, m5] != MAGIC {
            return Err(broken("magic"));
        }
        if u64::from_be_bytes(sequence) != self.sequence {
            return Err(broken("sequence"));
        }
        let length = u64::from(u32::from_be_bytes([l0, l1, l2, l3]));
        if length > MAX_FRAME_BYTES {
            return Err(broken("length"));
        }
        let mut rest = Vec::new();
        (&mut self.stdout)
            .take(length + 32)
            .read_to_end(&mut rest)?;
        let at = rest.len().checked_sub(32).ok_or_else(|| broken("end"))?;
        let (body, digest) = rest.split_at(at);
        if derive("echo/frame/v1", &[&head, body].concat()) != digest {
            return Err(broken("digest"));
        }
        let body = decode(body).map_err(|_| broken("body"))?;
        Ok((u16::from_be_bytes([k0, k1]), body))
    }

    /// Installs a package with its report under exactly its own policy; gives the installation.
    ///
    /// # Errors
    /// When the host refuses it.
    pub fn install(&mut self, package: &[u8], report: &[u8]) -> Result<Value, ChainError> {
        let content = decode(package).map_err(|error| ChainError::new(error.to_string()))?;
        let member = |name: &str| {
            let member = content.get(name).cloned();
            member.ok_or_else(|| ChainError::new(format!("a package without `{name}`")))
        };
        let authority = match member("kind")?.as_text() {
            Some("pure") => "pure",
            _ => "atoms",
        };
        let policy = Value::text_map([
            ("operation", member("operation")?),
            ("authority", Value::text(authority)),
            ("maxBudget", member("budget")?),
        ]);
        let pin = |domain, bytes| frame_typed(domain, bytes).to_value();
        let request = Value::text_map([
            ("package", Value::bytes(package)),
            ("packageDigest", pin("echo.program-package/v1", package)),
            ("report", Value::bytes(report)),
            ("reportDigest", pin("edict.verification-report/v1", report)),
            ("policy", policy),
        ]);
        let reply = self.must(2, &request)?;
        let installation = reply.get("installation").cloned();
        installation.ok_or_else(|| ChainError::new("an install without installation"))
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
        let seed = format!("{}/{}", self.child.id(), self.nonces);
        let mut grants = grants.to_vec();
        grants.sort_by_key(encode);
        grants.dedup();
        let (kind, name) = match durable {
            None => ("volatile", Value::Null),
            Some(name) => ("durable", Value::text(name)),
        };
        let storage = Value::text_map([("kind", Value::text(kind)), ("name", name)]);
        let request = Value::text_map([
            (
                "nonce",
                Value::bytes(derive("xtask/nonce/v1", seed.as_bytes())),
            ),
            ("subject", derive_typed("xtask/subject/v1", b"").to_value()),
            ("mode", Value::text("create")),
            ("storage", storage),
            ("grants", Value::Array(grants)),
            ("expect", Value::Null),
        ]);
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
        let request = Value::text_map([("worldline", context.worldline.clone())]);
        self.must(8, &request).map(|_| ())
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
        let request = Value::text_map([
            ("worldline", context.worldline.clone()),
            ("installation", installation.clone()),
            ("invocation", Value::bytes(id)),
            ("basis", basis),
            ("input", Value::bytes(input)),
            ("budget", Value::Null),
        ]);
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
        let request = Value::text_map([
            ("worldline", context.worldline.clone()),
            ("basis", context.basis.clone()),
            ("select", select),
            ("maxBytes", Value::unsigned(8_388_608)),
        ]);
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

impl Drop for Host {
    fn drop(&mut self) {
        // Nothing depends on how a host ends that nobody asks any more.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
