// SPDX-License-Identifier: Apache-2.0
//! Section 1.5: which requests may overlap, who reads, and when reading waits.

use echo_host::{
    process::schedule::{Arrival, End, Job, Next, Schedule, Stop, Ticket},
    refusal::Refusal,
    wire::{
        frame::Fault,
        request::{Recall, Request},
    },
};
use edict_codec::digest::{Algorithm, TypedDigest};
use std::num::NonZeroUsize;

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

fn schedule(workers: usize) -> Schedule {
    Schedule::new(NonZeroUsize::new(workers).unwrap())
}

fn arrive(schedule: &mut Schedule, job: Job) {
    schedule.take(Arrival::Job(job));
}

/// The sequence that may start now.
fn start(schedule: &mut Schedule) -> Option<(u64, Ticket)> {
    match schedule.choose() {
        Next::Run(job, ticket) => Some((job.sequence, ticket)),
        Next::Read | Next::Wait | Next::Leave => None,
    }
}

#[test]
fn contexts_overlap_and_each_keeps_its_order() {
    let mut schedule = schedule(4);
    for (sequence, context) in [(1, 1), (2, 1), (3, 2), (4, 1)] {
        arrive(&mut schedule, of_context(sequence, context));
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
    let mut schedule = schedule(4);
    arrive(&mut schedule, of_context(1, 1));
    arrive(&mut schedule, alone(2));
    arrive(&mut schedule, of_context(3, 2));
    let refused = Err(Refusal::new("malformed-body", ""));
    arrive(&mut schedule, job(4, refused));
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
fn no_more_requests_run_than_there_are_workers() {
    let mut schedule = schedule(2);
    for (sequence, context) in [(1, 1), (2, 2), (3, 3)] {
        arrive(&mut schedule, of_context(sequence, context));
    }
    let (_, of_first) = start(&mut schedule).unwrap();
    assert_eq!(start(&mut schedule).unwrap().0, 2);
    assert!(start(&mut schedule).is_none());
    schedule.finish(&of_first);
    assert_eq!(start(&mut schedule).unwrap().0, 3);
}

#[test]
fn one_thread_reads_and_only_when_nothing_can_be_started() {
    let mut schedule = schedule(1);
    assert!(matches!(schedule.choose(), Next::Read));
    assert!(matches!(schedule.choose(), Next::Wait));
    arrive(&mut schedule, of_context(1, 1));
    let (_, ticket) = start(&mut schedule).unwrap();
    assert!(matches!(schedule.choose(), Next::Read));
    arrive(&mut schedule, of_context(2, 1));
    assert!(matches!(schedule.choose(), Next::Read));
    schedule.take(Arrival::Nothing);
    schedule.finish(&ticket);
    assert_eq!(start(&mut schedule).unwrap().0, 2);
}

#[test]
fn threads_leave_when_all_is_answered() {
    let mut schedule = schedule(1);
    arrive(&mut schedule, of_context(1, 1));
    schedule.take(Arrival::End(End::Orderly));
    let (_, ticket) = start(&mut schedule).unwrap();
    assert!(matches!(schedule.choose(), Next::Leave));
    assert!(!schedule.is_over());
    schedule.finish(&ticket);
    assert!(schedule.is_over());
    assert!(matches!(schedule.ending(), (None, Some(End::Orderly))));
}

#[test]
fn nothing_is_read_after_a_shutdown() {
    let mut schedule = schedule(1);
    arrive(&mut schedule, of_context(1, 1));
    arrive(&mut schedule, alone(2));
    let (_, first) = start(&mut schedule).unwrap();
    assert!(matches!(schedule.choose(), Next::Wait));
    schedule.finish(&first);
    let (second, _) = start(&mut schedule).unwrap();
    assert_eq!(second, 2);
    assert!(matches!(schedule.choose(), Next::Leave));
}

#[test]
fn a_stop_leaves_what_waits_and_what_is_broken_comes_first() {
    let mut schedule = schedule(1);
    arrive(&mut schedule, of_context(1, 1));
    schedule.stop(Stop::Closed);
    assert!(matches!(schedule.choose(), Next::Leave));
    assert!(schedule.is_over());
    schedule.take(Arrival::Broken(Fault::new("internal", "", 0)));
    schedule.stop(Stop::Closed);
    assert!(matches!(schedule.ending(), (Some(Stop::Broken(_)), None)));
}

#[test]
fn reading_waits_at_64_requests_or_32_mebibytes() {
    for (bytes, limit) in [(1_048_576, 32), (1, 64)] {
        let mut schedule = schedule(1);
        let job = |sequence| Job {
            bytes,
            ..of_context(sequence, 1)
        };
        arrive(&mut schedule, job(0));
        let (_, ticket) = start(&mut schedule).unwrap();
        for sequence in 1..limit {
            assert!(matches!(schedule.choose(), Next::Read), "{sequence}");
            arrive(&mut schedule, job(sequence));
        }
        assert!(matches!(schedule.choose(), Next::Wait), "{limit}");
        schedule.finish(&ticket);
        let (_, ticket) = start(&mut schedule).unwrap();
        assert!(matches!(schedule.choose(), Next::Read), "{limit}");
        arrive(&mut schedule, job(limit));
        assert!(matches!(schedule.choose(), Next::Wait), "{limit}");
        schedule.finish(&ticket);
    }
}
