//! The observed work, and the conclusions from it.

use super::acceleration::Acceleration;
use super::catalogue::{self, Quantum, Severity};
use super::cpu::Times;
use super::findings::{Finding, findings, unseen};
use super::handshakes::Handshakes;
use super::openssh::{self, Estimate};
use super::quantum::QuantumReadiness;
use super::saving::{self, Saving};
use outboard_observation::{Record, RecordedProcess, Work, sum};
use outboard_profile::Profile;
use serde::Serialize;

/// The observed work of a program, or of a system's programs.
#[derive(Serialize)]
pub struct Report {
    /// The program that was run; none where services were observed.
    pub program: Option<String>,
    /// The CPU time of it and its children, in nanoseconds; none where it is not known for all.
    pub cpu_nanoseconds: Option<u64>,
    /// Why a share of the CPU time is not known; none where it is.
    pub share_unknown_because: Option<&'static str>,
    /// The time of all cryptography that was seen.
    pub cryptography_nanoseconds: u64,
    /// The share of the CPU time that was cryptography, from 0 to 1.
    pub share_of_cpu: Option<f64>,
    /// The same with what OpenSSH did past EVP, where that is estimated; none where both were more than the CPU time.
    pub share_of_cpu_estimated: Option<f64>,
    /// All work added up, the most time first.
    pub work: Vec<Row>,
    /// The work of each process.
    pub processes: Vec<ProcessReport>,
    /// The cost of connections.
    pub handshakes: Handshakes,
    /// Weak and legacy work.
    pub findings: Vec<Finding>,
    /// How ready it is for quantum computers.
    pub quantum: QuantumReadiness,
    /// What Outboard does of it, and would do.
    pub acceleration: Acceleration,
    /// OpenSSH's work in its own code, estimated.
    pub estimates: Vec<Estimate>,
    /// The work that the report cannot see, one sentence each.
    pub unseen: Vec<String>,
    /// Operations that the record had no room for: at least so many.
    pub lost: u64,
}

/// One kind of work, and what is known of it.
#[derive(Serialize)]
pub struct Row {
    /// The name that people use.
    pub name: String,
    /// The digest within, and the padding.
    pub with: String,
    /// The work itself.
    #[serde(flatten)]
    pub work: Work,
    /// Its share of the CPU time, from 0 to 1. None, too, where no call's time is known.
    pub share_of_cpu: Option<f64>,
    /// Its share of all cryptography, from 0 to 1.
    pub share_of_cryptography: f64,
    /// How bad it is; none where it is neither weak nor legacy.
    pub finding: Option<Severity>,
    /// What a quantum computer does to it.
    pub quantum: Quantum,
    /// What Outboard would save; none where it would not do it.
    pub saving: Option<Saving>,
}

/// One process, or the later processes of one program.
#[derive(Serialize)]
pub struct ProcessReport {
    /// Its id; none for the later processes of one program.
    pub pid: Option<u32>,
    /// Its name.
    pub program: String,
    /// Its user.
    pub uid: u32,
    /// How many these are.
    pub processes: u64,
    /// Its CPU time, where it was seen: a process that ended soon was not.
    pub cpu_nanoseconds: Option<u64>,
    /// The time of its cryptography.
    pub cryptography_nanoseconds: u64,
    /// The share of its CPU time that was cryptography.
    pub share_of_cpu: Option<f64>,
    /// Its work, the most time first.
    pub work: Vec<Work>,
}

/// Where the figures come from.
pub struct Sources<'a> {
    /// The program that was run; none where services were observed.
    pub program: Option<String>,
    /// The CPU time of what was observed and of nothing else, or why it is not known.
    pub cpu: Result<u64, &'static str>,
    /// The CPU time of each process, as far as it is known.
    pub times: &'a Times,
    /// The providers that the configuration names and that are not observed.
    pub unobserved: &'a [String],
    /// What Outboard would do on this machine.
    pub profile: &'a Profile,
}

/// Whether the time of any of its calls is known.
fn has_time(work: &Work) -> bool {
    work.untimed == 0 || work.untimed < work.calls
}

impl Report {
    /// Judges a record.
    pub fn new(record: Record, sources: Sources<'_>) -> Self {
        let record = record.renamed(catalogue::settle);
        let record = with_preparations_settled(record);
        let total = record.total();
        let cryptography = nanoseconds(&total);
        let cpu = sources.cpu.ok();
        // On a busy machine, a clock shows more time than was used. A small excess is within its precision.
        let most = cpu.map_or(0, |cpu| cpu.saturating_add(cpu / 10));
        let share_unknown_because = match sources.cpu {
            Err(because) => Some(because),
            Ok(_) if cryptography > most => Some(
                "the cryptography took longer by the clock than the whole CPU time, because the machine \
                      also did other work",
            ),
            Ok(_) => None,
        };
        let cpu_if_sound = cpu.filter(|_| share_unknown_because.is_none());
        let whole = cpu_if_sound.map(|cpu| cpu.max(cryptography));
        let rows: Vec<Row> = total
            .into_iter()
            .map(|work| Row {
                name: catalogue::algorithm(&work),
                with: catalogue::with(&work),
                share_of_cpu: share(work.nanoseconds, whole.filter(|_| has_time(&work))),
                share_of_cryptography: share(work.nanoseconds, Some(cryptography)).unwrap_or(0.0),
                finding: catalogue::finding(&work)
                    .filter(|_| !is_preparation(&work))
                    .map(|(severity, _)| severity),
                quantum: catalogue::quantum(&work),
                saving: saving::of(&work, sources.profile).filter(|_| work.calls > 0),
                work,
            })
            .collect();
        let processes: Vec<ProcessReport> = record
            .processes
            .iter()
            .map(|process| ProcessReport::new(process, sources.times))
            .collect();
        let estimates = estimates(&record.processes);
        let unseen_time = sum(estimates.iter().map(|one| one.nanoseconds));
        Self {
            cpu_nanoseconds: cpu,
            share_unknown_because,
            cryptography_nanoseconds: cryptography,
            share_of_cpu: share(cryptography, whole),
            share_of_cpu_estimated: match unseen_time {
                0 => None,
                unseen => {
                    let estimated = cryptography.saturating_add(unseen);
                    // More than there was: the constants are wrong for this machine.
                    share(estimated, whole.filter(|&cpu| cpu >= estimated))
                }
            },
            handshakes: Handshakes::of(&rows, &record.processes),
            findings: findings(&rows, &record.processes),
            quantum: QuantumReadiness::of(&rows, &record.processes),
            acceleration: Acceleration::of(&rows),
            unseen: unseen(&record.processes, &sources),
            work: rows,
            processes,
            estimates,
            lost: record.lost,
            program: sources.program,
        }
    }
}

impl ProcessReport {
    fn new(process: &RecordedProcess, times: &Times) -> Self {
        let cryptography = nanoseconds(&process.work);
        // A clock of hundredths of a second that shows nothing yet knows nothing.
        let key = process.pid.map(|pid| (pid, process.started));
        let cpu = key.and_then(|key| times.get(&key)).copied();
        let cpu = cpu.filter(|&cpu| cpu > 0);
        Self {
            pid: process.pid,
            program: process.program.clone(),
            uid: process.uid,
            processes: process.processes,
            // The last reading may be older than the work.
            cpu_nanoseconds: cpu.map(|cpu| cpu.max(cryptography)),
            cryptography_nanoseconds: cryptography,
            share_of_cpu: share(cryptography, cpu),
            work: process.work.clone(),
        }
    }
}

/// A program may prepare a key for one digest or padding and then use another (nginx does, for RSA-PSS in TLS 1.2). The
/// time of such a preparation belongs to the work that followed.
fn with_preparations_settled(mut record: Record) -> Record {
    for process in &mut record.processes {
        let (prepared, used): (Vec<Work>, Vec<Work>) =
            process.work.drain(..).partition(is_preparation);
        let settled = prepared.into_iter().map(|mut work| {
            let alike = used.iter().filter(|used| {
                (
                    &used.algorithm,
                    used.operation,
                    &used.implementation,
                    &used.key,
                ) == (
                    &work.algorithm,
                    work.operation,
                    &work.implementation,
                    &work.key,
                )
            });
            if let Some(used) = alike.max_by_key(|used| used.calls) {
                work.digest.clone_from(&used.digest);
                work.mode.clone_from(&used.mode);
            }
            work
        });
        process.work = settled.chain(used.iter().cloned()).collect();
    }
    record.renamed(|_| {})
}

/// Whether nothing came of it, or not yet.
pub(crate) fn is_preparation(work: &Work) -> bool {
    work.calls == 0 && work.failed == 0
}

fn estimates(processes: &[RecordedProcess]) -> Vec<Estimate> {
    let mut estimates: Vec<Estimate> = Vec::new();
    let of_openssh = |process: &&RecordedProcess| openssh::speaks_ssh(&process.program);
    // Asked only where it matters.
    let version = processes
        .iter()
        .find(of_openssh)
        .and_then(|_| openssh::installed());
    for process in processes.iter().filter(of_openssh) {
        for estimate in openssh::estimates(&process.program, &process.work, version) {
            match estimates
                .iter_mut()
                .find(|known| known.algorithm == estimate.algorithm)
            {
                Some(known) => {
                    let add = |known: &mut u64, more| *known = known.saturating_add(more);
                    add(&mut known.bytes, estimate.bytes);
                    add(&mut known.exchanges, estimate.exchanges);
                    add(&mut known.nanoseconds, estimate.nanoseconds);
                }
                None => estimates.push(estimate),
            }
        }
    }
    estimates
}

fn nanoseconds(work: &[Work]) -> u64 {
    sum(work.iter().map(|work| work.nanoseconds))
}

/// A part of a whole, from 0 to 1: no clock is so exact that a part could not seem larger.
fn share(part: u64, whole: Option<u64>) -> Option<f64> {
    let whole = whole.filter(|&whole| whole > 0)?;
    Some((float(part) / float(whole)).min(1.0))
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are enough")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::catalogue::tests::work;
    use super::*;
    use outboard_observation::Operation;

    /// The report of a record of which nothing else is known.
    pub(crate) fn report(record: Record) -> Report {
        let sources = Sources {
            program: None,
            cpu: Err("nobody looked"),
            times: &Times::new(),
            unobserved: &[],
            profile: &Profile::built_in(&outboard_profile::Machine::detect(), "3.0.22"),
        };
        Report::new(record, sources)
    }

    /// What nginx did.
    pub(crate) fn record(work: Vec<Work>) -> Record {
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

    /// As nginx does with RSA-PSS in TLS 1.2, and with SHA-1 for the worse.
    #[test]
    fn what_was_only_prepared_was_not_done() {
        let mut prepared = work("RSA", Operation::Sign, "2048", "SHA1");
        prepared.calls = 0;
        prepared.nanoseconds = 300;
        let mut signed = work("RSA", Operation::Sign, "2048", "SHA256");
        signed.mode = "pss".into();
        let mut unfinished = work("ECDSA", Operation::Sign, "prime256v1", "SHA1");
        unfinished.calls = 0;
        let report = report(record(vec![prepared, signed, unfinished]));
        let rows: Vec<_> = report
            .work
            .iter()
            .map(|row| (&*row.name, &*row.with, row.work.calls, row.work.nanoseconds))
            .collect();
        assert_eq!(
            rows,
            [
                ("RSA-2048", "SHA-256 PSS", 1, 1300),
                ("ECDSA P-256", "SHA-1", 0, 1000)
            ]
        );
        assert!(report.findings.is_empty());
        assert!(report.work[1].saving.is_none() && report.work[1].finding.is_none());
        assert_eq!(report.processes[0].cpu_nanoseconds, None);
        let bill = super::super::cbom::document(&report, None).to_string();
        assert!(!bill.contains("ECDSA"), "{bill}");
    }

    /// A file with figures that any user may have written.
    #[test]
    fn the_largest_numbers_do_no_harm() {
        let mut done = work("RSA", Operation::Sign, "2048", "SHA1");
        for number in [
            &mut done.calls,
            &mut done.bytes,
            &mut done.nanoseconds,
            &mut done.preparations,
            &mut done.preparation_nanoseconds,
            &mut done.interrupted,
            &mut done.untimed,
            &mut done.failed,
        ] {
            *number = u64::MAX;
        }
        done.telling = [u64::MAX; 2];
        let largest = outboard_observation::SizeClass {
            up_to: None,
            calls: u64::MAX,
            bytes: u64::MAX,
            nanoseconds: u64::MAX,
        };
        done.sizes = vec![largest; 9];
        let kinds = [
            (Operation::Sign, "RSA"),
            (Operation::Derive, "X25519"),
            (Operation::KeyDecrypt, "RSA"),
            (Operation::Seal, "ChaCha20"),
            (Operation::Digest, "SHA2-512"),
        ];
        let kinds = kinds.map(|(operation, algorithm)| Work {
            operation,
            algorithm: algorithm.into(),
            ..done.clone()
        });
        let mut hostile = record(kinds.into());
        let mut another = hostile.processes[0].clone();
        (another.uid, another.program) = (1000, "sshd".into());
        hostile.processes.push(another);
        hostile.lost = u64::MAX;
        assert!(!super::super::cpu::is_possible(&hostile));
        assert!(super::super::cpu::is_possible(&record(vec![work(
            "X",
            Operation::Mac,
            "",
            ""
        )])));
        let sources = Sources {
            program: None,
            cpu: Ok(u64::MAX),
            times: &Times::from([((7, 0), u64::MAX)]),
            unobserved: &[],
            profile: &Profile::built_in(&outboard_profile::Machine::detect(), "3.0.22"),
        };
        let report = Report::new(hostile, sources);
        assert_eq!(report.work[0].work.calls, u64::MAX);
        assert_eq!(report.cryptography_nanoseconds, u64::MAX);
        super::super::cbom::document(&report, None);
    }

    #[test]
    fn what_is_inferred_is_told_apart() {
        let class = |(up_to, calls)| outboard_observation::SizeClass {
            up_to: Some(up_to),
            calls,
            bytes: 0,
            nanoseconds: 0,
        };
        let mut hashed = work("SHA2-512", Operation::Digest, "", "");
        hashed.sizes = [(64, 2), (256, 8)].map(class).into();
        hashed.telling = [1, 1];
        let sealed = Work {
            bytes: 1_000_000,
            ..work("ChaCha20", Operation::Seal, "", "")
        };
        let agreed = work("X25519", Operation::Derive, "", "");
        let report = |cpu| {
            let mut record = record(vec![hashed.clone(), sealed.clone(), agreed.clone()]);
            record.processes[0].program = "ssh".into();
            Report::new(
                record,
                Sources {
                    program: None,
                    cpu: Ok(cpu),
                    times: &Times::new(),
                    unobserved: &[],
                    profile: &Profile::built_in(&outboard_profile::Machine::detect(), "3.0.22"),
                },
            )
        };
        // More than what these take anywhere; less than the megabyte's tags.
        let (long, short) = (report(1_000_000_000), report(700_000));
        let quantum = &long.quantum;
        assert_eq!(
            (quantum.key_agreements_post_quantum, quantum.key_agreements),
            (0, 1)
        );
        assert_eq!(quantum.openssh_hybrid_exchanges, 1);
        assert!(long.share_of_cpu_estimated > long.share_of_cpu);
        assert_eq!(short.share_of_cpu_estimated, None);
        assert!(short.share_of_cpu.is_some());
    }

    #[test]
    fn a_share_is_told_of_the_same_work_alone() {
        let report = |cpu| {
            let mut done = work("SHA2-256", Operation::Digest, "", "");
            done.nanoseconds = 57_500_000;
            let sources = Sources {
                program: Some("nginx".into()),
                cpu,
                times: &Times::new(),
                unobserved: &[],
                profile: &Profile::built_in(&outboard_profile::Machine::detect(), "3.0.22"),
            };
            Report::new(record(vec![done]), sources)
        };
        let sound = report(Ok(115_000_000));
        assert_eq!(sound.share_of_cpu, Some(0.5));
        // Within what clocks differ by.
        assert_eq!(report(Ok(57_000_000)).share_of_cpu, Some(1.0));
        for cpu in [
            Ok(2_890_000),
            Err("processes that the program started still run"),
        ] {
            let report = report(cpu);
            assert_eq!(
                (report.share_of_cpu, report.work[0].share_of_cpu),
                (None, None)
            );
            assert!(report.share_unknown_because.is_some());
        }
    }
}
