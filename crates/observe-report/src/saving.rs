//! The part of OpenSSL's work that Outboard would do, and the time that this would save, according to this machine's
//! profile.

use outboard_observation::{Operation, Work};
use outboard_operation::{Operation as Accelerated, Path as Route};
use outboard_profile::{Measurement, Profile};
use serde::Serialize;

/// What Outboard would do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// By the name that `outboard info` has for it.
    pub operation: Accelerated,
    /// Where it would run.
    pub path: Route,
    /// The time it would save if each came alone; none where the profile was not measured.
    pub nanoseconds: Option<u64>,
    /// The time it would save if eight came together each time; none off path card, or where the profile has
    /// not measured the lanes.
    pub in_company_nanoseconds: Option<u64>,
}

/// Outboard's part of that work, if another provider did it and the profile chooses a path for it.
pub(crate) fn of(work: &Work, profile: &Profile) -> Option<Saving> {
    if work.implementation == "outboard" {
        return None;
    }
    let operation = operation(work)?;
    let path = profile.path(operation);
    if path == Route::Stock {
        return None;
    }
    let measured: Vec<&Measurement> = profile
        .measurements
        .iter()
        .filter(|measurement| measurement.operation == operation)
        .collect();
    let nearest = |size: u64| {
        measured.iter().min_by(|a, b| {
            let distance = |m: &Measurement| ratio(m.size.max(1), size.max(1)).ln().abs();
            distance(a).total_cmp(&distance(b))
        })
    };
    // `of_scalar`: the cost as a part of a scalar operation's cost.
    let saved = |of_scalar: f64| {
        let mut saved = 0.0;
        for class in work.sizes.iter().filter(|class| class.calls > 0) {
            let nearest = nearest(class.bytes / class.calls)?;
            let share = 1.0 - of_scalar * nearest.scalar_ns / nearest.stock_ns;
            saved += share.max(0.0) * float(class.nanoseconds);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "never negative, and less than what was counted"
        )]
        Some(saved as u64)
    };
    let lanes = Lanes::of(operation, profile);
    Some(Saving {
        operation,
        path,
        nanoseconds: saved(lanes.as_ref().map_or(1.0, |lanes| lanes.alone)),
        in_company_nanoseconds: lanes.and_then(|lanes| saved(lanes.in_company?)),
    })
}

/// The cost of an operation on paths `wide` and `card`, in scalar operations.
struct Lanes {
    /// Without company: one, or one across the lanes, or a batch of one lane where that is faster.
    alone: f64,
    /// One of eight on path `card`: its share of the batch, the queue, and the pause of the job that asked.
    in_company: Option<f64>,
}

impl Lanes {
    fn of(operation: Accelerated, profile: &Profile) -> Option<Self> {
        let path = profile.path(operation);
        let lanes = profile
            .lanes
            .iter()
            .find(|one| path.has_lanes() && one.operation == operation)?;
        let queueing = profile.queueing.queue_ns + profile.queueing.pause_ns;
        let of_scalar = |nanoseconds: f64| nanoseconds / lanes.scalar_ns;
        Some(Self {
            alone: of_scalar(match lanes.break_even() {
                1 => lanes.batch_ns.unwrap_or_else(|| lanes.alone_ns()),
                _ => lanes.alone_ns(),
            }),
            in_company: (path == Route::Card)
                .then_some(lanes.batch_ns)
                .flatten()
                .map(|batch| of_scalar(batch / 8.0 + queueing)),
        })
    }
}

/// The operation of Outboard's that does that work.
fn operation(work: &Work) -> Option<Accelerated> {
    let verb = match work.operation {
        Operation::Seal => "seal",
        Operation::Open => "open",
        Operation::Generate => "keygen",
        Operation::Derive => "derive",
        Operation::Sign => "sign",
        Operation::Verify => "verify",
        _ => return None,
    };
    let name = work.algorithm.to_ascii_lowercase();
    let subject = match (name.as_str(), work.key.as_str()) {
        ("rsa", bits) if matches!(work.operation, Operation::Sign | Operation::Verify) => {
            format!("rsa-{bits}")
        }
        ("ecdsa" | "ecdh" | "ec", "prime256v1" | "P-256") => "p256".into(),
        ("ecdsa" | "ecdh" | "ec", "secp384r1" | "P-384") => "p384".into(),
        ("ecdsa" | "ecdh" | "ec", "secp521r1" | "P-521") => "p521".into(),
        ("x25519" | "ed25519" | "aes-128-gcm" | "aes-192-gcm" | "aes-256-gcm", _) => name,
        _ => return None,
    };
    Accelerated::from_name(&format!("{subject}-{verb}"))
}

fn ratio(a: u64, b: u64) -> f64 {
    float(a) / float(b)
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are enough")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::work;
    use super::*;
    use outboard_observation::SizeClass;
    use outboard_profile::{LanesMeasurement, Machine, Queueing};

    fn profile() -> Profile {
        let measure = |operation, size, stock_ns, scalar_ns| Measurement {
            operation,
            size,
            stock_ns,
            scalar_ns,
            ratio: stock_ns / scalar_ns,
            low: stock_ns / scalar_ns,
            high: stock_ns / scalar_ns,
        };
        let measurements = vec![
            measure(Accelerated::P384Sign, 0, 1000.0, 100.0),
            measure(Accelerated::Aes256GcmOpen, 64, 100.0, 100.0),
            measure(Accelerated::Aes256GcmOpen, 16384, 3000.0, 1500.0),
            measure(Accelerated::Aes256GcmSeal, 16384, 3000.0, 1500.0),
        ];
        Profile::measured(Machine::detect(), "3.0.22", measurements)
    }

    fn one_class(mut work: Work, calls: u64, bytes: u64, nanoseconds: u64) -> Work {
        work.sizes = vec![SizeClass {
            up_to: None,
            calls,
            bytes,
            nanoseconds,
        }];
        work
    }

    #[test]
    fn what_the_profile_measured_is_saved() {
        let profile = profile();
        let sign = one_class(
            work("ECDSA", Operation::Sign, "secp384r1", "SHA384"),
            10,
            0,
            10_000,
        );
        let saving = of(&sign, &profile).expect("P-384 wins");
        assert_eq!(saving.operation, Accelerated::P384Sign);
        assert_eq!(saving.nanoseconds, Some(9000));
        assert_eq!(saving.in_company_nanoseconds, None);
        let open = work("AES-256-GCM", Operation::Open, "", "");
        let records = one_class(open.clone(), 4, 4 * 16384, 12_000);
        assert_eq!(
            of(&records, &profile).and_then(|s| s.nanoseconds),
            Some(6000)
        );
        let packets = one_class(open, 4, 4 * 40, 400);
        assert_eq!(of(&packets, &profile).and_then(|s| s.nanoseconds), Some(0));
    }

    /// RSA-2048 alone is a draw; eight at once are another matter.
    #[test]
    fn company_saves_more_on_path_card() {
        let rsa = |algorithm, scalar_ns, batch_ns| LanesMeasurement {
            operation: algorithm,
            scalar_ns,
            batch_ns: Some(batch_ns),
            wide_ns: None,
        };
        let mut draw = profile().measurements.swap_remove(0);
        draw.operation = Accelerated::Rsa2048Sign;
        draw.scalar_ns = draw.stock_ns;
        let measurements = vec![profile().measurements.swap_remove(0), draw];
        let lanes = vec![
            rsa(Accelerated::Rsa2048Sign, 500.0, 1200.0),
            rsa(Accelerated::P384Sign, 100.0, 80.0),
        ];
        let costs = Queueing {
            queue_ns: 40.0,
            wake_ns: 0.0,
            pause_ns: 10.0,
            sleep_ns: 0.0,
        };
        let measured = Profile::measured(Machine::detect(), "3.0.22", measurements);
        let mut profile = measured.with_lanes(lanes, costs);
        for operation in [Accelerated::Rsa2048Sign, Accelerated::P384Sign] {
            profile.choices.set(operation, Route::Card);
        }
        let saving = |work| of(&one_class(work, 10, 0, 10_000), &profile).expect("on a card");
        let rsa = saving(work("RSA", Operation::Sign, "2048", "SHA256"));
        assert_eq!(rsa.path, Route::Card);
        assert_eq!(rsa.nanoseconds, Some(0));
        // A batch is 150 for each, the queue and the pause 50: 200 of 500.
        assert_eq!(rsa.in_company_nanoseconds, Some(6000));
        // One lane takes 80 of scalar's 100, which are 100 of stock's 1000.
        let ecdsa = saving(work("ECDSA", Operation::Sign, "secp384r1", "SHA384"));
        assert_eq!(ecdsa.nanoseconds, Some(9200));
        assert_eq!(ecdsa.in_company_nanoseconds, Some(9400));
    }

    #[test]
    fn what_is_done_already_or_never_saves_nothing() {
        let profile = profile();
        let mut ours = work("ECDSA", Operation::Sign, "secp384r1", "SHA384");
        ours.implementation = "outboard".into();
        assert_eq!(of(&ours, &profile), None);
        let chacha = work("ChaCha20-Poly1305", Operation::Seal, "", "");
        assert_eq!(of(&chacha, &profile), None);
    }
}
