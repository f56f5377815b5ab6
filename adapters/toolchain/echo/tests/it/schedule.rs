// SPDX-License-Identifier: Apache-2.0
//! Section 1.5: which requests may overlap, and when reading waits.

use echo_host::{
    process::schedule::{End, Job, Next, Schedule, Ticket},
    refusal::Refusal,
    wire::request::{Recall, Request},
};
use edict_codec::digest::{Algorithm, TypedDigest};

fn job(sequence: u64, request: Result<Request, Refusal>) -> Job {
    Job {
        sequence,
        bytes: 1_048_576,
        request,
    }
}

fn of_context(sequence: u64, context: u8) -> Job {
    let recall = Recall {
        worldline: TypedDigest::new("echo/worldline/v1", Algorithm::Blake3, [context; 32]),
        invocation: [0; 32],
    };
    job(sequence, Ok(Request::Recall(recall)))
}

fn alone(sequence: u64) -> Job {
    job(sequence, Ok(Request::Shutdown))
}

/// The sequence that may start now.
fn start(schedule: &mut Schedule) -> Option<(u64, Ticket)> {
    match schedule.start() {
        Next::Run(job, ticket) => Some((job.sequence, ticket)),
        Next::Wait | Next::Leave => None,
    }
}

#[test]
fn contexts_overlap_and_each_keeps_its_order() {
    let mut schedule = Schedule::default();
    for (sequence, context) in [(1, 1), (2, 1), (3, 2), (4, 1)] {
        schedule.push(of_context(sequence, context));
    }
    let (first, of_first) = start(&mut schedule).unwrap();
    let (second, of_second) = start(&mut schedule).unwrap();
    assert_eq!((first, second), (1, 3));
    assert!(start(&mut schedule).is_none());
    schedule.finish(&of_first);
    let (third, of_third) = start(&mut schedule).unwrap();
    assert_eq!(third, 2);
    schedule.finish(&of_second);
    assert!(start(&mut schedule).is_none());
    schedule.finish(&of_third);
    assert_eq!(start(&mut schedule).unwrap().0, 4);
}

#[test]
fn what_runs_alone_waits_for_all_and_holds_all_back() {
    let mut schedule = Schedule::default();
    schedule.push(of_context(1, 1));
    schedule.push(alone(2));
    schedule.push(of_context(3, 2));
    schedule.push(job(4, Err(Refusal::new("malformed-body", ""))));
    let (first, of_first) = start(&mut schedule).unwrap();
    assert_eq!(first, 1);
    assert!(start(&mut schedule).is_none());
    schedule.finish(&of_first);
    let (second, of_second) = start(&mut schedule).unwrap();
    assert_eq!(second, 2);
    assert!(start(&mut schedule).is_none());
    schedule.finish(&of_second);
    assert_eq!(start(&mut schedule).unwrap().0, 3);
    assert_eq!(start(&mut schedule).unwrap().0, 4);
}

#[test]
fn workers_leave_when_all_is_answered() {
    let mut schedule = Schedule::default();
    assert!(matches!(schedule.start(), Next::Wait));
    schedule.push(of_context(1, 1));
    schedule.end = Some(End::Orderly);
    assert_eq!(start(&mut schedule).unwrap().0, 1);
    assert!(matches!(schedule.start(), Next::Leave));
}

#[test]
fn reading_waits_at_64_requests_or_32_mebibytes() {
    let mut schedule = Schedule::default();
    for sequence in 0..32 {
        assert!(schedule.may_read(), "{sequence}");
        schedule.push(of_context(sequence, 1));
    }
    assert!(!schedule.may_read());
    let (_, ticket) = start(&mut schedule).unwrap();
    assert!(!schedule.may_read());
    schedule.finish(&ticket);
    assert!(schedule.may_read());

    let mut schedule = Schedule::default();
    for sequence in 0..64 {
        assert!(schedule.may_read(), "{sequence}");
        schedule.push(Job {
            bytes: 1,
            ..of_context(sequence, 1)
        });
    }
    assert!(!schedule.may_read());
}
