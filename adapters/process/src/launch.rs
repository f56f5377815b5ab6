// SPDX-License-Identifier: Apache-2.0
//! The hidden launcher mode: what a child is to be, and how the running executable becomes it (P5).

use crate::{
    proc::numbers,
    sandbox::{self, Isolation, IsolationLevel},
};
use edict_codec::{
    cbor::{self, Value},
    hex,
};
use rustix::{
    fs::{CWD, Mode, OFlags},
    process::{Pid, Signal},
};
use std::{
    convert::Infallible,
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{OwnedFd, RawFd},
        unix::{
            ffi::{OsStrExt as _, OsStringExt as _},
            process::CommandExt as _,
        },
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Duration,
};

/// First argument of the launcher mode; the second one is the order in hexadecimal.
pub(crate) const LAUNCH_ARGUMENT: &str = "__launch";
/// Exit code of a launcher that could not start the program. Only the status pipe is believed.
const NOT_LAUNCHED: u8 = 125;
/// Tries while another thread of the runner still holds the copy open for writing between its own
/// fork and exec.
const BUSY_TRIES: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// What a child is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildSpec {
    /// The verified copy to execute, absolute; its directory may be read and executed.
    pub program: PathBuf,
    /// Arguments after the program name.
    pub arguments: Vec<OsString>,
    /// Fresh private directory, absolute: working directory, `HOME` and `TMPDIR`; read and written.
    pub directory: PathBuf,
    /// Further files and directories that may be read.
    pub readable: Vec<PathBuf>,
    /// Greatest size of a file that it may write, in bytes (P8).
    pub file_bytes: u64,
    /// CPU limit in seconds, for compiler and verifier (P8).
    pub cpu_seconds: Option<u64>,
    /// Whether it may start with less than full isolation.
    pub isolation: Isolation,
}

impl ChildSpec {
    /// `program` without arguments in `directory`, isolated as far as the kernel can.
    pub fn new(program: &Path, directory: &Path) -> Self {
        Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            directory: directory.to_owned(),
            readable: Vec::new(),
            file_bytes: u64::MAX,
            cpu_seconds: None,
            isolation: Isolation::BestEffort,
        }
    }

    /// The exact environment of the child (P7).
    pub(crate) fn environment(&self) -> [(&'static str, &OsStr); 5] {
        [
            ("LANG", OsStr::new("C.UTF-8")),
            ("LC_ALL", OsStr::new("C.UTF-8")),
            ("TZ", OsStr::new("UTC0")),
            ("HOME", self.directory.as_os_str()),
            ("TMPDIR", self.directory.as_os_str()),
        ]
    }

    /// The second argument of the launcher, which is to be a child of `parent` and tells how far it
    /// came on the pipe that `parent` has under the number `status`.
    pub(crate) fn order(&self, parent: Pid, status: RawFd) -> String {
        let order = Value::Array(vec![
            Value::Integer(i64::from(parent.as_raw_nonzero().get()).into()),
            Value::Integer(i64::from(status).into()),
            bytes(&self.program),
            Value::Array(self.arguments.iter().map(bytes).collect()),
            bytes(&self.directory),
            Value::Array(self.readable.iter().map(bytes).collect()),
            Value::Integer(self.file_bytes.into()),
            self.cpu_seconds
                .map_or(Value::Null, |seconds| Value::Integer(seconds.into())),
            Value::Bool(self.isolation == Isolation::Required),
        ]);
        hex::encode(&cbor::encode(&order))
    }

    /// The parent, the number of the status pipe there, and what the child is to be.
    fn from_order(order: &OsStr) -> Option<(i32, i32, Self)> {
        let value = cbor::decode(&hex::decode(order.to_str()?)?).ok()?;
        let [
            parent,
            status,
            program,
            arguments,
            directory,
            readable,
            size,
            cpu,
            required,
        ] = value.as_array()?
        else {
            return None;
        };
        let list = |value: &Value| value.as_array()?.iter().map(os).collect::<Option<Vec<_>>>();
        let spec = Self {
            program: os(program)?.into(),
            arguments: list(arguments)?,
            directory: os(directory)?.into(),
            readable: list(readable)?.into_iter().map(PathBuf::from).collect(),
            file_bytes: size.as_integer()?.try_into().ok()?,
            cpu_seconds: match cpu {
                Value::Null => None,
                seconds => Some(seconds.as_integer()?.try_into().ok()?),
            },
            isolation: if required.as_bool()? {
                Isolation::Required
            } else {
                Isolation::BestEffort
            },
        };
        Some((
            parent.as_integer()?.try_into().ok()?,
            status.as_integer()?.try_into().ok()?,
            spec,
        ))
    }
}

/// Runs the launcher mode when `arguments` (the program name first) ask for it; otherwise `None`.
///
/// On success this process becomes the program of the order, and the call does not return.
pub fn launcher_main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != LAUNCH_ARGUMENT {
        return None;
    }
    let Some((parent, status, spec)) = arguments
        .next()
        .and_then(|order| ChildSpec::from_order(&order))
    else {
        return Some(ExitCode::from(NOT_LAUNCHED));
    };
    // Without the runner nobody can be told, and without the pipe it sees a launcher that said nothing.
    if let Ok(status) = bind_to(parent).and_then(|()| open_status(parent, status)) {
        let Err(failure) = launch(&spec, &status);
        _ = rustix::io::write(&status, format!("failed {failure}\n").as_bytes());
    }
    Some(ExitCode::from(NOT_LAUNCHED))
}

/// What the launcher said on its pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaunchStatus {
    /// The isolation reached, when it came so far.
    pub(crate) level: Option<IsolationLevel>,
    /// Why the program was not executed.
    pub(crate) failure: Option<String>,
}

impl LaunchStatus {
    pub(crate) fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut status = Self {
            level: None,
            failure: None,
        };
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("level ") {
                status.level = IsolationLevel::from_name(name);
            } else if let Some(failure) = line.strip_prefix("failed ") {
                status.failure = Some(failure.to_owned());
            }
        }
        if status.level.is_none() && status.failure.is_none() {
            status.failure = Some("the launcher did not run".to_owned());
        }
        status
    }
}

/// Makes sure that this process dies with `parent`, which is still there.
fn bind_to(parent: i32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get()) == Some(parent) {
        Ok(())
    } else {
        Err(io::Error::other("the runner is gone"))
    }
}

/// The runner has marked the pipe close-on-exec, so it did not come here; it is opened anew through the
/// runner, which lives and holds it.
fn open_status(parent: i32, status: i32) -> io::Result<OwnedFd> {
    let path = format!("/proc/{parent}/fd/{status}");
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

fn launch(spec: &ChildSpec, status: &OwnedFd) -> Result<Infallible, String> {
    let step = |name: &'static str| move |error: io::Error| format!("{name}: {error}");
    close_on_exec().map_err(step("mark descriptors close-on-exec"))?;
    let level =
        sandbox::restrict(spec).map_err(|error| format!("apply Landlock rules: {error}"))?;
    rustix::io::write(status, format!("level {}\n", level.name()).as_bytes())
        .map_err(|error| step("report")(error.into()))?;
    if spec.isolation == Isolation::Required && level != IsolationLevel::Full {
        return Err(format!("isolation is only {}", level.name()));
    }
    sandbox::limit(spec).map_err(step("set resource limits"))?;
    Err(step("execute the program")(execute(spec)))
}

/// Only standard input, output and error may reach the program (P6, B32).
fn close_on_exec() -> io::Result<()> {
    for descriptor in numbers("/proc/self/fd")? {
        if descriptor > 2 {
            let flag = nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC);
            match nix::fcntl::fcntl(descriptor, flag) {
                // The listing names the descriptor of the listing itself, which is closed by now.
                Ok(_) | Err(nix::errno::Errno::EBADF) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

fn execute(spec: &ChildSpec) -> io::Error {
    let mut tries = 0;
    loop {
        let error = Command::new(&spec.program).args(&spec.arguments).exec();
        tries += 1;
        if error.kind() != io::ErrorKind::ExecutableFileBusy || tries == BUSY_TRIES {
            return error;
        }
        std::thread::sleep(BUSY_PAUSE);
    }
}

fn bytes(text: impl AsRef<OsStr>) -> Value {
    Value::Bytes(text.as_ref().as_bytes().to_vec())
}

fn os(value: &Value) -> Option<OsString> {
    Some(OsString::from_vec(value.as_bytes()?.to_vec()))
}
