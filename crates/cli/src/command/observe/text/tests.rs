//! What a report says of records.

use super::*;
use outboard_observation::{Record, RecordedProcess, SizeClass, Work};
use outboard_observe_report::Sources;
use outboard_observe_report::cpu::Times;
use outboard_profile::{Machine, Profile};

/// One call of that kind.
fn work(algorithm: &str, operation: Operation, key: &str, digest: &str) -> Work {
    Work {
        algorithm: algorithm.into(),
        operation,
        implementation: "default".into(),
        key: key.into(),
        digest: digest.into(),
        mode: String::new(),
        calls: 1,
        bytes: 0,
        nanoseconds: 1000,
        preparations: 0,
        preparation_nanoseconds: 0,
        interrupted: 0,
        untimed: 0,
        failed: 0,
        sizes: Vec::new(),
        telling: [0; 2],
    }
}

/// What nginx did.
fn record(work: Vec<Work>) -> Record {
    let process = RecordedProcess {
        pid: Some(7),
        uid: 0,
        program: "nginx".into(),
        processes: 1,
        started: 0,
        work,
    };
    Record {
        created: std::time::SystemTime::UNIX_EPOCH,
        reset: 0,
        processes: vec![process],
        lost: 0,
    }
}

fn report(record: Record, cpu: Result<u64, &'static str>, program: Option<String>) -> Report {
    let sources = Sources {
        program,
        cpu,
        times: &Times::new(),
        unobserved: &[],
        profile: &Profile::built_in(&Machine::detect(), "3.0.22"),
    };
    Report::new(record, sources)
}

fn text(record: Record, cpu: Result<u64, &'static str>) -> String {
    of(&report(record, cpu, None), false, false, To::File)
}

#[test]
fn what_has_no_time_is_shown_and_sums_say_so() {
    let signed = Work {
        calls: 100,
        untimed: 100,
        nanoseconds: 0,
        ..work("RSA", Operation::Sign, "2048", "")
    };
    let sealed = Work {
        calls: 10,
        untimed: 3,
        nanoseconds: 7_000_000,
        ..work("AES-256-GCM", Operation::Seal, "", "")
    };
    let text = |work| text(record(work), Ok(1_000_000_000));
    let lacking = text(vec![signed, sealed]);
    let lines = |words: &str| lacking.lines().filter(|line| line.contains(words)).count();
    assert!(lacking.starts_with("At least "), "{lacking}");
    // Its share is unknown too.
    assert_eq!(lines("unknown  "), 0, "{lacking}");
    assert_eq!(lines("  > 0.7 %"), 1, "{lacking}");
    assert_eq!(lines("unknown"), 1, "{lacking}");
    assert!(lacking.contains("> 7.00 ms  1.00 ms"), "{lacking}");
    assert!(lacking.contains("the time of 103 operations"), "{lacking}");
    let whole = text(vec![work("AES-256-GCM", Operation::Seal, "", "")]);
    assert!(!whole.contains("At least"), "{whole}");
    // HAProxy's jobs, with Outboard.
    let paused = |kind: Work| Work {
        implementation: "outboard".into(),
        untimed: 1,
        nanoseconds: 0,
        ..kind
    };
    let jobs = text(vec![
        Work {
            calls: 2,
            ..paused(work("AES-128-GCM", Operation::Seal, "", ""))
        },
        paused(work("RSA", Operation::Sign, "2048", "")),
        paused(work("X25519", Operation::Derive, "", "")),
        Work {
            implementation: "outboard".into(),
            ..work("AES-256-GCM", Operation::Seal, "", "")
        },
    ]);
    assert!(
        jobs.contains("exchanges), with public-key work of unknown time each\n"),
        "{jobs}"
    );
    assert!(!jobs.contains("> <"), "{jobs}");
    assert!(
        jobs.contains("Outboard did at least 1.00 µs of this"),
        "{jobs}"
    );
}

/// An exchange of OpenSSH's own, and what is seen of another program.
#[test]
fn what_is_inferred_is_told_apart() {
    let class = |(up_to, calls)| SizeClass {
        up_to: Some(up_to),
        calls,
        bytes: 0,
        nanoseconds: 0,
    };
    let mut hashed = work("SHA2-512", Operation::Digest, "", "");
    hashed.sizes = [(64, 2), (256, 8)].map(class).into();
    hashed.telling = [1, 1];
    let agreed = work("X25519", Operation::Derive, "", "");
    let mut record = record(vec![hashed, agreed]);
    record.processes[0].program = "ssh".into();
    let text = text(record, Ok(1_000_000_000));
    assert!(
        text.contains("0 of 1 key agreements would resist one\n  at least 1 of OpenSSH's"),
        "{text}"
    );
}

#[test]
fn what_failed_is_told_as_what_failed() {
    let mut verified = work("DSA", Operation::Verify, "1024", "SHA1");
    (verified.calls, verified.failed) = (0, 3);
    let mut record = record(vec![verified]);
    record.lost = 2;
    let text = text(record, Err("nobody looked"));
    assert!(
        text.contains("DSA-1024 with SHA-1, verify (3 failed, nginx): DSA"),
        "{text}"
    );
    assert!(
        text.contains("at least 2 operations did not fit into the record"),
        "{text}"
    );
}

/// A file with figures that any user may have written.
#[test]
fn the_largest_numbers_do_no_harm() {
    let largest = SizeClass {
        up_to: None,
        calls: u64::MAX,
        bytes: u64::MAX,
        nanoseconds: u64::MAX,
    };
    let kinds = [
        (Operation::Sign, "RSA"),
        (Operation::Derive, "X25519"),
        (Operation::KeyDecrypt, "RSA"),
        (Operation::Seal, "ChaCha20"),
        (Operation::Digest, "SHA2-512"),
    ];
    let kinds = kinds.map(|(operation, algorithm)| Work {
        calls: u64::MAX,
        bytes: u64::MAX,
        nanoseconds: u64::MAX,
        preparations: u64::MAX,
        preparation_nanoseconds: u64::MAX,
        interrupted: u64::MAX,
        untimed: u64::MAX,
        failed: u64::MAX,
        telling: [u64::MAX; 2],
        sizes: vec![largest; 9],
        ..work(algorithm, operation, "2048", "SHA1")
    });
    let mut hostile = record(kinds.into());
    let mut another = hostile.processes[0].clone();
    (another.uid, another.program) = (1000, "sshd".into());
    hostile.processes.push(another);
    hostile.lost = u64::MAX;
    let report = report(hostile, Ok(u64::MAX), None);
    // The user of each process.
    let text = of(&report, true, true, To::File);
    assert!(text.contains("1000"), "{text}");
}

#[test]
fn a_share_is_told_of_the_same_work_alone() {
    let text = |cpu| {
        let mut done = work("SHA2-256", Operation::Digest, "", "");
        done.nanoseconds = 57_500_000;
        let report = report(record(vec![done]), cpu, Some("nginx".into()));
        of(&report, false, false, To::File)
    };
    let sound = text(Ok(115_000_000));
    assert!(
        sound.contains("of the CPU time of nginx was cryptography (57.5 ms of 115 ms)"),
        "{sound}"
    );
    for cpu in [
        Ok(2_890_000),
        Err("processes that the program started still run"),
    ] {
        let text = text(cpu);
        assert!(
            text.starts_with("Cryptography of nginx: 57.5 ms by the clock"),
            "{text}"
        );
        assert!(text.contains("the CPU time is not known: "), "{text}");
    }
}

#[test]
fn what_is_encrypted_is_not_said_to_be_agreed_on() {
    let done = [
        ("X25519MLKEM768", Operation::Decapsulate),
        ("X25519", Operation::Derive),
        ("RSA", Operation::KeyEncrypt),
        ("RSA", Operation::KeyDecrypt),
        ("ECDSA", Operation::Sign),
    ];
    let told = |done: &[(&str, Operation)]| {
        let work = done
            .iter()
            .map(|&(algorithm, operation)| work(algorithm, operation, "", ""));
        text(record(work.collect()), Err("nobody looked"))
    };
    let all = told(&done);
    let said = "  1 of 2 key agreements, 0 of 2 public-key encryptions and 0 of 1 signatures would resist one\n";
    assert!(all.contains(said), "{all}");
    let some = told(&done[2..]);
    let said = "  0 of 2 public-key encryptions and 0 of 1 signatures would resist one\n";
    assert!(some.contains(said), "{some}");
    let one = told(&done[2..4]);
    assert!(
        one.contains("\n  0 of 2 public-key encryptions would resist one\n"),
        "{one}"
    );
    let none = told(&[("SHA2-256", Operation::Digest)]);
    assert!(!none.contains("would resist one"), "{none}");
}
