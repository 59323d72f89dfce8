//! Java: JVMs whose cryptography is the JDK's own, and ours by PKCS #11 and by our own provider.
//!
//! ```text
//! jvm              a JVM for each set-up, steered by a line for each window
//!   └─ Stand           all of them, which take turns
//!        ├─ measure_key     signatures and TLS handshakes with one key
//!        └─ measure_curve   key agreements and new keys
//! ```

mod jvm;

use std::path::PathBuf;
use std::sync::OnceLock;

use outboard_programs::Launch;

use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::suite::{Comparison, Measure, Options, Peer, Rounds, Session, Step, Workload};
use crate::workloads::process::Window;
use crate::workloads::tls::Key;
use jvm::{Jvm, Program, Setup};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Java;

const SIGNATURES: &str = "signatures";
const HANDSHAKES: &str = "handshakes";
const AGREEMENTS: &str = "agreements";

const RATE: Measure = Measure::higher("rate", "1/s");
const CPU: Measure = Measure::lower("CPU", "s");
const ELAPSED: Measure = Measure::lower("elapsed", "s");
const SERVER_CPU: Measure = Measure::lower("server CPU", "s");

/// Milliseconds.
const WINDOW: u64 = 150;

/// The threads of the program that signs. Virtual ones came with Java 21.
const THREADS: [&str; 3] = ["1", "16", "16 virtual"];

/// One thread that signs after a pause.
const LONE: &str = "1, seldom";

/// Curves, and what Outboard calls an agreement and a new key.
const CURVES: [(&str, [&str; 2]); 2] = [
    ("X25519", ["x25519-derive", "x25519-keygen"]),
    ("P-256", ["p256-derive", "p256-keygen"]),
];

/// What is done with a curve, as the JVM is told it and as the table has it.
const USES: [(&str, &str); 2] = [("agree", "agreement"), ("generate", "new key")];

impl Workload for Java {
    fn name(&self) -> &'static str {
        "java"
    }

    fn summary(&self) -> &'static str {
        "Java: the JDK's own code, Outboard by PKCS #11, and outboard.jar"
    }

    fn parts(&self) -> &'static [&'static str] {
        &[SIGNATURES, HANDSHAKES, AGREEMENTS]
    }

    fn programs(&self) -> &'static [&'static str] {
        &["java", "javac", "keytool", "openssl"]
    }

    fn takes(&self, peer: &Peer) -> bool {
        peer.jar().is_some()
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        // outboard.jar may be missing: then it takes less.
        let setups = (3 + options.peers.len()) as f64;
        let turns = f64::from(rounds(options).measured);
        let window = 1e-3 * (warm_up(options) as f64 + turns * WINDOW as f64);
        let mut steps = Vec::new();
        let number = |part, number| if options.runs(part) { number } else { 0 };
        let of_key =
            number(SIGNATURES, threads().len() + 1) + number(HANDSHAKES, versions(options).len());
        if of_key > 0 {
            let seconds = setups * (0.5 + of_key as f64 * window);
            steps.extend(
                keys(options)
                    .iter()
                    .map(|key| Step::new(with(*key), seconds)),
            );
        }
        if options.runs(AGREEMENTS) {
            let seconds = setups * (0.5 + USES.len() as f64 * window);
            let curves = CURVES.iter();
            steps.extend(curves.map(|(curve, _)| Step::new(on(curve), seconds)));
        }
        steps
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        super::versions::record(session, &["java", "javac", "openssl"])?;
        let setups = Setup::all(&session.installation.command, session.options());
        if !setups.iter().skip(2).any(Setup::is_ours) {
            session.note(
                "outboard.jar is not beside the command outboard (install a JDK, and type 'make jar'), and has no turn.",
            );
        }
        session.note(
            "each set-up has a JVM of its own with one key, or one curve. The set-ups take turns. Before, each is warmed up. CPU is that of \
             the whole process for one operation. A signature that is asked for seldom comes after a pause of 2 ms; elapsed is without it. A handshake is a full one of SSLEngines in memory; server CPU is that of the \
             server's calls.",
        );
        if session.options().runs(SIGNATURES) {
            let title = "Signatures by java.security.Signature, RSA with PSS";
            session.table(SIGNATURES, title, &["key", "threads"]);
        }
        if session.options().runs(HANDSHAKES) {
            let title = "Full TLS handshakes of a Java server";
            session.table(HANDSHAKES, title, &["key", "protocol"]);
        }
        if session.options().runs(AGREEMENTS) {
            let title = "Key agreements, and new keys for them";
            session.table(AGREEMENTS, title, &["curve", "use"]);
        }
        let program = Program::make(session)?;
        if session.options().runs(SIGNATURES) || session.options().runs(HANDSHAKES) {
            for &key in keys(session.options()) {
                session.step(&with(key));
                measure_key(session, &program, &setups, key)?;
            }
        }
        if session.options().runs(AGREEMENTS) {
            // PKCS #11 is asked for signatures alone.
            let mut setups = setups;
            setups.retain(|setup| *setup != Setup::Accelerator);
            for (curve, operations) in CURVES {
                session.step(&on(curve));
                measure_curve(session, &program, &setups, curve, operations)?;
            }
        }
        Ok(())
    }
}

fn measure_key(
    session: &mut Session<'_>,
    program: &Program,
    setups: &[Setup],
    key: Key,
) -> Result<(), Failure> {
    // The JVMs find it by its name.
    key.certificate(session)?;
    let mut stand = Stand::start(session, program, setups, key.name)?;
    let mut measured = Vec::new();
    if session.options().runs(SIGNATURES) {
        for &threads in threads() {
            let task = format!("sign {} {threads}", key.name);
            let comparison = stand.compare(session, &task, |window| {
                let count = window.count as f64;
                vec![count / window.elapsed, window.cpu / count]
            })?;
            let labels = [("key", key.name), ("threads", threads)];
            measured.push((SIGNATURES, labels, &[RATE, CPU][..], comparison));
        }
        let comparison = stand.compare(session, &format!("lone {}", key.name), |window| {
            vec![window.elapsed / window.count as f64]
        })?;
        let labels = [("key", key.name), ("threads", LONE)];
        measured.push((SIGNATURES, labels, &[ELAPSED][..], comparison));
    }
    if session.options().runs(HANDSHAKES) {
        for &(version, protocol) in versions(session.options()) {
            let task = format!("handshake {} {version}", key.name);
            let comparison = stand.compare(session, &task, |window| {
                vec![window.elapsed / window.count as f64]
            })?;
            let labels = [("key", key.name), ("protocol", protocol)];
            measured.push((HANDSHAKES, labels, &[SERVER_CPU][..], comparison));
        }
    }
    let proofs = stand.stop(session, &[key.signature])?;
    for (table, labels, measures, comparison) in measured {
        session.record(table, &labels, measures, &comparison, &proofs)?;
    }
    Ok(())
}

fn measure_curve(
    session: &mut Session<'_>,
    program: &Program,
    setups: &[Setup],
    curve: &str,
    operations: [&str; 2],
) -> Result<(), Failure> {
    for ((task, name), operation) in USES.into_iter().zip(operations) {
        let mut stand = Stand::start(session, program, setups, &format!("{curve}-{task}"))?;
        let task = format!("{task} {curve}");
        let comparison = stand.compare(session, &task, |window| {
            vec![window.cpu / window.count as f64]
        })?;
        let proofs = stand.stop(session, &[operation])?;
        let labels = [("curve", curve), ("use", name)];
        session.record(AGREEMENTS, &labels, &[CPU], &comparison, &proofs)?;
    }
    Ok(())
}

/// The JVMs of all set-ups.
struct Stand {
    names: Vec<String>,
    /// Where Outboard counts in those that are ours.
    ledgers: Vec<Option<PathBuf>>,
    jvms: Vec<Jvm>,
    /// How often each has done something.
    done: Vec<u64>,
}

impl Stand {
    fn start(
        session: &Session<'_>,
        program: &Program,
        setups: &[Setup],
        name: &str,
    ) -> Result<Self, Failure> {
        let mut stand = Self {
            names: setups.iter().map(|setup| setup.name().to_owned()).collect(),
            ledgers: Vec::new(),
            jvms: Vec::new(),
            done: vec![0; setups.len()],
        };
        for setup in setups {
            let ledger = session
                .workplace
                .join(format!("java-{name}-{}", setup.name()));
            stand.jvms.push(program.start(session, setup, &ledger)?);
            stand.ledgers.push(setup.is_ours().then_some(ledger));
        }
        Ok(stand)
    }

    /// Lets the JVMs do a task in turns, warm.
    fn compare(
        &mut self,
        session: &mut Session<'_>,
        task: &str,
        values: impl Fn(Window) -> Vec<f64>,
    ) -> Result<Comparison, Failure> {
        let warm_up = warm_up(session.options());
        for (jvm, done) in self.jvms.iter_mut().zip(&mut self.done) {
            *done += jvm.run(task, warm_up)?.count;
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let rounds = rounds(session.options());
        session.alternate(&names, rounds, |_, setup| {
            let window = self.jvms[setup].run(task, WINDOW)?;
            self.done[setup] += window.count;
            Ok(values(window))
        })
    }

    /// Ends the JVMs. Answers for each whether ours made all that was done, each time by one of those operations.
    fn stop(self, session: &Session<'_>, operations: &[&str]) -> Result<Vec<Proof>, Failure> {
        drop(self.jvms);
        let proofs = &session.installation.proofs;
        let of = |(ledger, &done): (&Option<PathBuf>, &u64)| match ledger {
            None => Ok(Proof::not_needed()),
            Some(ledger) => {
                let expected = operations.iter();
                let expected: Vec<Expected> = expected
                    .map(|operation| Expected::operations(operation, done))
                    .collect();
                proofs.find_in(ledger, &expected)
            }
        };
        self.ledgers.iter().zip(&self.done).map(of).collect()
    }
}

fn keys(options: &Options) -> &'static [Key] {
    const ALL: [Key; 5] = [
        Key::RSA_2048,
        Key::RSA_3072,
        Key::RSA_4096,
        Key::P256,
        Key::P384,
    ];
    const SOME: [Key; 3] = [Key::RSA_2048, Key::RSA_4096, Key::P256];
    options.pick(&ALL[..], &SOME[..], &SOME[2..])
}

/// Those of [`THREADS`] that this Java has.
fn threads() -> &'static [&'static str] {
    static HAS_VIRTUAL: OnceLock<bool> = OnceLock::new();
    let has_virtual = || {
        let told = Launch::new("java").and_then(|java| java.arg("--version").finish());
        let version = told.ok().and_then(|told| {
            let number = told.output.split([' ', '.', '-', '+']).nth(1)?;
            number.parse::<u32>().ok()
        });
        version.is_some_and(|version| version >= 21)
    };
    match HAS_VIRTUAL.get_or_init(has_virtual) {
        true => &THREADS,
        false => &THREADS[..2],
    }
}

/// As Java has them, and as people do.
fn versions(options: &Options) -> &'static [(&'static str, &'static str)] {
    const ALL: [(&str, &str); 2] = [("TLSv1.3", "TLS 1.3"), ("TLSv1.2", "TLS 1.2")];
    options.pick(&ALL[..], &ALL[..1], &ALL[..1])
}

/// Milliseconds until Java has compiled all: some 20,000 handshakes.
fn warm_up(options: &Options) -> u64 {
    options.pick(15_000, 4_000, 300)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(31, 11, 1),
    }
}

fn with(key: Key) -> String {
    format!("Java with {}", key.name)
}

fn on(curve: &str) -> String {
    format!("Java with the curve {curve}")
}
