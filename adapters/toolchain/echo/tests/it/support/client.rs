// SPDX-License-Identifier: Apache-2.0
//! A small client of the real process, written from the contract and not from the host.

use edict_codec::{
    cbor::{Value, decode, encode},
    digest::derive,
};
use std::{
    io::{Read, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{ChildStdin, ChildStdout, Stdio},
};

/// A frame as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u16,
    pub(crate) sequence: u64,
    pub(crate) body: Value,
    pub(crate) bytes: Vec<u8>,
}

impl Frame {
    /// The text under `key`, or nothing.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.body.get(key)?.as_text()
    }

    /// `(kind, path)` of a refused request.
    pub(crate) fn refusal(&self) -> (&str, Option<&str>) {
        assert_eq!(self.kind, 0x8FFF, "{:?}", self.body);
        (self.text("kind").unwrap(), self.text("path"))
    }

    /// The kind of the refusal.
    pub(crate) fn refused(&self) -> &str {
        self.refusal().0
    }

    /// The body of a reply of that type.
    pub(crate) fn ok(&self, kind: u16) -> &Value {
        assert_eq!(self.kind, kind, "{:?}", self.body);
        &self.body
    }
}

/// The bytes of a frame.
pub(crate) fn frame(kind: u16, sequence: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x89, 0x45, 0x43, 0x48, 0, 1];
    bytes.extend(kind.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    bytes.extend(body);
    let digest = derive("echo/frame/v1", &bytes);
    bytes.extend(digest);
    bytes
}

/// All whole frames of `bytes`; what is left over.
pub(crate) fn parse(mut bytes: &[u8]) -> (Vec<Frame>, Vec<u8>) {
    let mut frames = Vec::new();
    while bytes.len() >= 52 {
        let length = u32::from_be_bytes(bytes[16..20].try_into().unwrap()) as usize;
        if bytes.len() < length + 52 {
            break;
        }
        let (whole, rest) = bytes.split_at(length + 52);
        frames.push(judge(whole));
        bytes = rest;
    }
    (frames, bytes.to_vec())
}

fn judge(whole: &[u8]) -> Frame {
    let (covered, digest) = whole.split_at(whole.len() - 32);
    assert_eq!(&covered[..6], &[0x89, 0x45, 0x43, 0x48, 0, 1]);
    assert_eq!(derive("echo/frame/v1", covered), digest);
    Frame {
        kind: u16::from_be_bytes(covered[6..8].try_into().unwrap()),
        sequence: u64::from_be_bytes(covered[8..16].try_into().unwrap()),
        body: decode(&covered[20..]).unwrap(),
        bytes: whole.to_vec(),
    }
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) rest: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ended {
    /// `(kind, sequence)` of the fault that must be the last frame, with exit code 3.
    pub(crate) fn fault(&self) -> (&str, u64) {
        assert_eq!(self.code, Some(3), "{self:?}");
        let last = self.frames.last().unwrap();
        assert_eq!(last.kind, 0xFFFF);
        (last.text("kind").unwrap(), last.sequence)
    }
}

/// Where replies arrive.
#[derive(Debug)]
enum Replies {
    Pipe(ChildStdout),
    Socket(UnixStream),
}

impl Read for Replies {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(bytes),
            Self::Socket(socket) => socket.read(bytes),
        }
    }
}

/// A running host.
#[derive(Debug)]
pub(crate) struct Host {
    #[expect(
        clippy::disallowed_types,
        reason = "the real program is what is looked at"
    )]
    child: std::process::Child,
    stdin: Option<ChildStdin>,
    stdout: Option<Replies>,
    sequence: u64,
    /// The build it said it is, once greeted.
    pub(crate) build: Value,
}

impl Host {
    /// The program with these arguments.
    #[expect(
        clippy::disallowed_types,
        reason = "the real program is what is looked at"
    )]
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_echo-host"));
        command.args(arguments).stdout(Stdio::piped());
        Self::spawn(command)
    }

    #[expect(
        clippy::disallowed_types,
        reason = "the real program is what is looked at"
    )]
    fn spawn(mut command: std::process::Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map(Replies::Pipe),
            child,
            sequence: 0,
            build: Value::Null,
        }
    }

    /// `serve` with these options and a socket as its output, greeted.
    #[expect(
        clippy::disallowed_types,
        reason = "the real program is what is looked at"
    )]
    pub(crate) fn serve_on_socket(options: &[&str]) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_echo-host"));
        command
            .arg("serve")
            .args(options)
            .stdout(Stdio::from(OwnedFd::from(theirs)));
        let mut host = Self::spawn(command);
        host.stdout = Some(Replies::Socket(ours));
        host.greet(16_777_216);
        host
    }

    /// `serve` with these options in another environment, greeted.
    #[expect(
        clippy::disallowed_types,
        reason = "the real program is what is looked at"
    )]
    pub(crate) fn serve_in(umask: &str, variables: &[(&str, &str)], options: &[&str]) -> Self {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", "umask \"$0\"; exec \"$@\"", umask])
            .args([env!("CARGO_BIN_EXE_echo-host"), "serve"])
            .args(options)
            .stdout(Stdio::piped())
            .env_clear()
            .envs(variables.iter().copied());
        let mut host = Self::spawn(command);
        host.greet(16_777_216);
        host
    }

    /// `serve` with these options, greeted.
    pub(crate) fn serve(options: &[&str]) -> Self {
        let mut arguments = vec!["serve"];
        arguments.extend(options);
        let mut host = Self::start(&arguments);
        host.greet(16_777_216);
        host
    }

    /// Greets as a client that reads frames of so many bytes.
    pub(crate) fn greet(&mut self, max_frame_bytes: u64) {
        let reply = self.ask(1, &super::messages::hello_with_frames(max_frame_bytes));
        self.build = reply.ok(0x8001).get("build").unwrap().clone();
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes raw bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // A host that ended already has closed the pipe; what it said is judged, not this.
        let _ = self.stdin.as_mut().unwrap().write_all(bytes);
    }

    /// Sends a request without reading; gives its sequence.
    pub(crate) fn send(&mut self, kind: u16, body: &Value) -> u64 {
        self.send_bytes(kind, &encode(body))
    }

    /// Sends body bytes.
    pub(crate) fn send_bytes(&mut self, kind: u16, body: &[u8]) -> u64 {
        self.sequence += 1;
        let bytes = frame(kind, self.sequence, body);
        self.write(&bytes);
        self.sequence
    }

    /// The next frame.
    pub(crate) fn read(&mut self) -> Frame {
        let stdout = self.stdout.as_mut().unwrap();
        let mut bytes = vec![0; 20];
        stdout.read_exact(&mut bytes).unwrap();
        let length = u32::from_be_bytes(bytes[16..20].try_into().unwrap()) as usize;
        bytes.resize(length + 52, 0);
        stdout.read_exact(&mut bytes[20..]).unwrap();
        judge(&bytes)
    }

    /// Sends a request and reads its reply.
    pub(crate) fn ask(&mut self, kind: u16, body: &Value) -> Frame {
        self.ask_bytes(kind, &encode(body))
    }

    /// Sends body bytes and reads the reply.
    pub(crate) fn ask_bytes(&mut self, kind: u16, body: &[u8]) -> Frame {
        let sequence = self.send_bytes(kind, body);
        let reply = self.read();
        assert_eq!(reply.sequence, sequence, "{:?}", reply.body);
        reply
    }

    /// Closes the input.
    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Closes the output of a host that is served on a socket. Dropping a pipe would not do: a
    /// process that another thread is just starting may hold its end for a moment.
    pub(crate) fn close_output(&mut self) {
        if let Some(Replies::Socket(socket)) = self.stdout.take() {
            socket.shutdown(Shutdown::Both).unwrap();
        }
    }

    /// Waits for the end without closing the input.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Kills the process at once.
    pub(crate) fn kill(mut self) -> Ended {
        self.child.kill().unwrap();
        self.end()
    }

    /// Closes the input and waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        self.stdin = None;
        let mut bytes = Vec::new();
        if let Some(mut stdout) = self.stdout.take() {
            stdout.read_to_end(&mut bytes).unwrap();
        }
        let mut stderr = Vec::new();
        if let Some(mut stream) = self.child.stderr.take() {
            stream.read_to_end(&mut stderr).unwrap();
        }
        let status = self.child.wait().unwrap();
        let (frames, rest) = parse(&bytes);
        Ended {
            code: status.code(),
            frames,
            rest,
            stderr,
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes `bytes` after an accepted hello (sequence 1) and waits for the end.
pub(crate) fn after_hello(bytes: &[u8]) -> Ended {
    let mut host = Host::serve(&[]);
    host.write(bytes);
    host.end()
}
