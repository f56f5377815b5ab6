// SPDX-License-Identifier: Apache-2.0
//! The row of Jim: one edit of half a full buffer, through the release host.

use super::{Row, host::dispatch_rate, median};
use crate::job::Failure;
use std::{collections::BTreeMap, time::Instant};
use xtask::{
    host::{Host, requests::member},
    jim::{
        home,
        lane::Ended,
        model::{Edit, Fact, judge},
        random::Buffer,
        story, suite,
        toolchain::Tools,
    },
};

/// Bytes of the edit, and of the other half.
const HALF: usize = 32_768;

/// Time and steps of the edit beside as many steps of the smallest interpreter.
pub(crate) fn rows() -> Result<Vec<Row>, Failure> {
    let tools = Tools::beside_this()?;
    let space = tempfile::tempdir()?;
    let programs = space.path().join("programs");
    suite::copy(&home().join("programs"), &programs)?;
    let mut built = BTreeMap::new();
    for name in ["create-buffer", "replace-range"] {
        built.insert(name.to_owned(), tools.build(&programs, name)?);
    }
    let mut host = Host::serve(&tools.path("echo-host"), space.path())?;
    let mut buffer = Buffer::create(&mut host, &built, 1, &"a\n".repeat(HALF))?;
    let (mut times, mut steps) = (Vec::new(), 0.0);
    for letter in ["b\n", "c\n", "d\n", "e\n", "f\n"] {
        let (ended, milliseconds) = edit(&mut host, &mut buffer, letter)?;
        steps = consumed(&ended)?;
        times.push(milliseconds);
    }
    let name = format!(
        "jim: ms of an edit of {HALF} bytes in {}, {steps} steps : a minimal dispatch loop",
        2 * HALF
    );
    // The same distance from the smallest interpreter as the row of the host about steps.
    let bare = steps / dispatch_rate() / 1e3;
    Ok(vec![Row::at_most(&name, median(&mut times), bare, 12.0)])
}

/// Replaces the first half and holds the outcome against the oracle.
fn edit(host: &mut Host, buffer: &mut Buffer, letter: &str) -> Result<(Ended, f64), Failure> {
    let edit = Edit {
        start: 0,
        end: HALF as u64,
        replacement: letter.repeat(HALF / 2).into_bytes(),
    };
    let basis = story::current(&buffer.id, &buffer.fact);
    let step = story::replace(&buffer.id, &basis, &edit);
    let begun = Instant::now();
    let ended = buffer.lane.run(host, &step)?;
    let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
    let expected = judge(&buffer.fact, true, &edit);
    buffer.compare(&ended, &expected)?;
    let state = expected.map_err(|it| Failure::new(it.coordinate))?;
    buffer.fact = Fact::Buffer(state);
    Ok((ended, milliseconds))
}

fn consumed(ended: &Ended) -> Result<f64, Failure> {
    let steps = member(&member(&ended.record, "consumed")?, "steps")?.as_u64();
    let steps = steps.and_then(|it| u32::try_from(it).ok());
    Ok(f64::from(steps.ok_or_else(|| Failure::new("no steps"))?))
}
