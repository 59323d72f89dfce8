//! Contenders in turn, in blocks of a few milliseconds: a busy neighbour, a change of clock or of
//! temperature meets all of them alike. Time is the thread's own: what other programs take is not counted.

use crate::Operation;

/// How long to measure.
pub(crate) struct Pace {
    /// For each contender.
    seconds: f64,
}

/// One block of one contender, in seconds.
const BLOCK: f64 = 0.004;

/// The processor time of this thread, in seconds.
fn now() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

impl Pace {
    pub(crate) fn from_environment() -> Pace {
        let seconds = std::env::var("SECONDS_EACH")
            .ok()
            .and_then(|s| s.parse().ok());
        Pace {
            seconds: seconds.unwrap_or(0.5),
        }
    }
}

/// What came of one contender.
pub(crate) struct Measured {
    pub(crate) operation: &'static str,
    pub(crate) contender: &'static str,
    pub(crate) filled: usize,
    /// Operations per second, block by block, all contenders' blocks side by side.
    pub(crate) blocks: Vec<f64>,
    /// The share of the processor's bound, block by block.
    pub(crate) share: Vec<f64>,
}

impl Measured {
    pub(crate) fn best(&self) -> f64 {
        self.blocks.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn median(&self) -> f64 {
        median(self.blocks.clone())
    }

    /// The median of the ratios of neighbouring blocks: this one's speed by the other's.
    pub(crate) fn ratio(&self, other: &Measured) -> f64 {
        median(
            self.blocks
                .iter()
                .zip(&other.blocks)
                .map(|(a, b)| a / b)
                .collect(),
        )
    }

    pub(crate) fn median_share(&self) -> f64 {
        median(self.share.clone())
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Measures all contenders with so many of eight lanes filled.
pub(crate) fn measure(operation: &mut Operation, filled: usize, pace: &Pace) -> Vec<Measured> {
    let mut measured: Vec<Measured> = operation
        .contenders
        .iter()
        .map(|(contender, _)| Measured {
            operation: operation.name,
            contender,
            filled,
            blocks: Vec::new(),
            share: Vec::new(),
        })
        .collect();
    let rounds = (pace.seconds / BLOCK).ceil().max(5.0) as usize;
    for round in 0..rounds {
        let rate = multiply_adds_per_second();
        for ((_, run), measured) in operation.contenders.iter_mut().zip(&mut measured) {
            let (start, mut batches) = (now(), 0);
            let mut seconds = 0.0;
            while seconds < BLOCK {
                run(filled);
                batches += 1;
                seconds = now() - start;
            }
            let batches = f64::from(batches) / seconds;
            // The first round warms up.
            if round > 0 {
                measured.blocks.push(batches * filled as f64);
                measured
                    .share
                    .push(batches * operation.multiply_adds as f64 / rate);
            }
        }
    }
    measured
}

/// Independent 512-bit `vpmadd52`: what the processor can do at best, now.
fn multiply_adds_per_second() -> f64 {
    const TURNS: u64 = 40_000;
    let start = now();
    // SAFETY: main has asked whether the processor has lanes.
    unsafe { twenty_a_turn(TURNS) };
    (20 * TURNS) as f64 / (now() - start)
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn twenty_a_turn(turns: u64) {
    // SAFETY: registers only, all declared.
    unsafe {
        std::arch::asm!(
            "2:",
            "vpmadd52luq zmm0, zmm30, zmm31", "vpmadd52huq zmm1, zmm30, zmm31",
            "vpmadd52luq zmm2, zmm30, zmm31", "vpmadd52huq zmm3, zmm30, zmm31",
            "vpmadd52luq zmm4, zmm30, zmm31", "vpmadd52huq zmm5, zmm30, zmm31",
            "vpmadd52luq zmm6, zmm30, zmm31", "vpmadd52huq zmm7, zmm30, zmm31",
            "vpmadd52luq zmm8, zmm30, zmm31", "vpmadd52huq zmm9, zmm30, zmm31",
            "vpmadd52luq zmm10, zmm30, zmm31", "vpmadd52huq zmm11, zmm30, zmm31",
            "vpmadd52luq zmm12, zmm30, zmm31", "vpmadd52huq zmm13, zmm30, zmm31",
            "vpmadd52luq zmm14, zmm30, zmm31", "vpmadd52huq zmm15, zmm30, zmm31",
            "vpmadd52luq zmm16, zmm30, zmm31", "vpmadd52huq zmm17, zmm30, zmm31",
            "vpmadd52luq zmm18, zmm30, zmm31", "vpmadd52huq zmm19, zmm30, zmm31",
            "dec {turns}",
            "jnz 2b",
            turns = inout(reg) turns => _,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _,
            out("zmm5") _, out("zmm6") _, out("zmm7") _, out("zmm8") _, out("zmm9") _,
            out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _, out("zmm14") _,
            out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            options(nomem, nostack),
        );
    }
}
