// SPDX-License-Identifier: Apache-2.0
//! The rows of the host: what it costs beside the least that the same work can cost.

mod memory;
mod peer;
mod storage;

pub(crate) use peer::{dispatch_rate, echo};

use super::{Row, median, percentile};
use crate::{
    command::capture,
    job::{Failure, root, target},
    programs::{Built, Workshop},
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::frame,
};
use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};
use xtask::host::{
    Host,
    lane::{Context, Lane},
    requests::{self, bytes, member},
};

/// Round trips of one sample, and samples of a median.
const ROUND_TRIPS: u64 = 4_000;
const SAMPLES: usize = 5;

/// Every byte with every byte: the longest loop that the budget of the tour's lawpack holds.
const SPIN: &str = "package tour.spin@1;

use lawpack tour.kit@1 digest \"PIN\" as kit;

type Input = { text: Bytes<max=64> };
type Output = { sum: U64 };

intent spin(input: Input) returns Output
  profile kit.pure
  basis none
  budget <= kit.roomy
{
  let sum = for left in input.text bounded 64 with outer: U64 = 0 {
    let inner = for right in input.text bounded 64 with total: U64 = outer {
      yield default(checkedAdd(total, toU64(right)), 0);
    };
    yield inner;
  };
  return { sum };
}
";

/// The programs that are measured and the host that runs them.
#[derive(Debug)]
pub(super) struct Bench {
    host: std::path::PathBuf,
    /// On the disk whose speed the rows about storage are about.
    space: tempfile::TempDir,
    put: Built,
    choose: Built,
    spin: Built,
}

/// All rows of the host; `programs` holds a release build.
pub(crate) fn rows(programs: &Path) -> Result<Vec<Row>, Failure> {
    let workshop = Workshop::new(programs)?;
    workshop.add("spin", SPIN)?;
    let bench = Bench {
        host: programs.join("echo-host"),
        space: tempfile::tempdir_in(target()?)?,
        put: workshop.build("put")?,
        choose: workshop.build("choose-left")?,
        spin: workshop.build("spin")?,
    };
    let mut rows = bench.round_trips()?;
    rows.extend(bench.installing()?);
    rows.push(bench.stepping()?);
    rows.extend(bench.storage()?);
    rows.extend(state_root()?);
    rows.extend(bench.memory()?);
    Ok(rows)
}

/// The input of `put`.
fn note(key: u64) -> Vec<u8> {
    encode(&Value::text_map([
        ("key", Value::bytes(key.to_be_bytes())),
        ("count", Value::unsigned(key)),
        ("text", Value::bytes([0x2e; 64])),
    ]))
}

impl Bench {
    fn serve(&self) -> Result<Host, Failure> {
        Ok(Host::serve(&self.host, self.space.path())?)
    }

    /// A small pure invocation beside a process that only passes as many bytes.
    fn round_trips(&self) -> Result<Vec<Row>, Failure> {
        let mut host = self.serve()?;
        let (installation, lane) = volatile(&mut host, &self.choose)?;
        let input = encode(&Value::text_map([
            ("left", Value::unsigned(3)),
            ("right", Value::unsigned(3)),
        ]));
        let request = |host: &mut Host, id| {
            host.prepare(5, &lane.request(&installation, id, &Value::Null, &input))
        };
        let first = request(&mut host, u64::MAX)?;
        let received = host.exchange(&first)?;
        let mut peer = peer::Echo::start(first.len(), received)?;
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for id in 0..ROUND_TRIPS {
            let request = request(&mut host, id)?;
            let begin = Instant::now();
            host.exchange(&request)?;
            ours.push(begin.elapsed());
            let begin = Instant::now();
            peer.exchange()?;
            bare.push(begin.elapsed());
        }
        let row = |percent| {
            let name = format!("host: pure round trip, p{percent} us : bare pipe echo");
            let micros = |times: &[_]| percentile(times, percent).as_secs_f64() * 1e6;
            let limit = if percent == 50 { 6.0 } else { 8.0 };
            Row::at_most(&name, micros(&ours), micros(&bare), limit)
        };
        Ok(vec![row(50), row(95)])
    }

    /// Admission of a package that is new each time, because the policy is another one.
    fn installing(&self) -> Result<Vec<Row>, Failure> {
        let mut host = self.serve()?;
        let body = requests::install(&self.put.package, &self.put.report)?;
        let mut ours = Vec::new();
        for number in 0..200 {
            let body = with_steps(&body, 100_000 + number)?;
            let begin = Instant::now();
            host.ask(2, &body)?.ok(0x8002)?;
            ours.push(begin.elapsed());
        }
        let micros = |times: &[_]| percentile(times, 50).as_secs_f64() * 1e6;
        let mut items = vec![self.put.package.clone(), self.put.report.clone()];
        let outer = recoded(&items)?;
        items.extend(embedded(&self.put.package)?);
        let all = recoded(&items)?;
        let row = |what, bare| {
            let name = format!("host: install, p50 us : decode, encode and SHA-256 of {what}");
            Row::at_most(&name, micros(&ours), micros(bare), 4.0)
        };
        Ok(vec![
            row("package and report", &outer),
            row("package, report and embedded artifacts", &all),
        ])
    }

    /// Steps per second of a loop beside the smallest interpreter of the same number of steps.
    fn stepping(&self) -> Result<Row, Failure> {
        let mut host = self.serve()?;
        let (installation, lane) = volatile(&mut host, &self.spin)?;
        let input = encode(&Value::text_map([("text", Value::bytes([1; 64]))]));
        let mut rates = Vec::new();
        for id in 0..200 {
            let request = lane.request(&installation, id, &Value::Null, &input);
            let begin = Instant::now();
            let outcome = host.ask(5, &request)?.ok(0x8005)?;
            let seconds = begin.elapsed().as_secs_f64();
            rates.push(steps(&outcome)? / seconds / 1e6);
        }
        let (ours, bare) = (median(&mut rates), peer::dispatch_rate());
        let name = "host: million steps per second : minimal dispatch loop";
        Ok(Row::at_least(name, ours, bare, 1.0 / 12.0))
    }
}

/// The times in which these items are decoded, encoded and hashed, all of them each time.
fn recoded(items: &[Vec<u8>]) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    for _ in 0..200 {
        let begin = Instant::now();
        for bytes in items {
            let value = decode(bytes).map_err(|error| Failure::new(error.to_string()))?;
            black_box(encode(&value));
            black_box(frame("bench", bytes));
        }
        times.push(begin.elapsed());
    }
    Ok(times)
}

/// The artifacts inside a package, each of which admission has to decode and to hash as well.
fn embedded(package: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let package = decode(package).map_err(|error| Failure::new(error.to_string()))?;
    let mut items = Vec::new();
    for key in ["core", "targetIr", "projection"] {
        items.push(bytes(&member(&package, key)?, "bytes")?);
    }
    let lawpacks = member(&package, "lawpacks")?;
    for lawpack in lawpacks.as_array().unwrap_or_default() {
        items.push(bytes(&member(lawpack, "exports")?, "bytes")?);
    }
    Ok(items)
}

/// A volatile context with one program.
fn volatile(host: &mut Host, built: &Built) -> Result<(Value, Lane), Failure> {
    let installation = host.install(&built.package, &built.report)?;
    let context = Context {
        nonce: 1,
        name: None,
    };
    let body = context.open(false, std::slice::from_ref(&installation));
    Ok((installation, Lane::open(host, &body)?))
}

/// Consumed steps of an outcome.
fn steps(outcome: &Value) -> Result<f64, Failure> {
    let record = bytes(outcome, "record")?;
    let record = decode(&record).map_err(|error| Failure::new(error.to_string()))?;
    let steps = member(&member(&record, "consumed")?, "steps")?.as_u64();
    let steps = steps.and_then(|it| u32::try_from(it).ok());
    Ok(f64::from(steps.ok_or_else(|| Failure::new("no steps"))?))
}

/// An install body whose policy allows so many steps.
fn with_steps(body: &Value, steps: u64) -> Result<Value, Failure> {
    let policy = member(body, "policy")?;
    let budget = replace(
        &member(&policy, "maxBudget")?,
        "maxSteps",
        Value::unsigned(steps),
    );
    Ok(replace(
        body,
        "policy",
        replace(&policy, "maxBudget", budget),
    ))
}

fn replace(map: &Value, key: &str, new: Value) -> Value {
    let entries = map.as_map().unwrap_or_default().iter().cloned();
    let others = entries.filter(|(it, _)| it.as_text() != Some(key));
    Value::map(others.chain([(Value::text(key), new)]).collect())
}

/// The numbers that an example of the host prints: what no frame can show alone.
fn example<const N: usize>(name: &str, arguments: &[&str]) -> Result<[f64; N], Failure> {
    let mut command = vec![
        "run",
        "--quiet",
        "--release",
        "-p",
        "echo-host",
        "--example",
        name,
        "--",
    ];
    command.extend(arguments);
    let output = capture(&root(), Path::new(env!("CARGO")), &command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect();
    numbers
        .try_into()
        .map_err(|_| Failure::new(format!("the example printed `{text}`")))
}

/// The real store inside an example of the host.
fn state_root() -> Result<Vec<Row>, Failure> {
    let [bare, ten, thousand, many] = example("state_root", &[])?;
    let row = |atoms, ours| {
        let name = format!("host: state root beside {atoms} atoms, ns : two BLAKE3 outputs");
        Row::at_most(&name, ours, bare, 3.0)
    };
    Ok(vec![
        row("10", ten),
        row("1,000", thousand),
        row("60,000", many),
        Row::at_most(
            "host: state root beside 60,000 atoms, ns : beside 10",
            many,
            ten,
            1.5,
        ),
    ])
}
