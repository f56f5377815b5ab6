// SPDX-License-Identifier: Apache-2.0
//! Memory and descriptors of a host beside the contexts it has open or had open.

use super::Bench;
use crate::{bench::Row, job::Failure};
use xtask::host::{
    Host,
    lane::{Context, Lane},
};

const IDLE: u32 = 64;
const CLOSED: u64 = 1_024;
/// Openings after which nothing may grow any more.
const WARM: u64 = 50;

impl Bench {
    /// Idle contexts, and contexts that were opened and closed.
    pub(super) fn memory(&self) -> Result<Vec<Row>, Failure> {
        let mut host = self.serve()?;
        open(&mut host, 1)?;
        let one = resident(&host)?;
        for nonce in 2..=u64::from(IDLE) {
            open(&mut host, nonce)?;
        }
        let idle = Row::at_most(
            "host: KiB of 64 idle contexts beyond one : 64 x 256 KiB",
            (resident(&host)? - one).max(0.0),
            f64::from(IDLE) * 256.0,
            1.0,
        );
        let mut host = self.serve()?;
        let (mut warm, mut files) = (0.0, 0.0);
        for nonce in 1..=CLOSED {
            let lane = open(&mut host, nonce)?;
            host.ask(8, &lane.close())?.ok(0x8008)?;
            if nonce == WARM {
                (warm, files) = (resident(&host)?, descriptors(&host)?);
            }
        }
        Ok(vec![
            idle,
            Row::at_most(
                "host: KiB after 1,024 closed contexts : after 50",
                resident(&host)?,
                warm,
                1.1,
            ),
            Row::at_most(
                "host: descriptors after 1,024 closed contexts : after 50",
                descriptors(&host)?,
                files,
                1.0,
            ),
        ])
    }
}

fn open(host: &mut Host, nonce: u64) -> Result<Lane, Failure> {
    let body = Context { nonce, name: None }.open(false, &[]);
    Ok(Lane::open(host, &body)?)
}

/// Resident memory in KiB.
fn resident(host: &Host) -> Result<f64, Failure> {
    let status = std::fs::read_to_string(host.proc().join("status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|it| it.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| Failure::new("no resident memory in /proc"))
}

fn descriptors(host: &Host) -> Result<f64, Failure> {
    let count = std::fs::read_dir(host.proc().join("fd"))?.count();
    Ok(u32::try_from(count).map_or(f64::MAX, f64::from))
}
