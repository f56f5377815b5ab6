// SPDX-License-Identifier: Apache-2.0
//! Frames to and from a host process.

use crate::job::Failure;
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::derive,
};
use std::{
    io::{Read as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// Magic and version of a frame.
const START: [u8; 6] = [0x89, 0x45, 0x43, 0x48, 0, 1];
const HEADER: usize = 20;
const DIGEST: usize = 32;

/// A frame whose digest held.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u16,
    pub(crate) sequence: u64,
    pub(crate) body: Value,
}

impl Frame {
    /// The body of a reply of that type.
    pub(crate) fn ok(self, kind: u16) -> Result<Value, Failure> {
        if self.kind == kind {
            return Ok(self.body);
        }
        Err(Failure::new(format!(
            "the host answered {:#06x}: {:?}",
            self.kind, self.body
        )))
    }

    /// The kind of a refusal.
    pub(crate) fn refused(&self) -> Option<&str> {
        (self.kind == 0x8FFF)
            .then(|| self.body.get("kind")?.as_text())
            .flatten()
    }
}

/// The bytes of a frame.
pub(crate) fn frame(kind: u16, sequence: u64, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let length = u32::try_from(body.len()).map_err(|_| Failure::new("a body is too long"))?;
    let mut bytes = START.to_vec();
    bytes.extend(kind.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(body);
    let digest = derive("echo/frame/v1", &bytes);
    bytes.extend(digest);
    Ok(bytes)
}

/// The whole frame that `bytes` begin with, and what follows it.
fn split(bytes: &[u8]) -> Result<Option<(Frame, &[u8])>, Failure> {
    let Some((header, _)) = bytes.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let whole = HEADER + body_length(header) + DIGEST;
    let Some((whole, rest)) = bytes.split_at_checked(whole) else {
        return Ok(None);
    };
    judge(whole).map(|frame| Some((frame, rest)))
}

fn body_length(header: &[u8; HEADER]) -> usize {
    let [.., a, b, c, d] = *header;
    u32::from_be_bytes([a, b, c, d]) as usize
}

fn judge(whole: &[u8]) -> Result<Frame, Failure> {
    let bad = |what: &str| Failure::new(format!("the host sent a frame with a bad {what}"));
    let (covered, digest) = whole
        .split_last_chunk::<DIGEST>()
        .ok_or_else(|| bad("length"))?;
    if derive("echo/frame/v1", covered) != *digest {
        return Err(bad("digest"));
    }
    let (header, body) = covered
        .split_first_chunk::<HEADER>()
        .ok_or_else(|| bad("length"))?;
    let [
        m0,
        m1,
        m2,
        m3,
        v0,
        v1,
        k0,
        k1,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        s6,
        s7,
        ..,
    ] = *header;
    if [m0, m1, m2, m3, v0, v1] != START {
        return Err(bad("start"));
    }
    Ok(Frame {
        kind: u16::from_be_bytes([k0, k1]),
        sequence: u64::from_be_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
        body: decode(body).map_err(|error| bad(&format!("body: {error}")))?,
    })
}

/// A running host process, killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Host {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    sequence: u64,
}

impl Host {
    /// Starts the program with a state root and greets it.
    pub(crate) fn serve(program: &Path, state_root: &Path) -> Result<Self, Failure> {
        let mut host = Self::start(program, state_root)?;
        let reply = host.ask(1, &hello())?.ok(0x8001)?;
        if reply.get("faultPoints") != Some(&Value::Bool(false)) {
            return Err(Failure::new("this job wants a host without fault points"));
        }
        Ok(host)
    }

    fn start(program: &Path, state_root: &Path) -> Result<Self, Failure> {
        let mut child = Command::new(program)
            .arg("serve")
            .arg("--state-root")
            .arg(state_root)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure::new(format!("start `{}`: {error}", program.display())))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Self {
                child,
                stdin,
                stdout,
                sequence: 0,
            }),
            _ => Err(Failure::new("a host without pipes")),
        }
    }

    /// Its `/proc` directory.
    pub(crate) fn proc(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.child.id()))
    }

    /// Sends a request without reading.
    pub(crate) fn send(&mut self, kind: u16, body: &Value) -> Result<(), Failure> {
        let bytes = self.prepare(kind, body)?;
        self.write(&bytes)
    }

    /// The bytes of the next request, to be exchanged.
    pub(crate) fn prepare(&mut self, kind: u16, body: &Value) -> Result<Vec<u8>, Failure> {
        self.sequence += 1;
        frame(kind, self.sequence, &encode(body))
    }

    /// Writes a prepared request and reads its reply without judging it; gives its length.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<usize, Failure> {
        self.write(request)?;
        self.receive().map(|whole| whole.len())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.stdin.write_all(bytes)?)
    }

    /// The next frame.
    pub(crate) fn read(&mut self) -> Result<Frame, Failure> {
        judge(&self.receive()?)
    }

    fn receive(&mut self) -> Result<Vec<u8>, Failure> {
        let mut header = [0; HEADER];
        self.stdout.read_exact(&mut header)?;
        let mut whole = header.to_vec();
        whole.resize(HEADER + body_length(&header) + DIGEST, 0);
        let rest = whole.get_mut(HEADER..).unwrap_or_default();
        self.stdout.read_exact(rest)?;
        Ok(whole)
    }

    /// Sends a request and reads its reply.
    pub(crate) fn ask(&mut self, kind: u16, body: &Value) -> Result<Frame, Failure> {
        self.send(kind, body)?;
        let reply = self.read()?;
        if reply.sequence == self.sequence {
            return Ok(reply);
        }
        Err(Failure::new("the host answered another request"))
    }

    /// Kills the process; gives the frames that had left it and were not read yet.
    ///
    /// A process that ended before is a failure: nothing was interrupted.
    pub(crate) fn kill(mut self) -> Result<Vec<Frame>, Failure> {
        self.child.kill()?;
        let status = self.child.wait()?;
        if status.signal() != Some(9) {
            return Err(Failure::new(format!("the host ended by itself: {status}")));
        }
        let mut bytes = Vec::new();
        self.stdout.read_to_end(&mut bytes)?;
        let (mut frames, mut rest) = (Vec::new(), bytes.as_slice());
        while let Some((frame, more)) = split(rest)? {
            frames.push(frame);
            rest = more;
        }
        Ok(frames)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn hello() -> Value {
    let texts = |texts: &[&str]| Value::Array(texts.iter().map(|it| Value::text(*it)).collect());
    Value::text_map([
        ("protocol", Value::text("echo.host-transport/v1")),
        ("client", Value::text("xtask")),
        ("profiles", texts(&["echo.program/v1"])),
        (
            "evidence",
            texts(&[
                "echo.effectful-execution/v1",
                "echo.pure-execution/v1",
                "echo.receipt/v1",
            ]),
        ),
        ("maxFrameBytes", Value::unsigned(16_777_216)),
    ])
}
