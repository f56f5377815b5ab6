// SPDX-License-Identifier: Apache-2.0
//! Settlements beside bare synced writes, and recovery beside reading and hashing.

use super::{Bench, SAMPLES, example, note};
use crate::{
    bench::{Row, median},
    job::Failure,
};
use edict_codec::{
    cbor::{Value, decode},
    digest::derive,
};
use std::{
    fs::File,
    hint::black_box,
    io::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};
use xtask::host::{
    Host,
    lane::{Context, Lane},
    requests::{bytes, member},
};

/// Settlements of one sample.
const SETTLED: u32 = 1_000;

/// A history that was settled once and judged, so that it can be settled again with nothing but
/// the host at work: nonce and subject are the same, and with them every byte of every request.
struct Recorded {
    requests: Vec<Value>,
    /// The log it left.
    log: Vec<u8>,
}

impl Bench {
    /// The rows about the log.
    pub(super) fn storage(&self) -> Result<Vec<Row>, Failure> {
        let recorded = self.record()?;
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for sample in 0..SAMPLES {
            let name = sample.to_string();
            let (rate, length) = self.settle(&recorded, &name)?;
            ours.push(rate);
            bare.push(self.write(length)?);
        }
        let settling = Row::at_least(
            "host: settled invocations per second : write and fdatasync of the same bytes",
            median(&mut ours),
            median(&mut bare),
            0.6,
        );
        Ok(vec![settling, self.log_alone()?, self.recovering()?])
    }

    /// Settles the history once, outcome by outcome.
    fn record(&self) -> Result<Recorded, Failure> {
        let (mut host, installation, mut lane) = self.created("recorded")?;
        let mut requests = Vec::new();
        for id in 0..u64::from(SETTLED) {
            let request = lane.request(&installation, id, &lane.basis, &note(id));
            let outcome = host.ask(5, &request)?.ok(0x8005)?;
            let record = decode(&bytes(&outcome, "record")?)
                .map_err(|error| Failure::new(error.to_string()))?;
            if record.get("posture").and_then(Value::as_text) != Some("settled") {
                return Err(Failure::new("an invocation did not settle"));
            }
            lane.basis = member(&record, "after")?;
            requests.push(request);
        }
        Ok(Recorded {
            requests,
            log: std::fs::read(self.log("recorded"))?,
        })
    }

    /// Settlements per second, and the bytes that one appends.
    fn settle(&self, recorded: &Recorded, name: &str) -> Result<(f64, usize), Failure> {
        let (mut host, _, _) = self.created(name)?;
        let before = std::fs::metadata(self.log(name))?.len();
        let mut frames = Vec::new();
        for request in &recorded.requests {
            frames.push(host.prepare(5, request)?);
        }
        let begin = Instant::now();
        for frame in &frames {
            host.exchange(frame)?;
        }
        let rate = f64::from(SETTLED) / begin.elapsed().as_secs_f64();
        let log = std::fs::read(self.log(name))?;
        if log != recorded.log {
            return Err(Failure::new("the same requests left another log"));
        }
        let grown = (log.len() as u64).saturating_sub(before) / u64::from(SETTLED);
        Ok((rate, usize::try_from(grown).unwrap_or(0)))
    }

    /// A new durable context that may settle notes.
    fn created(&self, name: &str) -> Result<(Host, Value, Lane), Failure> {
        let mut host = self.serve()?;
        let installation = host.install(&self.put.package, &self.put.report)?;
        let body = named(name).open(false, std::slice::from_ref(&installation));
        let lane = Lane::open(&mut host, &body)?;
        Ok((host, installation, lane))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.space.path().join(name).join("wal.log")
    }

    /// Writes of so many bytes that are synced one by one, per second.
    fn write(&self, length: usize) -> Result<f64, Failure> {
        let path = self.space.path().join("bare");
        let (mut file, block) = (File::create(&path)?, vec![0x2e; length]);
        let begin = Instant::now();
        for _ in 0..SETTLED {
            file.write_all(&block)?;
            file.sync_data()?;
        }
        Ok(f64::from(SETTLED) / begin.elapsed().as_secs_f64())
    }

    /// The log code without evaluation, evidence and pipes: an example of the host, which appends
    /// to a real log, beside bare writes of the same bytes by the same program.
    fn log_alone(&self) -> Result<Row, Failure> {
        let directory = self.space.path().join("alone");
        std::fs::create_dir(&directory)?;
        let [ours, bare] = example("log", &[&directory.to_string_lossy()])?;
        Ok(Row::at_least(
            "host: appends of the log code alone per second : write and fdatasync of the same bytes",
            ours,
            bare,
            0.75,
        ))
    }

    /// Opening a written log beside reading and hashing its bytes.
    fn recovering(&self) -> Result<Row, Failure> {
        let log = self.log("recorded");
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            let mut host = self.serve()?;
            let installation = host.install(&self.put.package, &self.put.report)?;
            let body = named("recorded").open(true, &[installation]);
            let begin = Instant::now();
            Lane::open(&mut host, &body)?;
            ours.push(begin.elapsed().as_secs_f64() * 1e3);
            bare.push(hashed(&log)?);
        }
        let name = "host: recovery of 1,000 settlements, ms : reading and hashing the same bytes";
        Ok(Row::at_most(
            name,
            median(&mut ours),
            median(&mut bare),
            5.0,
        ))
    }
}

/// Milliseconds of reading and hashing a file.
fn hashed(log: &Path) -> Result<f64, Failure> {
    let begin = Instant::now();
    black_box(derive("bench", &std::fs::read(log)?));
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

fn named(name: &str) -> Context {
    Context {
        nonce: 1,
        name: Some(name.to_owned()),
    }
}
