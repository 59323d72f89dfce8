//! The profile.

mod decided;
mod file;

use outboard_operation::Operation;
use outboard_profile::{Machine, Measurement};

const LIBCRYPTO: &str = "3.0.22";

fn measurement(operation: Operation, size: u64, ratio: f64) -> Measurement {
    Measurement {
        operation,
        size,
        stock_ns: 100.0 * ratio,
        scalar_ns: 100.0,
        ratio,
        low: ratio - 0.01,
        high: ratio + 0.01,
    }
}

fn machine() -> Machine {
    Machine {
        architecture: "x86_64".into(),
        vendor: "GenuineIntel".into(),
        family: 6,
        model: 106,
        stepping: 6,
        name: "A \"processor\"\n of the tests".into(),
        features: vec!["adx".into(), "avx2".into(), "bmi2".into()],
    }
}
