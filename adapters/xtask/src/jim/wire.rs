// SPDX-License-Identifier: Apache-2.0
//! A client of the host process: frames, and nothing of what they mean.

use super::{JimError, toolchain::Program};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{derive, frame_typed},
};
use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// The largest frame that is read.
const MAX_FRAME: usize = 16_777_216;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The type of the frame.
    pub kind: u16,
    /// Its body.
    pub body: Value,
}

impl Reply {
    /// The body of a reply of that type.
    ///
    /// # Errors
    /// The kind of the refusal or fault that it is.
    pub fn expect(self, kind: u16) -> Result<Value, JimError> {
        if self.kind == kind {
            return Ok(self.body);
        }
        let word = |name| self.body.get(name).and_then(Value::as_text).unwrap_or("-");
        Err(JimError::new(format!(
            "the host answers {:#06x} {}: {}",
            self.kind,
            word("kind"),
            word("message")
        )))
    }

    /// The kind of a refusal, or nothing.
    pub fn refusal(&self) -> Option<&str> {
        if self.kind == 0x8FFF {
            self.body.get("kind")?.as_text()
        } else {
            None
        }
    }
}

/// A running host.
#[derive(Debug)]
pub struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    sequence: u64,
}

impl Host {
    /// Starts a host over a state root and greets it; `fault` names a crash point.
    ///
    /// # Errors
    /// It cannot be started or refuses the greeting.
    pub fn start(program: &Path, root: &Path, fault: Option<&str>) -> Result<Self, JimError> {
        let mut command = Command::new(program);
        command.arg("serve").arg("--state-root").arg(root);
        if let Some(fault) = fault {
            command.args(["--fault", fault]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| JimError::new("no output of the host"))?;
        let mut host = Self {
            child,
            stdin,
            stdout,
            sequence: 0,
        };
        host.ask(1, &hello())?.expect(0x8001)?;
        Ok(host)
    }

    /// Installs a program; gives its installation.
    ///
    /// # Errors
    /// The refusal.
    pub fn install(&mut self, program: &Program) -> Result<Value, JimError> {
        let member = |name: &str| program.content.get(name).cloned().unwrap_or(Value::Null);
        let pure = member("kind").as_text() == Some("pure");
        let policy = Value::text_map([
            ("operation", member("operation")),
            (
                "authority",
                Value::text(if pure { "pure" } else { "atoms" }),
            ),
            ("maxBudget", member("budget")),
        ]);
        let package = frame_typed("echo.program-package/v1", &program.package);
        let report = frame_typed("edict.verification-report/v1", &program.report);
        let request = Value::text_map([
            ("package", Value::bytes(program.package.clone())),
            ("packageDigest", package.to_value()),
            ("report", Value::bytes(program.report.clone())),
            ("reportDigest", report.to_value()),
            ("policy", policy),
        ]);
        let reply = self.ask(2, &request)?.expect(0x8002)?;
        member_of(&reply, "installation")
    }

    /// Sends a request without reading its reply.
    ///
    /// # Errors
    /// The host reads no more.
    pub fn send(&mut self, kind: u16, body: &Value) -> Result<(), JimError> {
        self.sequence += 1;
        let body = encode(body);
        let length = u32::try_from(body.len()).map_err(|_| JimError::new("a body is too long"))?;
        let mut frame = vec![0x89, 0x45, 0x43, 0x48, 0, 1];
        frame.extend(kind.to_be_bytes());
        frame.extend(self.sequence.to_be_bytes());
        frame.extend(length.to_be_bytes());
        frame.extend(body);
        frame.extend(derive("echo/frame/v1", &frame));
        let stdin = self
            .stdin
            .as_mut()
            .ok_or_else(|| JimError::new("the input is closed"))?;
        Ok(stdin.write_all(&frame)?)
    }

    /// Reads one reply and checks frame, sequence and digest.
    ///
    /// # Errors
    /// The stream ends or is damaged.
    pub fn read(&mut self) -> Result<Reply, JimError> {
        let mut head = [0_u8; 20];
        self.stdout.read_exact(&mut head)?;
        let [0x89, 0x45, 0x43, 0x48, 0, 1, high, low, rest @ ..] = head else {
            return Err(JimError::new("the frame has another magic or version"));
        };
        let (sequence, length) = rest.split_at(8);
        if sequence != self.sequence.to_be_bytes() {
            return Err(JimError::new("the reply answers another request"));
        }
        let length = length
            .iter()
            .fold(0_usize, |sum, byte| (sum << 8) | usize::from(*byte));
        if length > MAX_FRAME {
            return Err(JimError::new("the frame is too long"));
        }
        let mut bytes = head.to_vec();
        bytes.resize(20 + length, 0);
        self.stdout
            .read_exact(bytes.get_mut(20..).unwrap_or_default())?;
        let mut digest = [0_u8; 32];
        self.stdout.read_exact(&mut digest)?;
        if digest != derive("echo/frame/v1", &bytes) {
            return Err(JimError::new("the frame has another digest"));
        }
        let body = decode(bytes.get(20..).unwrap_or_default())
            .map_err(|error| JimError::new(format!("the reply is not canonical: {error}")))?;
        Ok(Reply {
            kind: u16::from_be_bytes([high, low]),
            body,
        })
    }

    /// Sends a request and reads its reply.
    ///
    /// # Errors
    /// The stream ends or is damaged.
    pub fn ask(&mut self, kind: u16, body: &Value) -> Result<Reply, JimError> {
        self.send(kind, body)?;
        self.read()
    }

    /// Closes the input and waits; gives the exit status, none after a signal.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn end(mut self) -> Result<Option<i32>, JimError> {
        self.stdin = None;
        Ok(self.child.wait()?.code())
    }

    /// Reads what is left and waits for a host that dies by itself; gives how many bytes it still
    /// wrote and its exit status, none after a signal.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn perish(mut self) -> Result<(usize, Option<i32>), JimError> {
        let mut rest = Vec::new();
        self.stdout.read_to_end(&mut rest)?;
        self.stdin = None;
        Ok((rest.len(), self.child.wait()?.code()))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // A child that ended already cannot be ended again; nobody is left to tell.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The member of a record.
///
/// # Errors
/// It is not there.
pub fn member_of(value: &Value, name: &str) -> Result<Value, JimError> {
    let found = value.get(name).cloned();
    found.ok_or_else(|| JimError::new(format!("member `{name}` is missing")))
}

fn hello() -> Value {
    let texts = |words: &[&str]| Value::Array(words.iter().map(|it| Value::text(*it)).collect());
    Value::text_map([
        ("protocol", Value::text("echo.host-transport/v1")),
        ("client", Value::text("jim")),
        ("profiles", texts(&["echo.program/v1"])),
        (
            "evidence",
            texts(&[
                "echo.effectful-execution/v1",
                "echo.pure-execution/v1",
                "echo.receipt/v1",
            ]),
        ),
        ("maxFrameBytes", Value::unsigned(MAX_FRAME as u64)),
    ])
}
