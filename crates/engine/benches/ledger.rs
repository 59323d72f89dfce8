//! What counting and choosing cost: `cargo bench -p outboard-engine --bench ledger`.
//!
//! Contenders alternate every few milliseconds in one process; what is printed is the median of their
//! differences, so that a noisy machine does no harm.

use std::hint::black_box;
use std::time::{Duration, Instant};

use outboard_engine::ledger::{Ledger, Tally};
use outboard_engine::profile::{Decision, Measurement, Profile};
use outboard_engine::scalar::aes_gcm::AesGcm;
use outboard_engine::{Machine, Operation, Path};

const SEAL: Operation = Operation::Aes128GcmSeal;

fn main() {
    let directory = format!("/dev/shm/ledger-bench-{}", std::process::id());
    let directory = std::path::Path::new(&directory);
    std::fs::create_dir(directory).expect("shared memory is writable");
    let file = directory.join("ledger");
    let ledger: &'static Ledger = Box::leak(Box::new(Ledger::open(&file)));
    println!("{}", ledger.status());

    let mut tally = Tally::of(ledger, SEAL, Path::Scalar);
    let mut cipher = Cipher::new();
    beyond(
        "Tally, of a 16-byte seal",
        || cipher.seal(),
        |seal| {
            if tally.wants_time() {
                let started = Instant::now();
                seal();
                tally.count_timed(16, started.elapsed());
            } else {
                seal();
                tally.count(16);
            }
        },
    );
    let mut cipher = Cipher::new();
    beyond(
        "Tally, of a context for one seal",
        || cipher.seal(),
        |seal| {
            let mut tally = Tally::of(ledger, SEAL, Path::Scalar);
            seal();
            tally.count(16);
        },
    );
    let time = Duration::from_micros(50);
    let nothing = || black_box(());
    beyond("Ledger::record", nothing, |_| {
        ledger.record(Operation::P384Sign, Path::Scalar, 0, time);
    });
    beyond(
        "the clock, read twice (timing one operation)",
        nothing,
        |_| {
            black_box(Instant::now().elapsed());
        },
    );

    once("Ledger::open, file there", || Ledger::open(&file).close());
    once("Ledger::open, file made, and removed", || {
        let file = directory.join("new");
        Ledger::open(&file).close();
        std::fs::remove_file(&file).expect("it was just made");
    });

    let profile = directory.join("profile.json");
    let machine = Machine::detect();
    full_profile(&machine).save(&profile).expect("writable");
    let size = std::fs::metadata(&profile).expect("it was just made").len();
    once("Machine::detect", || drop(black_box(Machine::detect())));
    once("Machine::glance", || drop(black_box(Machine::glance())));
    once(&format!("Profile::load, {size} bytes"), || {
        let profile = Profile::load(&profile, &machine, "3.0.22");
        drop(black_box(profile.expect("it was just saved")));
    });
    once("Decision::load, its beginning", || {
        let decision = Decision::load(&profile, &machine, "3.0.22");
        black_box(decision.expect("it was just saved"));
    });
    once("Decision::built_in", || {
        black_box(Decision::built_in(&machine, "3.0.22"));
    });
    std::fs::remove_dir_all(directory).expect("it is ours");
}

/// A seal of 16 bytes as short as it gets: AWS-LC, without OpenSSL's layers.
struct Cipher(AesGcm, u64);

impl Cipher {
    fn new() -> Self {
        Self(AesGcm::new(&[7; 16], true).expect("a key of 16 bytes"), 0)
    }

    #[inline(never)] // the same code for every contender
    fn seal(&mut self) {
        let (mut iv, mut data, mut tag) = ([0; 12], [0; 16], [0; 16]);
        self.1 += 1;
        iv[4..].copy_from_slice(&self.1.to_be_bytes());
        self.0.start(&iv, true).expect("an IV of 12 bytes");
        self.0.update(data[..].as_mut().into()).expect("16 bytes");
        self.0.seal(&mut tag).expect("it was started");
        black_box(tag);
    }
}

/// Prints what `with` costs more than the plain work, per turn: the median of many differences.
fn beyond(name: &str, mut work: impl FnMut(), mut with: impl FnMut(&mut dyn FnMut())) {
    const EACH: u32 = 10_000;
    let mut plain = Vec::new();
    let mut differences: Vec<f64> = (0..501)
        .map(|_| {
            let without =
                time(|| (0..EACH).for_each(|_| black_box(&mut work as &mut dyn FnMut())()));
            let full = time(|| (0..EACH).for_each(|_| with(black_box(&mut work))));
            plain.push(without.as_secs_f64() * 1e9 / f64::from(EACH));
            (full.as_secs_f64() - without.as_secs_f64()) * 1e9 / f64::from(EACH)
        })
        .collect();
    let (difference, plain) = (median(&mut differences), median(&mut plain));
    println!("{difference:>8.2} ns  {name} (beyond {plain:.1} ns)");
}

/// Prints the median time of doing something once, and that of the first time.
fn once(name: &str, mut work: impl FnMut()) {
    let mut microseconds = || time(&mut work).as_secs_f64() * 1e6;
    let first = microseconds();
    let mut times: Vec<f64> = (0..1001).map(|_| microseconds()).collect();
    let median = median(&mut times);
    println!("{median:>8.2} µs  {name} (first time {first:.2} µs)");
}

fn time(mut work: impl FnMut()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// As `outboard calibrate` writes it: every operation, the bulk ones at seven sizes.
fn full_profile(machine: &Machine) -> Profile {
    const SIZES: [u64; 7] = [16, 64, 256, 1024, 4096, 8192, 16384];
    let measurements = Operation::ALL
        .iter()
        .flat_map(|&operation| {
            let sizes = if operation.is_bulk() {
                &SIZES[..]
            } else {
                &[0]
            };
            sizes.iter().map(move |&size| Measurement {
                operation,
                size,
                stock_ns: 1_234.567_89,
                scalar_ns: 612.345_678,
                ratio: 2.016_112,
                low: 1.987_654_3,
                high: 2.034_567_8,
            })
        })
        .collect();
    Profile::measured(machine.clone().named(), "3.0.22", measurements)
}
