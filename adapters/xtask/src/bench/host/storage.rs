// SPDX-License-Identifier: Apache-2.0
//! Settlements beside bare synced writes, and recovery beside reading and hashing.

use super::{Bench, SAMPLES, note};
use crate::{
    bench::{Row, median},
    host::lane::{Context, Lane, bytes, install, member},
    job::Failure,
};
use edict_codec::{
    cbor::{Value, decode},
    digest::derive,
};
use std::{fs::File, hint::black_box, io::Write as _, path::Path, time::Instant};

/// Settlements of one sample.
const SETTLED: u32 = 1_000;

impl Bench {
    /// Both rows about the log.
    pub(super) fn storage(&self) -> Result<Vec<Row>, Failure> {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        let mut log = self.space.path().join("0/wal.log");
        for sample in 0..SAMPLES {
            let name = sample.to_string();
            let (rate, length) = self.settle(&name)?;
            log = self.space.path().join(name).join("wal.log");
            ours.push(rate);
            bare.push(self.write(length)?);
        }
        let settling = Row::at_least(
            "host: settled invocations per second : write and fdatasync of the same bytes",
            median(&mut ours),
            median(&mut bare),
            0.6,
        );
        Ok(vec![settling, self.recovering(&log)?])
    }

    /// Settlements per second, and the bytes that one appends.
    fn settle(&self, name: &str) -> Result<(f64, usize), Failure> {
        let mut host = self.serve()?;
        let installation = install(&mut host, &self.put)?;
        let context = named(name);
        let mut lane = Lane::open(
            &mut host,
            &context.open("create", std::slice::from_ref(&installation)),
        )?;
        let file = self.space.path().join(name).join("wal.log");
        let before = length(&file)?;
        let begin = Instant::now();
        for id in 0..u64::from(SETTLED) {
            let request = lane.request(&installation, id, &lane.basis, &note(id));
            let outcome = host.ask(5, &request)?.ok(0x8005)?;
            let record = decode(&bytes(&outcome, "record")?)
                .map_err(|error| Failure::new(error.to_string()))?;
            if record.get("posture").and_then(Value::as_text) != Some("settled") {
                return Err(Failure::new("an invocation did not settle"));
            }
            lane.basis = member(&record, "after")?;
        }
        let rate = f64::from(SETTLED) / begin.elapsed().as_secs_f64();
        let grown = length(&file)?.saturating_sub(before) / u64::from(SETTLED);
        Ok((rate, usize::try_from(grown).unwrap_or(0)))
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

    /// Opening a written log beside reading and hashing its bytes.
    fn recovering(&self, log: &Path) -> Result<Row, Failure> {
        let name = log
            .parent()
            .and_then(Path::file_name)
            .and_then(|it| it.to_str());
        let context = named(name.unwrap_or_default());
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            let mut host = self.serve()?;
            let installation = install(&mut host, &self.put)?;
            let body = context.open("recover", &[installation]);
            let begin = Instant::now();
            Lane::open(&mut host, &body)?;
            ours.push(begin.elapsed().as_secs_f64() * 1e3);
            let begin = Instant::now();
            black_box(derive("bench", &std::fs::read(log)?));
            bare.push(begin.elapsed().as_secs_f64() * 1e3);
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

fn named(name: &str) -> Context {
    Context {
        nonce: 1,
        name: Some(name.to_owned()),
    }
}

fn length(file: &Path) -> Result<u64, Failure> {
    Ok(std::fs::metadata(file)?.len())
}
