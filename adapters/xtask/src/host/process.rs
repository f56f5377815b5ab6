// SPDX-License-Identifier: Apache-2.0
//! A running host process and what is asked of it.

use super::{
    HostError, requests,
    wire::{self, DIGEST, Frame, HEADER},
};
use edict_codec::cbor::{Value, encode};
use std::{
    io::{BufReader, Read as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A greeted host process, killed when it is dropped.
#[derive(Debug)]
pub struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    sequence: u64,
    greeting: Value,
}

impl Host {
    /// Starts a host and greets it. With `root` it can keep durable contexts; `fault` names a crash
    /// point of a build that has them.
    ///
    /// # Errors
    /// It cannot be started or does not greet.
    pub fn start(
        program: &Path,
        root: Option<&Path>,
        fault: Option<&str>,
    ) -> Result<Self, HostError> {
        let mut command = Command::new(program);
        command.arg("serve").env_clear();
        if let Some(root) = root {
            command.arg("--state-root").arg(root);
        }
        if let Some(fault) = fault {
            command.args(["--fault", fault]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| HostError::new(format!("start `{}`: {error}", program.display())))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let mut host = Self {
            child,
            stdin,
            stdout: BufReader::new(stdout.ok_or_else(|| HostError::new("a host without pipes"))?),
            sequence: 0,
            greeting: Value::Null,
        };
        host.greeting = host.ask(1, &requests::hello())?.ok(0x8001)?;
        Ok(host)
    }

    /// Starts a host that cannot die on demand.
    ///
    /// # Errors
    /// As [`Self::start`], and for a build with fault points.
    pub fn serve(program: &Path, root: &Path) -> Result<Self, HostError> {
        let host = Self::start(program, Some(root), None)?;
        if host.greeting.get("faultPoints") == Some(&Value::Bool(false)) {
            return Ok(host);
        }
        Err(HostError::new("this job wants a host without fault points"))
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its `/proc` directory.
    pub fn proc(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.id()))
    }

    /// Installs a package under exactly its own policy; gives the installation.
    ///
    /// # Errors
    /// The refusal.
    pub fn install(&mut self, package: &[u8], report: &[u8]) -> Result<Value, HostError> {
        let reply = self.ask(2, &requests::install(package, report)?)?;
        requests::member(&reply.ok(0x8002)?, "installation")
    }

    /// Sends a request without reading its reply.
    ///
    /// # Errors
    /// The host reads no more.
    pub fn send(&mut self, kind: u16, body: &Value) -> Result<(), HostError> {
        let bytes = self.prepare(kind, body)?;
        self.write(&bytes)
    }

    /// The bytes of the next request, to be exchanged in this order.
    ///
    /// # Errors
    /// The body is too long for a frame.
    pub fn prepare(&mut self, kind: u16, body: &Value) -> Result<Vec<u8>, HostError> {
        self.sequence += 1;
        wire::write(kind, self.sequence, &encode(body))
    }

    /// Writes a prepared request and reads its reply without judging it; gives its length.
    ///
    /// # Errors
    /// The stream ends.
    pub fn exchange(&mut self, request: &[u8]) -> Result<usize, HostError> {
        self.write(request)?;
        self.receive().map(|whole| whole.len())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), HostError> {
        let stdin = self.stdin.as_mut();
        let stdin = stdin.ok_or_else(|| HostError::new("the input is closed"))?;
        Ok(stdin.write_all(bytes)?)
    }

    /// The next frame.
    ///
    /// # Errors
    /// The stream ends or is damaged.
    pub fn read(&mut self) -> Result<Frame, HostError> {
        wire::judge(&self.receive()?)
    }

    fn receive(&mut self) -> Result<Vec<u8>, HostError> {
        let mut header = [0; HEADER];
        self.stdout.read_exact(&mut header)?;
        let rest = wire::body_length(&header) + DIGEST;
        let mut whole = header.to_vec();
        // What is announced gets memory as it comes.
        let read = (&mut self.stdout)
            .take(rest as u64)
            .read_to_end(&mut whole)?;
        if read == rest {
            return Ok(whole);
        }
        Err(HostError::new("the host's stream ends inside a frame"))
    }

    /// Sends a request and reads its reply.
    ///
    /// # Errors
    /// The stream ends, is damaged or answers another request.
    pub fn ask(&mut self, kind: u16, body: &Value) -> Result<Frame, HostError> {
        self.send(kind, body)?;
        let reply = self.read()?;
        if reply.sequence == self.sequence {
            return Ok(reply);
        }
        Err(HostError::new("the host answered another request"))
    }

    /// Closes the input and waits; gives the exit status, none after a signal.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn end(mut self) -> Result<Option<i32>, HostError> {
        self.stdin = None;
        Ok(self.child.wait()?.code())
    }

    /// Reads what is left and waits for a host that dies by itself; gives how many bytes it still
    /// wrote and its exit status, none after a signal.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn perish(mut self) -> Result<(usize, Option<i32>), HostError> {
        let mut rest = Vec::new();
        self.stdout.read_to_end(&mut rest)?;
        self.stdin = None;
        Ok((rest.len(), self.child.wait()?.code()))
    }

    /// Kills the process; gives the frames that had left it and were not read yet.
    ///
    /// # Errors
    /// It had ended before: nothing was interrupted.
    pub fn kill(mut self) -> Result<Vec<Frame>, HostError> {
        self.child.kill()?;
        let status = self.child.wait()?;
        if status.signal() != Some(9) {
            return Err(HostError::new(format!(
                "the host ended by itself: {status}"
            )));
        }
        let mut bytes = Vec::new();
        self.stdout.read_to_end(&mut bytes)?;
        let (mut frames, mut rest) = (Vec::new(), bytes.as_slice());
        while let Some((frame, more)) = wire::split(rest)? {
            frames.push(frame);
            rest = more;
        }
        Ok(frames)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Nothing depends on how a host ends that nobody asks any more.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
