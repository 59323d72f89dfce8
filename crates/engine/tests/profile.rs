//! The profile: what is measured decides, what is saved is read, and nothing else is believed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path as FilePath, PathBuf};

use outboard_engine::profile::{
    Decision, LanesMeasurement, Measurement, Profile, ProfileError, Queueing,
};
use outboard_engine::{Machine, Operation, Path};

const LIBCRYPTO: &str = "3.0.22";

/// A directory of the test's own, removed whatever happens.
struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("the temporary directory is writable"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("profile.json")
    }
}

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

fn profile() -> Profile {
    let measurements = vec![
        measurement(Operation::P384Sign, 0, 8.25),
        measurement(Operation::Aes128GcmSeal, 16, 0.985),
        measurement(Operation::Aes128GcmSeal, 16384, 2.1),
        measurement(Operation::Aes128GcmOpen, 16384, 2.0),
    ];
    Profile::measured(machine(), LIBCRYPTO, measurements)
}

fn load(path: &FilePath) -> Result<Profile, ProfileError> {
    Profile::load(path, &machine(), LIBCRYPTO)
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
    let lanes = |operation, scalar: f64, batch: f64| LanesMeasurement {
        operation,
        scalar_ns: 1e3 * scalar,
        batch_ns: 1e3 * batch,
    };
    let costs = Queueing {
        queue_ns: 3e3,
        pause_ns: 1e3,
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
fn a_win_must_be_sure() {
    let unsure = Measurement {
        low: 0.97,
        ..measurement(Operation::P384Sign, 0, 1.1)
    };
    assert!(Profile::decide(&[unsure]).path(Operation::P384Sign) == Path::Stock);
}

#[test]
fn what_is_saved_is_loaded() {
    let directory = Directory::new();
    let saved = profile();
    saved
        .save(&directory.file())
        .expect("the directory is ours");
    let loaded = load(&directory.file()).expect("it was just saved");
    assert_eq!(loaded, saved);
    assert!(!loaded.is_built_in());
    assert!(loaded.offers(Operation::P384Sign));
    assert_eq!(loaded.path(Operation::Aes128GcmSeal), Path::Scalar);
    assert!(!loaded.offers(Operation::P384Verify));

    let mode = fs::metadata(directory.file())
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o644);
    saved.save(&directory.file()).expect("over an older one");
    let files = fs::read_dir(&directory.0).expect("it is there").count();
    assert_eq!(files, 1, "no temporary file is left");
}

#[test]
fn json_is_for_others_too() {
    let directory = Directory::new();
    profile()
        .save(&directory.file())
        .expect("the directory is ours");
    let text = fs::read(directory.file()).expect("it was just saved");
    let json: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
    assert_eq!(json["schema"], "outboard-profile");
    assert_eq!(json["version"], 2);
    assert_eq!(json["machine"]["vendor"], "GenuineIntel");
    assert_eq!(json["libcrypto"]["version"], LIBCRYPTO);
    assert_eq!(json["choices"]["p384-sign"], "scalar");
    assert_eq!(json["choices"]["p384-verify"], "stock");
    assert_eq!(json["measurements"][2]["size"], 16384);
    assert_eq!(json["measurements"][2]["ratio"], 2.1);
    assert_eq!(
        json["choices"].as_object().expect("an object").len(),
        Operation::COUNT
    );
}

#[test]
fn saving_is_all_or_nothing() {
    let directory = Directory::new();
    let nowhere = directory.0.path().join("none/profile.json");
    let error = profile().save(&nowhere).expect_err("no such directory");
    assert!(
        error.to_string().contains("cannot write the profile"),
        "{error}"
    );
    fs::create_dir(directory.file()).expect("the directory is ours");
    profile()
        .save(&directory.file())
        .expect_err("a directory is in the way");
    assert_eq!(fs::read_dir(&directory.0).expect("it is there").count(), 1);
}

#[test]
fn only_for_this_machine_and_libcrypto() {
    let directory = Directory::new();
    profile()
        .save(&directory.file())
        .expect("the directory is ours");
    let path = directory.file();

    let named_otherwise = Machine {
        name: String::new(),
        ..machine()
    };
    Profile::load(&path, &named_otherwise, "3.0.2").expect("another patch level is the same");

    for other in [
        Machine {
            model: 207,
            ..machine()
        },
        Machine {
            stepping: 7,
            ..machine()
        },
        Machine {
            vendor: "AuthenticAMD".into(),
            ..machine()
        },
        Machine {
            features: vec!["adx".into()],
            ..machine()
        },
        Machine {
            architecture: "aarch64".into(),
            ..machine()
        },
    ] {
        let error = Profile::load(&path, &other, LIBCRYPTO).expect_err("another machine");
        assert!(
            matches!(error, ProfileError::OtherMachine { .. }),
            "{error}"
        );
    }
    for other in ["3.5.0", "4.0.22", "3", "", "30.22"] {
        let error = Profile::load(&path, &machine(), other).expect_err("another libcrypto");
        assert!(
            matches!(error, ProfileError::OtherLibcrypto { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("outboard calibrate"), "{error}");
    }
    Profile::read(&path).expect("whoever asks for no machine gets it anyway");
}

/// The beginning, which is all that a program reads that starts, tells the same as the whole.
#[test]
fn what_was_decided_is_read_alone() {
    let directory = Directory::new();
    let path = directory.file();
    let lanes = |operation| LanesMeasurement {
        operation,
        scalar_ns: 100_000.0,
        batch_ns: 333_333.25,
    };
    let costs = Queueing {
        queue_ns: 2000.0,
        pause_ns: 1000.0,
    };
    let all = Operation::ALL.iter().copied();
    let measurements = all.clone().map(|operation| measurement(operation, 16, 3.0));
    let profile = Profile::measured(machine(), LIBCRYPTO, measurements.collect());
    let profile = profile.with_lanes(all.map(lanes).collect(), costs);
    profile.save(&path).expect("the directory is ours");
    let decided = || Decision::load(&path, &machine(), LIBCRYPTO);
    let expected = Decision::from(profile.clone());
    assert_eq!(decided().expect("it was just saved"), expected);
    let built_in = Profile::built_in(&machine(), LIBCRYPTO);
    assert_ne!(Decision::from(built_in), expected);

    // What is behind it is not looked at.
    let text = fs::read_to_string(&path).expect("it was just saved");
    let (beginning, rest) = text
        .split_once("\"measurements\"")
        .expect("a profile has some");
    assert!(rest.len() > beginning.len(), "most of it is not read");
    fs::write(&path, format!("{beginning}\"measurements\": damaged")).expect("ours");
    load(&path).expect_err("it is damaged");
    assert_eq!(decided().expect("its beginning is whole"), expected);

    // In another order, as earlier versions saved it, or with a longer beginning it is read as a whole.
    let lanes = beginning.find("\"lanes\"").expect("a profile has some");
    let (head, tail) = beginning.split_at(lanes);
    let rest = rest.trim_end().trim_end_matches('}');
    let tail = tail.trim_end().trim_end_matches(',');
    for text in [
        format!("{head}\"measurements\"{rest}, {tail}}}"),
        format!("{}{text}", " ".repeat(10_000)),
    ] {
        fs::write(&path, text).expect("ours");
        assert_eq!(load(&path).expect("nothing is missing"), profile);
        assert_eq!(decided().expect("nothing is missing"), expected);
    }
}

/// Whatever the whole is refused for, its beginning is, too.
#[test]
fn what_holds_elsewhere_decides_nothing() {
    let directory = Directory::new();
    let path = directory.file();
    let refused = |machine: &Machine, version: &str| {
        let error = Decision::load(&path, machine, version).expect_err("it holds elsewhere");
        let whole = Profile::load(&path, machine, version).expect_err("it holds elsewhere");
        assert_eq!(error.to_string(), whole.to_string());
        error
    };
    let error = refused(&machine(), LIBCRYPTO);
    assert!(matches!(error, ProfileError::Missing { .. }), "{error}");

    profile().save(&path).expect("the directory is ours");
    let other = Machine {
        model: 207,
        ..machine()
    };
    let error = refused(&other, LIBCRYPTO);
    assert!(
        matches!(error, ProfileError::OtherMachine { .. }),
        "{error}"
    );
    let error = refused(&machine(), "3.5.0");
    assert!(
        matches!(error, ProfileError::OtherLibcrypto { .. }),
        "{error}"
    );

    let good = fs::read_to_string(&path).expect("it was just saved");
    for (from, to) in [
        ("outboard-profile", "another-schema"),
        ("\"version\": 2", "\"version\": 3"),
        ("\"version\": 2", "\"version\": 1"),
        ("p384-sign", "des-sign"),
        ("\"queueing\"", "\"queue\""),
    ] {
        fs::write(&path, good.replacen(from, to, 1)).expect("ours");
        refused(&machine(), LIBCRYPTO);
    }
    fs::write(&path, &good[..good.len() / 3]).expect("ours");
    refused(&machine(), LIBCRYPTO);
}

#[test]
fn what_is_no_profile_is_refused() {
    let directory = Directory::new();
    let path = directory.file();
    let error = load(&path).expect_err("there is none");
    assert!(matches!(error, ProfileError::Missing { .. }), "{error}");

    profile().save(&path).expect("the directory is ours");
    let good = fs::read_to_string(&path).expect("it was just saved");
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let refused = |text: &str| {
        fs::write(&path, text).expect("ours");
        load(&path).expect_err(text)
    };
    for damaged in [
        "",
        "{}",
        "null",
        "[1, 2]",
        "\u{0}",
        &good[..good.len() / 2],
        &format!("{good}x"),
        &with("outboard-profile", "another-schema"),
        &with("\"ratio\": 8.25", "\"ratio\": \"fast\""),
        &with("p384-sign", "des-sign"),
        &with("\"scalar\"", "\"quantum\""),
        &with("\"size\": 16", "\"size\": -16"),
        &with("\"model\": 106", "\"model\": 1e99"),
        &"[".repeat(1000),
        &" ".repeat((1 << 20) + 1),
    ] {
        let error = refused(damaged);
        assert!(matches!(error, ProfileError::Damaged { .. }), "{error}");
        assert!(
            error.to_string().contains("run 'outboard calibrate'"),
            "{error}"
        );
    }
    let newer = with("\"version\": 2", "\"version\": 3");
    let older = with("\"version\": 2", "\"version\": 1").replacen("\"lanes\"", "\"other\"", 1);
    let error = refused(&older).to_string();
    assert!(error.contains("of version 1, not 2"), "{error}");
    for text in [
        newer.clone(),
        newer.replacen("\"measurements\"", "\"observations\"", 1),
    ] {
        let error = refused(&text);
        assert!(
            matches!(error, ProfileError::Version { version: 3, .. }),
            "{error}"
        );
    }
    fs::write(&path, &good).expect("ours");
    load(&path).expect("or the above proves nothing");

    // What a later version of the same schema may add is passed over.
    fs::write(
        &path,
        with("\"created\"", "\"weather\": [\"fine\"], \"created\""),
    )
    .expect("ours");
    load(&path).expect("more than we know is no damage");
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let directory = Directory::new();
    let pipe = directory.0.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("coreutils").success());
    for path in [&pipe, directory.0.path(), FilePath::new("/dev/zero")] {
        let error = load(path).expect_err("no regular file");
        assert!(matches!(error, ProfileError::Damaged { .. }), "{error}");
    }
    let circle = directory.0.path().join("circle");
    symlink(&circle, &circle).expect("the directory is ours");
    let error = load(&circle).expect_err("leads nowhere");
    assert!(matches!(error, ProfileError::Unreadable { .. }), "{error}");
}

/// Damage of every kind, somewhere: an error or a profile, never a panic.
#[test]
fn any_damage_is_survived() {
    let directory = Directory::new();
    profile()
        .save(&directory.file())
        .expect("the directory is ours");
    let good = fs::read(directory.file()).expect("it was just saved");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut refused = 0;
    for _ in 0..600 {
        let mut text = good.clone();
        for _ in 0..=random(3) {
            let at = random(text.len());
            match random(4) {
                0 => text[at] = random(256) as u8,
                1 => text.truncate(at + 1),
                2 => drop(text.drain(at..(at + random(40)).min(text.len()))),
                _ => {
                    let piece = text[at..(at + random(40)).min(text.len())].to_vec();
                    let to = random(text.len());
                    text.splice(to..to, piece);
                }
            }
            if text.is_empty() {
                text.push(b'{');
            }
        }
        fs::write(directory.file(), &text).expect("ours");
        refused += usize::from(load(&directory.file()).is_err());
    }
    assert!(
        (300..600).contains(&refused),
        "{refused} of 600 were refused"
    );
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
    let strange = with(&[]);
    assert!(
        Operation::ALL
            .iter()
            .all(|&any| !offered(&strange, "3.0.22", any))
    );
}
