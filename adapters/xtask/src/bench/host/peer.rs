// SPDX-License-Identifier: Apache-2.0
//! The least that the work of a host can cost, as other programs of the same machine do it.

use super::SAMPLES;
use crate::{bench::median, job::Failure};
use std::{
    hint::black_box,
    io::{BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

/// A process that answers so many bytes with so many others and does nothing else.
#[derive(Debug)]
pub(super) struct Echo {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Echo {
    /// Starts this program in its hidden mode.
    pub(super) fn start(sent: usize, received: usize) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["bench-echo", &sent.to_string(), &received.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::new("a child without pipes"));
        };
        let (request, reply) = (vec![0; sent], vec![0; received]);
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            request,
            reply,
        })
    }

    /// One round trip, read in the pieces in which the client of the host reads a frame.
    pub(super) fn exchange(&mut self) -> Result<(), Failure> {
        self.stdin.write_all(&self.request)?;
        let (header, rest) = self.reply.split_at_mut(20);
        self.stdout.read_exact(header)?;
        Ok(self.stdout.read_exact(rest)?)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The hidden mode: reads `sent` bytes, writes `received`, until its input ends.
pub(crate) fn echo(sent: &str, received: &str) -> Result<(), Failure> {
    let number = |text: &str| {
        text.parse::<usize>()
            .map_err(|_| Failure::new(format!("`{text}` is no number")))
    };
    let (mut request, reply) = (vec![0; number(sent)?], vec![0; number(received)?]);
    let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    while stdin.read_exact(&mut request).is_ok() {
        stdout.write_all(&reply)?;
        stdout.flush()?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Instruction {
    Add(u64),
    Mix(u64),
    Skip,
    Jump,
}

/// Million instructions per second of a loop that matches, counts and obeys a limit.
pub(crate) fn dispatch_rate() -> f64 {
    let program = black_box(vec![
        Instruction::Add(3),
        Instruction::Mix(5),
        Instruction::Skip,
        Instruction::Jump,
    ]);
    let limit = black_box(20_000_000_u32);
    let mut rates: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let begin = Instant::now();
            black_box(dispatch(&program, limit));
            f64::from(limit) / begin.elapsed().as_secs_f64() / 1e6
        })
        .collect();
    median(&mut rates)
}

fn dispatch(program: &[Instruction], limit: u32) -> u64 {
    let (mut value, mut at, mut steps) = (1_u64, 0, 0);
    while steps < limit {
        steps += 1;
        at += 1;
        match program.get(at - 1) {
            Some(Instruction::Add(by)) => value = value.wrapping_add(*by),
            Some(Instruction::Mix(by)) => value ^= value.rotate_left(7).wrapping_mul(*by),
            Some(Instruction::Skip) => {}
            Some(Instruction::Jump) | None => at = 0,
        }
    }
    value
}
