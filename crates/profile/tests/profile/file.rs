//! What is saved is read, and nothing else is believed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path as FilePath, PathBuf};

use outboard_operation::card::Kind;
use outboard_operation::{Operation, Path};
use outboard_profile::{Decision, LanesMeasurement, Machine, Profile, ProfileError, Queueing};

use crate::{LIBCRYPTO, machine, measurement};

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
        let ProfileError::OtherMachine { theirs, ours, .. } = &error else {
            panic!("{error}");
        };
        assert_ne!(theirs, ours, "it says what differs");
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
        batch_ns: Some(333_333.25),
        wide_ns: Some(88_888.25),
    };
    let costs = Queueing {
        queue_ns: 2000.0,
        wake_ns: 12_000.0,
        pause_ns: 1000.0,
        sleep_ns: 0.0,
    };
    let all = Operation::ALL.iter().copied();
    let measurements = all.clone().map(|operation| measurement(operation, 16, 3.0));
    let profile = Profile::measured(machine(), LIBCRYPTO, measurements.collect());
    let in_lanes = all.filter(|&operation| Kind::of(operation).is_some());
    let profile = profile.with_lanes(in_lanes.map(lanes).collect(), costs);
    profile.save(&path).expect("the directory is ours");
    let decided = || Decision::load(&path, &machine(), LIBCRYPTO);
    let expected = Decision::from(profile.clone());
    assert_eq!(decided().expect("it was just saved"), expected);
    let built_in = Profile::built_in(&machine(), LIBCRYPTO);
    assert_ne!(Decision::from(built_in), expected);

    let text = fs::read_to_string(&path).expect("it was just saved");
    // Earlier versions did not measure what waking costs.
    let known: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("wake_ns"))
        .collect();
    assert!(known.len() < text.lines().count(), "it is there");
    fs::write(&path, known.join("\n")).expect("ours");
    assert_eq!(load(&path).expect("it is not needed").queueing.wake_ns, 0.0);

    // What is behind it is not looked at.
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
    let ours = env!("CARGO_PKG_VERSION");
    let said = format!(
        "comes from another version of Outboard: {ours} with format 1; this is {ours} with 2"
    );
    assert!(error.contains(&said), "{error}");
    // In the same format, another version may know other operations.
    let other = good.replacen("p384-sign", "ml-dsa-sign", 1);
    let error = refused(&other.replacen(&format!("\"{ours}\""), "\"0.0.9\"", 1)).to_string();
    let said = format!(
        "comes from another version of Outboard: 0.0.9 with format 2; this is {ours} with 2"
    );
    assert!(error.contains(&said), "{error}");
    assert!(error.contains("run 'outboard calibrate'"), "{error}");
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
