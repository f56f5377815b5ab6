// SPDX-License-Identifier: Apache-2.0
//! One trial per promise.

use crate::support::{Space, is_alive, patient, read, trials, within, write};
use edict_test_process::{
    ChildSpec, Deadline, Isolation, IsolationLevel, Outcome, OwnedChild, ToolStage, Watch, probe,
    run,
};
use std::{cell::Cell, fs};

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    trials![
        a_program_gets_input_and_gives_output_and_code,
        the_environment_is_exactly_the_fixed_one,
        the_working_directory_is_private_and_empty,
        b32_only_three_descriptors_reach_the_program,
        b25_a_flood_is_drained_and_bounded,
        a_small_stream_is_kept_whole,
        b31_a_deadline_kills_descendants_in_other_sessions,
        b32_a_background_child_does_not_delay_the_end,
        a_program_that_ignores_term_is_killed,
        a_stop_ends_the_wait,
        death_by_a_signal_is_told,
        a_missing_program_is_not_launched,
        a_file_without_permission_is_not_launched,
        the_file_size_limit_is_enforced,
        the_limits_are_those_of_the_contract,
        files_outside_are_out_of_reach,
        staged_inputs_are_read_only,
        full_isolation_is_reached_here_and_probed,
        other_arguments_are_not_for_the_launcher,
        a_broken_order_starts_nothing,
        a_staged_tool_is_sealed_and_runs,
        a_diagnostic_names_code_or_signal,
    ]
}

fn a_program_gets_input_and_gives_output_and_code() {
    let space = Space::new("#!/bin/sh\ncat; echo done >&2; exit 7\n");
    let ended = space.run(b"hello\n");
    assert_eq!(ended.outcome, Outcome::Exited(7));
    assert_eq!(ended.stdout.complete().unwrap(), b"hello\n");
    assert_eq!(ended.stderr.complete().unwrap(), b"done\n");
    // Strays are those of all trials at once.
    assert_eq!(ended.survivors, 0);
}

fn the_environment_is_exactly_the_fixed_one() {
    let space = Space::new(
        "#!/usr/bin/python3\nimport os\nfor name in os.environ: print(name + '=' + os.environ[name])\n",
    );
    let ended = space.run(b"");
    let directory = space.directory().display();
    let text = String::from_utf8(ended.stdout.complete().unwrap()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let home = format!("HOME={directory}");
    let temporary = format!("TMPDIR={directory}");
    let expected = ["LANG=C.UTF-8", "LC_ALL=C.UTF-8", &temporary, "TZ=UTC0"];
    assert_eq!(lines, [[home.as_str()].as_slice(), &expected].concat());
}

fn the_working_directory_is_private_and_empty() {
    let space = Space::new("#!/bin/sh\n/bin/pwd; /bin/ls -A\n");
    let ended = space.run(b"");
    let text = String::from_utf8(ended.stdout.complete().unwrap()).unwrap();
    assert_eq!(text, format!("{}\n", space.directory().display()));
}

fn b32_only_three_descriptors_reach_the_program() {
    // A descriptor that a careless caller of the runner left open.
    let leaked = rustix::fs::open(
        "/dev/null",
        rustix::fs::OFlags::RDONLY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    let space = Space::new(
        "#!/usr/bin/python3\nimport os\nfor n in range(256):\n  try:\n    os.fstat(n); print(n)\n  except OSError: pass\n",
    );
    let ended = space.run(b"");
    drop(leaked);
    assert_eq!(
        String::from_utf8(ended.stdout.complete().unwrap()).unwrap(),
        "0\n1\n2\n",
    );
}

fn b25_a_flood_is_drained_and_bounded() {
    let space = Space::new(
        "#!/usr/bin/python3\nimport sys\nfor _ in range(300): sys.stderr.buffer.write(b'x' * 1048576)\nsys.stderr.write('END')\nsys.exit(1)\n",
    );
    let ended = space.run(b"");
    assert_eq!(ended.outcome, Outcome::Exited(1));
    assert_eq!(ended.stderr.total(), 300 * 1_048_576 + 3);
    assert!(ended.stderr.is_truncated());
    assert_eq!(ended.stderr.complete(), None);
    assert_eq!(ended.stderr.head(), vec![b'x'; 65_536]);
    assert_eq!(ended.stderr.tail().len(), 65_536);
    assert!(ended.stderr.tail().ends_with(b"xEND"));
}

fn a_small_stream_is_kept_whole() {
    for size in [65_535, 65_536, 65_537, 131_072, 131_073] {
        let space = Space::new("#!/bin/sh\nexec cat\n");
        let input: Vec<u8> = (0..size).map(|at: u32| at.to_le_bytes()[0]).collect();
        let ended = space.run(&input);
        assert_eq!(ended.stdout.total(), u64::from(size));
        assert_eq!(ended.stdout.is_truncated(), size > 131_072);
        assert_eq!(ended.stdout.complete(), (size <= 131_072).then_some(input));
    }
}

/// Leaves a descendant behind in a session of its own. It is adopted only once it has told its number:
/// from then on the sweep of any trial may end it.
pub(crate) const ORPHAN: &str = "#!/usr/bin/python3
import os, signal, time
def wait():
    while not os.path.exists('started'): time.sleep(0.01)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open('started.part', 'w').write(str(os.getpid()))
        os.rename('started.part', 'started')
        while True: time.sleep(1)
    wait()
    os._exit(0)
wait()
";

fn stat_of_orphan(space: &Space) -> String {
    fs::read_to_string(format!("/proc/{}/stat", space.read("started"))).unwrap_or_default()
}

fn b31_a_deadline_kills_descendants_in_other_sessions() {
    let space = Space::new(&format!("{ORPHAN}time.sleep(1000)\n"));
    let child = OwnedChild::spawn(&space.spec()).unwrap();
    while !space.directory().join("started").exists() {
        assert!(!child.has_output(), "the program failed");
    }
    let stat = stat_of_orphan(&space);
    // Another trial's sweep may have taken it already; then there is nothing left to check.
    let ended = child.finish(50);
    assert_eq!(ended.outcome, Outcome::Killed);
    assert_eq!(ended.survivors, 0);
    assert!(stat.is_empty() || !is_alive(&stat));
}

fn b32_a_background_child_does_not_delay_the_end() {
    let space = Space::new(&format!("{ORPHAN}print('over', flush=True)\n"));
    let ended = space.run(b"");
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert_eq!(ended.stdout.complete().unwrap(), b"over\n");
    assert_eq!(ended.survivors, 0);
    let pid = space.read("started");
    assert!(
        fs::read_to_string(format!("/proc/{pid}/cmdline")).map_or(true, |command| !command
            .contains(&*space.program().to_string_lossy()))
    );
}

fn a_program_that_ignores_term_is_killed() {
    let space = Space::new("#!/bin/sh\ntrap '' TERM HUP INT\nwhile :; do :; done\n");
    let ended = run(&space.spec(), b"", within(100)).unwrap();
    assert_eq!(ended.outcome, Outcome::TimedOut);
    assert_eq!(ended.survivors, 0);
}

fn a_stop_ends_the_wait() {
    let space = Space::new("#!/bin/sh\nwhile :; do :; done\n");
    let polls = Cell::new(0);
    let stop = || {
        polls.set(polls.get() + 1);
        polls.get() > 3
    };
    let watch = Watch {
        deadline: Deadline::after_ms(30_000),
        stop: &stop,
    };
    let ended = run(&space.spec(), b"", watch).unwrap();
    assert_eq!(ended.outcome, Outcome::Stopped);
}

fn death_by_a_signal_is_told() {
    let space = Space::new("#!/bin/sh\necho before; kill -SEGV $$\n");
    let ended = space.run(b"");
    assert_eq!(ended.outcome, Outcome::Signaled(11));
    assert_eq!(ended.stdout.complete().unwrap(), b"before\n");
}

fn a_missing_program_is_not_launched() {
    let space = Space::new("");
    let spec = ChildSpec {
        program: space.root().join("tools/absent"),
        ..space.spec()
    };
    let Outcome::NotLaunched(reason) = run(&spec, b"", patient()).unwrap().outcome else {
        panic!("it was launched");
    };
    assert!(
        reason.starts_with("execute the program: No such file"),
        "{reason}"
    );
}

fn a_file_without_permission_is_not_launched() {
    let space = Space::new("#!/bin/sh\n");
    let mut permissions = fs::metadata(space.program()).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o400);
    fs::set_permissions(space.program(), permissions).unwrap();
    let Outcome::NotLaunched(reason) = space.run(b"").outcome else {
        panic!("it was launched");
    };
    assert!(reason.contains("Permission denied"), "{reason}");
}

fn the_file_size_limit_is_enforced() {
    let script = "#!/usr/bin/python3\nimport signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nf = open('f', 'wb', buffering=0)\nf.write(b'x' * 4096)\nprint('kept', flush=True)\nf.write(b'x')\nprint('beyond', flush=True)\n";
    let space = Space::new(script);
    let spec = ChildSpec {
        file_bytes: 4096,
        ..space.spec()
    };
    let ended = run(&spec, b"", patient()).unwrap();
    assert_eq!(ended.stdout.complete().unwrap(), b"kept\n");
    assert!(ended.hit_file_limit());
    assert_eq!(
        fs::metadata(space.directory().join("f")).unwrap().len(),
        4096
    );
    let spec = ChildSpec {
        file_bytes: 4097,
        ..space.spec()
    };
    let ended = run(&spec, b"", patient()).unwrap();
    assert_eq!(ended.stdout.complete().unwrap(), b"kept\nbeyond\n");
    assert!(!ended.hit_file_limit());
}

fn the_limits_are_those_of_the_contract() {
    let space = Space::new(
        "#!/usr/bin/python3\nfrom resource import *\nprint(*[getrlimit(r)[0] for r in (RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CPU)])\n",
    );
    let spec = ChildSpec {
        file_bytes: 12_345,
        cpu_seconds: Some(31),
        ..space.spec()
    };
    let ended = run(&spec, b"", patient()).unwrap();
    assert_eq!(ended.stdout.complete().unwrap(), b"0 256 12345 31\n");
}

fn files_outside_are_out_of_reach() {
    let space = Space::new("");
    let outside = space.root().join("outside");
    write(&outside, "secret");
    let script = format!(
        "#!/bin/sh\ncat {outside}; echo x > {outside}; echo x > {root}/new; echo x > $HOME/own; cat $HOME/own; cat /etc/passwd; ls {root}; ls /proc; rm {outside}; exit 0\n",
        outside = outside.display(),
        root = space.root().display(),
    );
    let space_two = Space::new(&script);
    let ended = space_two.run(b"");
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert_eq!(ended.isolation, Some(IsolationLevel::Full));
    assert_eq!(ended.stdout.complete().unwrap(), b"x\n");
    assert_eq!(read(&outside), b"secret");
    assert!(!space.root().join("new").exists());
}

fn staged_inputs_are_read_only() {
    let space = Space::new("");
    let staged = space.root().join("staged");
    fs::create_dir(&staged).unwrap();
    write(&staged.join("input"), "bytes");
    let path = staged.display();
    let space = Space::new(&format!(
        "#!/bin/sh\ncat {path}/input; echo x > {path}/input; echo x > {path}/new\n"
    ));
    let spec = ChildSpec {
        readable: vec![staged.clone()],
        ..space.spec()
    };
    let ended = run(&spec, b"", patient()).unwrap();
    assert_eq!(ended.stdout.complete().unwrap(), b"bytes");
    assert_eq!(read(&staged.join("input")), b"bytes");
    assert!(!staged.join("new").exists());
}

fn full_isolation_is_reached_here_and_probed() {
    let space = Space::new(
        "#!/usr/bin/python3\nimport socket\ns = socket.socket()\ntry:\n  s.bind(('127.0.0.1', 0)); print('bound')\nexcept PermissionError: print('denied')\n",
    );
    let spec = ChildSpec {
        isolation: Isolation::Required,
        ..space.spec()
    };
    let ended = run(&spec, b"", patient()).unwrap();
    let level = probe();
    assert_eq!(ended.isolation, Some(level));
    if level == IsolationLevel::Full {
        assert_eq!(ended.stdout.complete().unwrap(), b"denied\n");
    } else {
        let expected = format!("isolation is only {}", level.name());
        assert_eq!(ended.outcome, Outcome::NotLaunched(expected));
    }
}

fn other_arguments_are_not_for_the_launcher() {
    for arguments in [
        vec![],
        vec!["edict-test"],
        vec!["edict-test", "--suite", "__launch"],
    ] {
        let code = edict_test_process::launcher_main(arguments.iter().map(Into::into));
        assert!(code.is_none(), "{arguments:?}");
    }
}

fn a_broken_order_starts_nothing() {
    for order in [None, Some("zz"), Some("80"), Some("f6")] {
        let mut arguments = vec!["edict-test", "__launch"];
        arguments.extend(order);
        let code = edict_test_process::launcher_main(arguments.iter().map(Into::into));
        assert!(code.is_some(), "{order:?}");
    }
}

fn a_staged_tool_is_sealed_and_runs() {
    let space = Space::new("");
    let programs = [
        ("compiler", b"#!/bin/sh\necho staged\n".as_slice()),
        ("host", b"x"),
    ];
    let mut stage = ToolStage::create(space.root()).unwrap();
    for (name, bytes) in programs {
        for part in bytes.chunks(7) {
            stage.write(name, part).unwrap();
        }
    }
    // What another copy has followed is closed.
    assert!(stage.write("compiler", b"more").is_err());
    let tools = stage.seal().unwrap();
    for path in [tools.path().to_owned(), tools.program("compiler")] {
        let mode = fs::metadata(path).unwrap().permissions();
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777,
            0o500
        );
    }
    let spec = ChildSpec {
        program: tools.program("compiler"),
        ..space.spec()
    };
    let ended = run(&spec, b"", patient()).unwrap();
    assert_eq!(ended.stdout.complete().unwrap(), b"staged\n");
    let path = tools.path().to_owned();
    tools.remove().unwrap();
    assert!(!path.exists());
}

fn a_diagnostic_names_code_or_signal() {
    let exited = Space::new("#!/bin/sh\nexit 9\n").run(b"").child("compiler");
    assert_eq!((exited.exit_code, exited.signal), (Some(9), None));
    assert_eq!(exited.role, "compiler");
    let space = Space::new("#!/bin/sh\nwhile :; do :; done\n");
    let killed = run(&space.spec(), b"", within(1)).unwrap().child("host");
    assert_eq!((killed.exit_code, killed.signal), (None, Some(9)));
}
