//! What is measured decides, and what is known of a processor where nothing was.

use outboard_operation::card::Kind;
use outboard_operation::{Operation, Path};
use outboard_profile::{LanesMeasurement, Machine, Measurement, Profile, Queueing};

use crate::{LIBCRYPTO, machine, measurement};

/// Microseconds of one on path scalar, and of a batch.
fn lanes(operation: Operation, scalar: f64, batch: f64) -> LanesMeasurement {
    LanesMeasurement {
        operation,
        scalar_ns: 1e3 * scalar,
        batch_ns: Some(1e3 * batch),
        wide_ns: None,
    }
}

/// The same, and of one across the lanes.
fn with_wide(operation: Operation, scalar: f64, batch: f64, wide: f64) -> LanesMeasurement {
    LanesMeasurement {
        wide_ns: Some(1e3 * wide),
        ..lanes(operation, scalar, batch)
    }
}

/// What the lanes do one at a time alone is never queued, and goes across them where that surely wins.
#[test]
fn lattices_go_across_the_lanes_where_that_wins() {
    for any in [Operation::MlKem768Encapsulate, Operation::MlDsa65Sign] {
        let decided = |wide| {
            let one = LanesMeasurement {
                batch_ns: None,
                ..with_wide(any, 20.0, 0.0, wide)
            };
            let profile = Profile::measured(machine(), LIBCRYPTO, Vec::new());
            let profile = profile.with_lanes(vec![one], Queueing::default());
            assert_eq!(profile.break_even().get(any), None);
            assert_eq!(profile.chosen(), 0, "no OpenSSL before 3.5 has it");
            profile.path(any)
        };
        assert_eq!(decided(10.0), Path::Wide);
        assert_eq!(decided(19.0), Path::Stock);
        let built_in = Profile::built_in(&machine(), LIBCRYPTO);
        assert_eq!(built_in.path(any), Path::Stock, "it was not measured yet");
    }
}

#[test]
fn an_operation_is_offered_where_it_wins_and_nowhere_loses() {
    const ANY: Operation = Operation::P384Sign;
    let decided = |ratios: &[f64]| {
        let measurements: Vec<_> = ratios
            .iter()
            .enumerate()
            .map(|(index, &ratio)| measurement(ANY, 16 << index, ratio))
            .collect();
        Profile::decide(&measurements).path(ANY)
    };
    assert_eq!(decided(&[]), Path::Stock, "unmeasured");
    assert_eq!(decided(&[1.0]), Path::Stock, "a draw");
    assert_eq!(decided(&[1.029]), Path::Stock, "too close to tell");
    assert_eq!(decided(&[1.03]), Path::Scalar);
    assert_eq!(
        decided(&[0.98, 1.0, 1.8]),
        Path::Scalar,
        "nowhere loses, somewhere wins"
    );
    assert_eq!(decided(&[0.979, 3.0, 9.9]), Path::Stock, "loses somewhere");
    assert_eq!(
        decided(&[9.9, 3.0, 0.979]),
        Path::Stock,
        "whatever the order"
    );
    assert_eq!(decided(&[f64::NAN]), Path::Stock);
    assert_eq!(
        decided(&[f64::NAN, 2.0]),
        Path::Stock,
        "what is no number is no win"
    );
    assert_eq!(decided(&[f64::INFINITY]), Path::Scalar);
    assert_eq!(decided(&[-1.0, 2.0]), Path::Stock);

    let choices = Profile::decide(&[measurement(ANY, 16, 2.0)]);
    let others = choices.iter().filter(|&(operation, _)| operation != ANY);
    assert!(others.into_iter().all(|(_, path)| path == Path::Stock));
}

#[test]
fn a_cipher_is_offered_both_ways_or_not_at_all() {
    use Operation::{Aes256GcmOpen as OPEN, Aes256GcmSeal as SEAL};
    let offered = |seal: &[f64], open: &[f64]| {
        let of = |operation, ratios: &[f64]| -> Vec<_> {
            let sized = |(index, &ratio)| measurement(operation, 16u64 << index, ratio);
            ratios.iter().enumerate().map(sized).collect()
        };
        let choices = Profile::decide(&[of(SEAL, seal), of(OPEN, open)].concat());
        (
            choices.path(SEAL) == Path::Scalar,
            choices.path(OPEN) == Path::Scalar,
        )
    };
    assert_eq!(offered(&[1.0, 2.0], &[1.1, 2.0]), (true, true));
    assert_eq!(
        offered(&[1.0, 2.0], &[1.0, 1.0]),
        (true, true),
        "a draw comes along"
    );
    assert_eq!(
        offered(&[1.0, 2.0], &[0.97, 2.0]),
        (false, false),
        "a loss keeps both"
    );
    assert_eq!(offered(&[1.0, 2.0], &[]), (false, false), "unmeasured");
    assert_eq!(offered(&[1.0], &[1.0]), (false, false));
}

#[test]
fn a_short_draw_is_offered_where_its_family_wins() {
    use Operation::{P256Sign, Rsa2048Sign, Rsa2048Verify, Rsa3072Sign, Rsa3072Verify};
    let taking = |microseconds: f64, operation, ratio| Measurement {
        stock_ns: 1e3 * microseconds,
        ..measurement(operation, 0, ratio)
    };
    let choices = Profile::decide(&[
        taking(2000.0, Rsa3072Sign, 2.1),
        taking(350.0, Rsa2048Sign, 1.0),
        taking(20.0, Rsa2048Verify, 0.97),
        taking(40.0, Rsa3072Verify, 0.969),
        taking(70.0, P256Sign, 1.0),
    ]);
    assert_eq!(choices.path(Rsa3072Sign), Path::Scalar);
    assert_eq!(choices.path(Rsa2048Sign), Path::Stock, "a draw, but long");
    assert_eq!(choices.path(Rsa2048Verify), Path::Scalar, "a short draw");
    assert_eq!(choices.path(Rsa3072Verify), Path::Stock, "a loss");
    assert_eq!(choices.path(P256Sign), Path::Stock, "another family");
    assert_eq!(
        choices.path(Operation::Rsa4096Verify),
        Path::Stock,
        "unmeasured"
    );
    let nothing_wins = Profile::decide(&[
        taking(2000.0, Rsa3072Sign, 1.02),
        taking(20.0, Rsa2048Verify, 1.0),
    ]);
    assert_eq!(nothing_wins.path(Rsa2048Verify), Path::Stock);
}

#[test]
fn cards_get_what_they_gain_and_what_alone_does_not_lose() {
    use Operation::{
        P256Keygen, P384Sign, Rsa2048Sign, Rsa3072Sign, Rsa4096Sign, X25519Derive, X25519Keygen,
    };
    let costs = Queueing {
        queue_ns: 3e3,
        wake_ns: 0.0,
        pause_ns: 1e3,
        sleep_ns: 0.0,
    };
    let profile = Profile::measured(
        machine(),
        LIBCRYPTO,
        vec![
            measurement(Rsa2048Sign, 0, 0.98),
            measurement(Rsa3072Sign, 0, 0.8),
            measurement(Rsa4096Sign, 0, 2.3),
            measurement(P384Sign, 0, 9.0),
            measurement(X25519Derive, 0, 1.4),
            measurement(X25519Keygen, 0, 5.0),
        ],
    )
    .with_lanes(
        vec![
            lanes(Rsa2048Sign, 367.0, 812.0),
            lanes(Rsa3072Sign, 952.0, 2457.0),
            lanes(Rsa4096Sign, 1756.0, 5248.0),
            lanes(P384Sign, 91.0, 51.0),
            lanes(X25519Derive, 26.0, 41.0),
            lanes(X25519Keygen, 8.3, 16.3),
            lanes(P256Keygen, 11.6, 15.6),
        ],
        costs,
    );
    assert_eq!(profile.path(Rsa2048Sign), Path::Card, "a draw when alone");
    assert_eq!(profile.path(Rsa3072Sign), Path::Stock, "a loss when alone");
    assert_eq!(
        profile.path(Rsa4096Sign),
        Path::Card,
        "pays from 4, and a queue costs it nothing"
    );
    // As measured on Zen 4.
    let slow = Profile::measured(
        machine(),
        LIBCRYPTO,
        vec![
            measurement(Rsa2048Sign, 0, 1.02),
            measurement(Rsa4096Sign, 0, 2.6),
            measurement(X25519Derive, 0, 1.26),
        ],
    )
    .with_lanes(
        vec![
            lanes(Rsa2048Sign, 342.0, 1256.0),
            lanes(Rsa4096Sign, 1835.0, 8158.0),
            lanes(X25519Derive, 34.0, 120.0),
        ],
        costs,
    );
    assert_eq!(slow.break_even().get(Rsa2048Sign), Some((4, 4)));
    assert_eq!(slow.path(Rsa2048Sign), Path::Card);
    assert_eq!(slow.break_even().get(Rsa4096Sign), Some((5, 5)));
    assert_eq!(
        slow.path(Rsa4096Sign),
        Path::Card,
        "twice as fast with eight"
    );
    assert_eq!(
        slow.path(X25519Derive),
        Path::Scalar,
        "needs too many for what its queue costs"
    );
    assert_eq!(profile.path(P384Sign), Path::Card);
    assert_eq!(profile.path(X25519Derive), Path::Card);
    assert_eq!(
        profile.path(X25519Keygen),
        Path::Scalar,
        "the queue costs more"
    );
    assert_eq!(
        profile.path(P256Keygen),
        Path::Stock,
        "not measured against stock"
    );

    let break_even = profile.break_even();
    assert_eq!(break_even.get(Rsa2048Sign), Some((3, 3)));
    assert_eq!(break_even.get(Rsa4096Sign), Some((4, 4)));
    assert_eq!(break_even.get(P384Sign), Some((1, 1)));
    assert_eq!(break_even.get(X25519Derive), Some((2, 2)));
    assert_eq!(break_even.get(X25519Keygen), Some((3, 4)));
    assert_eq!(break_even.get(Operation::Rsa2048Verify), None);
    let nonsense = vec![
        lanes(P384Sign, f64::NAN, 51.0),
        lanes(Rsa2048Sign, 1.0, f64::INFINITY),
    ];
    let nonsense = profile.clone().with_lanes(nonsense, costs).break_even();
    assert_eq!(nonsense.get(P384Sign), Some((9, 9)));
    assert_eq!(nonsense.get(Rsa2048Sign), Some((9, 9)));
}

#[test]
fn one_alone_goes_across_the_lanes_where_that_wins() {
    use Operation::{P256Keygen, P256Sign, Rsa2048Sign, Rsa4096Sign, X25519Derive, X25519Keygen};
    let costs = Queueing {
        queue_ns: 3e3,
        wake_ns: 0.0,
        pause_ns: 1e3,
        sleep_ns: 0.0,
    };
    let in_nanoseconds = |operation, stock: f64, scalar: f64| Measurement {
        stock_ns: 1e3 * stock,
        scalar_ns: 1e3 * scalar,
        ..measurement(operation, 0, stock / scalar)
    };
    let profile = Profile::measured(
        machine(),
        LIBCRYPTO,
        vec![
            in_nanoseconds(Rsa2048Sign, 150.0, 190.0),
            in_nanoseconds(Rsa4096Sign, 3300.0, 1300.0),
            in_nanoseconds(P256Sign, 15.0, 10.0),
            in_nanoseconds(P256Keygen, 10.0, 5.5),
            in_nanoseconds(X25519Derive, 25.0, 15.0),
            in_nanoseconds(X25519Keygen, 25.0, 4.3),
        ],
    )
    .with_lanes(
        vec![
            with_wide(Rsa2048Sign, 190.0, 480.0, 90.0),
            with_wide(Rsa4096Sign, 1300.0, 3522.0, 605.0),
            with_wide(P256Sign, 10.0, 8.5, 5.2),
            with_wide(P256Keygen, 5.5, 7.5, 5.1),
            with_wide(X25519Derive, 15.0, 18.0, 8.0),
            with_wide(X25519Keygen, 4.3, 7.4, 2.1),
        ],
        costs,
    );
    let break_even = profile.break_even();
    let wide = |operation| Kind::of(operation).is_some_and(|kind| break_even.is_wide(kind));
    // It beats stock across the lanes alone; eight at once still gain.
    assert_eq!(profile.path(Rsa2048Sign), Path::Card);
    assert_eq!(
        (wide(Rsa2048Sign), break_even.get(Rsa2048Sign)),
        (true, Some((6, 6)))
    );
    // Eight at once take three quarters of the time of eight alone, and seven gain a little.
    assert_eq!(profile.path(Rsa4096Sign), Path::Card);
    assert_eq!(
        (wide(Rsa4096Sign), break_even.get(Rsa4096Sign)),
        (true, Some((6, 7)))
    );
    // One lane would beat the scalar path, and loses to all eight.
    assert_eq!(
        (wide(P256Sign), break_even.get(P256Sign)),
        (true, Some((2, 9)))
    );
    // What queueing takes its gain from is not queued.
    assert_eq!(profile.path(X25519Keygen), Path::Wide);
    assert_eq!(
        (wide(X25519Keygen), break_even.get(X25519Keygen)),
        (true, Some((4, 9)))
    );
    // Too little.
    assert_eq!(profile.path(P256Keygen), Path::Scalar);
    assert!(!wide(P256Keygen));
    assert_eq!(profile.path(P256Sign), Path::Wide);
    assert_eq!(profile.path(X25519Derive), Path::Wide);
}

/// As measured on Zen 4 in a virtual machine: two jobs that waited for a sleeping worker had 0.63 of stock's speed.
#[test]
fn waking_a_worker_for_few_costs_more_than_they_gain() {
    use Operation::{P256Sign, P384Sign, Rsa2048Sign};
    let with = |wake_ns| {
        let measured = vec![
            measurement(P256Sign, 0, 1.25),
            measurement(P384Sign, 0, 9.0),
            measurement(Rsa2048Sign, 0, 1.05),
        ];
        let batches = vec![
            lanes(P256Sign, 14.7, 19.2),
            lanes(P384Sign, 84.7, 53.1),
            lanes(Rsa2048Sign, 243.0, 1048.0),
        ];
        let costs = Queueing {
            queue_ns: 5e3,
            wake_ns,
            pause_ns: 100.0,
            sleep_ns: 0.0,
        };
        Profile::measured(machine(), LIBCRYPTO, measured).with_lanes(batches, costs)
    };
    let [without, woken] = [0.0, 32e3].map(with);
    let from = |profile: &Profile| {
        [P256Sign, P384Sign, Rsa2048Sign].map(|operation| {
            profile
                .break_even()
                .get(operation)
                .map(|(_, queued)| queued)
        })
    };
    assert_eq!(from(&without), [Some(3), Some(1), Some(5)]);
    assert_eq!(from(&woken), [Some(4), Some(2), Some(5)]);
    // Whether cards pay at all is asked of those that are busy.
    for operation in [P256Sign, P384Sign, Rsa2048Sign] {
        assert_eq!(woken.path(operation), Path::Card);
        assert_eq!(without.path(operation), Path::Card);
    }
}

/// As measured on Zen 5 in a virtual machine: eight threads that signed with P-256 through a card had a third of the rate that
/// they had alone.
#[test]
fn threads_sleep_only_for_what_takes_longer() {
    use Operation::{P256Sign, Rsa2048Sign};
    let measured = vec![
        measurement(P256Sign, 0, 1.25),
        measurement(Rsa2048Sign, 0, 1.05),
    ];
    let mut batches = vec![
        lanes(P256Sign, 11.0, 12.0),
        lanes(Rsa2048Sign, 190.0, 520.0),
    ];
    (batches[0].wide_ns, batches[1].wide_ns) = (Some(5.5e3), Some(92e3));
    let costs = Queueing {
        queue_ns: 1e3,
        wake_ns: 0.0,
        pause_ns: 100.0,
        sleep_ns: 5e3,
    };
    let profile = Profile::measured(machine(), LIBCRYPTO, measured).with_lanes(batches, costs);
    let break_even = profile.break_even();
    let from = |operation| {
        let kind = outboard_operation::card::Kind::of(operation).expect("a card does it");
        (break_even.of_queue(kind), break_even.of_threads(kind))
    };
    assert_eq!(from(P256Sign), (3, 9));
    assert_eq!(from(Rsa2048Sign), (6, 7));
    // Jobs of OpenSSL's wait together in one thread, and gain.
    assert_eq!(profile.path(P256Sign), Path::Card);
}

#[test]
fn a_win_must_be_sure() {
    let unsure = Measurement {
        low: 0.97,
        ..measurement(Operation::P384Sign, 0, 1.1)
    };
    assert!(Profile::decide(&[unsure]).path(Operation::P384Sign) == Path::Stock);
}

#[test]
fn a_built_in_profile_knows_its_processor_and_its_libcrypto() {
    let with = |features: &[&str]| Machine {
        features: features.iter().map(|&feature| feature.into()).collect(),
        ..machine()
    };
    let newest = with(&[
        "adx",
        "aes",
        "avx2",
        "avx512bw",
        "avx512dq",
        "avx512f",
        "avx512ifma",
        "avx512vbmi2",
        "avx512vl",
        "bmi2",
        "vaes",
        "vpclmulqdq",
    ]);
    let older = with(&["adx", "aes", "avx2", "bmi2"]);
    let offered = |machine: &Machine, libcrypto: &str, operation| {
        let profile = Profile::built_in(machine, libcrypto);
        assert!(profile.is_built_in());
        profile.offers(operation)
    };
    for libcrypto in ["3.0.22", "3.0.2"] {
        assert!(offered(&newest, libcrypto, Operation::Rsa4096Sign));
        assert!(offered(&newest, libcrypto, Operation::P384Sign));
        assert!(!offered(&older, libcrypto, Operation::Rsa4096Sign));
    }
    for libcrypto in ["3.1.0", "3.5.0", "4.0.3", "3", "", "three"] {
        assert!(
            !offered(&newest, libcrypto, Operation::Rsa4096Sign),
            "{libcrypto}"
        );
        // Keys of all curves are of one type: P-256's are never ours only to be handed back.
        for wins in [Operation::P384Sign, Operation::P256Sign] {
            assert!(offered(&newest, libcrypto, wins), "{libcrypto}");
            assert!(offered(&older, libcrypto, wins), "{libcrypto}");
        }
    }
    // It draws, and comes with the keys of those that win.
    assert!(offered(&newest, "3.0.22", Operation::Rsa2048Verify));
    assert!(!offered(&older, "3.0.22", Operation::Rsa2048Verify));
    // Alone a draw, in company a win.
    let path =
        |machine: &Machine| Profile::built_in(machine, "3.0.22").path(Operation::Rsa2048Sign);
    assert_eq!((path(&newest), path(&older)), (Path::Card, Path::Stock));
    assert!(!offered(&newest, "3.0.22", Operation::Rsa2048Decrypt));
    // One across the lanes wins on Zen 4 and Zen 5. The laptops' was not measured.
    let of_family = |family, model| Machine {
        family,
        model,
        ..newest.clone()
    };
    let model = |model| of_family(0x1a, model);
    let x25519_keygen = |model: Machine| {
        let profile = Profile::built_in(&model, "3.5.0");
        let wide = profile.break_even().is_wide(Kind::X25519Generate);
        (profile.path(Operation::X25519Keygen), wide)
    };
    assert_eq!(x25519_keygen(model(0x02)), (Path::Wide, true));
    assert_eq!(x25519_keygen(model(0x24)), (Path::Scalar, false));
    assert_eq!(x25519_keygen(newest.clone()), (Path::Scalar, false));
    let zen_4 = of_family(0x19, 0x11);
    assert_eq!(x25519_keygen(zen_4.clone()), (Path::Wide, true));
    let encapsulation =
        |model: &Machine| Profile::built_in(model, "3.0.22").path(Operation::MlKem768Encapsulate);
    assert_eq!(encapsulation(&zen_4), Path::Wide);
    assert_eq!(
        encapsulation(&newest),
        Profile::built_in(&older, "3.0.22").path(Operation::MlKem768Encapsulate)
    );
    let zen_3 = Machine {
        features: older.features.clone(),
        ..zen_4.clone()
    };
    assert_eq!(x25519_keygen(zen_3), (Path::Scalar, false));
    // It takes vectors in halves: across the lanes, long keys win too little against OpenSSL's own kernels.
    assert!(offered(&zen_4, "3.5.0", Operation::Rsa2048Sign));
    assert!(!offered(&zen_4, "3.5.0", Operation::Rsa3072Sign));
    assert!(offered(&model(0x02), "3.5.0", Operation::Rsa3072Sign));
    let strange = with(&[]);
    assert!(
        Operation::ALL
            .iter()
            .all(|&any| !offered(&strange, "3.0.22", any))
    );
}
