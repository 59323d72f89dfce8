//! The whole way, parse to plan to block and back, on the shapes of files that systems ship.

use super::named::Named;
use super::*;
use proptest::prelude::*;
use std::path::Path;

const NO_ENVIRONMENT: Environment = |_| None;

fn fixture(name: &str) -> (PathBuf, Vec<u8>) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let file = directory.join(name);
    let text = std::fs::read(&file).expect("the fixture is in the repository");
    // Systems include by absolute path; the fixtures are wherever the repository is.
    let text = String::from_utf8(text).expect("fixtures are text");
    let absolute = format!(".include = {}/", directory.display());
    (
        file,
        text.replace(".include = ", &absolute)
            .replace("$ENV::HOME", "/root")
            .into_bytes(),
    )
}

fn settings() -> Settings {
    Settings {
        module: Some("/usr/lib/ossl-modules/outboard.so".into()),
        ..Settings::default()
    }
}

fn enabled(file: &Path, text: &[u8]) -> Result<Enabled, ConfError> {
    enable(text, file, &settings(), NO_ENVIRONMENT)
}

/// The lines that `enable` adds to a fixture.
fn lines(name: &str) -> String {
    let (file, text) = fixture(name);
    enabled(&file, &text)
        .expect("a fixture that can be enabled")
        .lines
}

#[test]
fn debian_12_gets_its_list_of_providers() {
    assert_eq!(
        lines("debian-12.cnf"),
        "[openssl_init]\n\
         providers = outboard_providers\n\
         alg_section = outboard_properties\n\
         [outboard_providers]\n\
         default = outboard_default\n\
         outboard = outboard_sect\n\
         [outboard_default]\n\
         activate = 1\n\
         [outboard_sect]\n\
         module = /usr/lib/ossl-modules/outboard.so\n\
         activate = 1\n\
         [outboard_properties]\n\
         default_properties = ?provider=outboard,?outboard.preferred=yes\n\
         # Lines below belong to the section that they belonged to before.\n\
         [pr]\n"
    );
}

#[test]
fn ubuntu_s_default_provider_stays_active() {
    for name in ["ubuntu-22.04.cnf", "ubuntu-24.04.cnf"] {
        let lines = lines(name);
        assert!(
            lines.starts_with("[provider_sect]\noutboard = outboard_sect\n"),
            "{lines}"
        );
        assert!(lines.contains("[default_sect]\nactivate = 1\n"), "{lines}");
    }
}

#[test]
fn rhel_9_is_read_through_its_includes() {
    let (file, text) = fixture("rhel-9.cnf");
    let config = Config::parse(&text, &file, NO_ENVIRONMENT).expect("well formed");
    let value = |section, name| {
        &config
            .assignment(section, name)
            .expect("it is included")
            .value
    };
    assert_eq!(value("crypto_policy", "TLS.MinProtocol"), "TLSv1.2");
    assert_eq!(value("req", "default_bits"), "3072");
    assert_eq!(
        lines("rhel-9.cnf"),
        "[provider_sect]\n\
         outboard = outboard_sect\n\
         [outboard_sect]\n\
         module = /usr/lib/ossl-modules/outboard.so\n\
         activate = 1\n\
         [evp_properties]\n\
         default_properties = ?provider=outboard,?outboard.preferred=yes\n\
         # Lines below belong to the section that they belonged to before.\n\
         [req]\n"
    );
}

#[test]
fn a_file_without_sections_gets_them_in_its_own_style() {
    let (file, text) = fixture("odd-no-sections-crlf.cnf");
    let enabled = enabled(&file, &text).expect("it can be enabled");
    assert!(
        enabled
            .lines
            .starts_with("[default]\nopenssl_conf = outboard_init\n[outboard_init]\n")
    );
    assert!(
        !enabled
            .text
            .windows(2)
            .any(|pair| pair[1] == b'\n' && pair[0] != b'\r')
    );
}

#[test]
fn existing_properties_are_composed_and_fips_is_pointed_out() {
    let (file, text) = fixture("odd-fips.cnf");
    let enabled = enabled(&file, &text).expect("it can be enabled");
    assert!(
        enabled
            .lines
            .contains("default_properties = fips=yes,?provider=outboard,?outboard.preferred=yes\n")
    );
    assert!(enabled.notes[0].contains("FIPS"), "{:?}", enabled.notes);
}

#[test]
fn a_list_without_the_default_provider_gets_it() {
    let lines = lines("odd-without-default.cnf");
    assert!(
        lines.contains("[list]\ndefault = outboard_default\noutboard = outboard_sect\n"),
        "{lines}"
    );
}

#[test]
fn what_would_change_its_meaning_is_refused() {
    for (name, reason) in [
        (
            "refused-legacy-only.cnf",
            "activates the provider legacy without the default provider",
        ),
        (
            "refused-other-preference.cnf",
            "which provider to prefer: '?provider=tpm2'",
        ),
    ] {
        let (file, text) = fixture(name);
        let refusal = enabled(&file, &text).expect_err(name).to_string();
        assert!(refusal.contains(reason), "{name}: {refusal}");
        assert!(
            refusal.contains(&format!("{name}, line ")),
            "{name}: {refusal}"
        );
    }
    for (text, reason) in [
        ("openssl_conf = nowhere\n", "there is no such section"),
        ("a = b\\\n", "ends in a backslash"),
        (
            "[outboard_sect]\na = b\n",
            "already uses the section [outboard_sect]",
        ),
    ] {
        let refusal = enabled(Path::new("x.cnf"), text.as_bytes()).expect_err(reason);
        assert!(refusal.to_string().contains(reason), "{refusal}");
    }
}

/// For a whole system, the stand-in stands beside an active `legacy`. For one program, it takes the place of `legacy`.
#[test]
fn legacy_is_observed_where_it_would_be_there() {
    let observed = |legacy: &str, beside| {
        let text = format!(
            "openssl_conf = i\n[i]\nproviders = p\n[p]\ndefault = d\n{legacy}\n[d]\nactivate = 1\n\
             [l]\nmodule = /old/legacy.so\n[a]\nactivate = 1\n"
        );
        let observer = Observer {
            module: "/observe.so".into(),
            record: None,
            beside,
        };
        let file = Path::new("x.cnf");
        let enabled = observe(text.as_bytes(), file, None, &observer, NO_ENVIRONMENT);
        let enabled = enabled.expect("it can be observed");
        let config = Config::parse(&enabled.text, file, NO_ENVIRONMENT).expect("it can be read");
        assert_eq!(enabled.unobserved, config.unobserved());
        (enabled.lines, enabled.unobserved)
    };
    let beside = "module = /observe.so\nbeside = yes\nactivate = 1\n";
    for legacy in ["", "legacy = l", "legacy = no\n[no]\nactivate = no\n"] {
        let (lines, unobserved) = observed(legacy, true);
        assert!(!lines.contains("legacy"), "{lines}");
        assert!(unobserved.is_empty());
        let (lines, _) = observed(legacy, false);
        assert_eq!(lines.matches("legacy.so\n").count(), 1, "{lines}");
    }
    for (legacy, inner) in [
        ("legacy = a", "legacy.so"),
        ("3.legacy = a", "legacy.so"),
        (
            "old = o\n[o]\nidentity = legacy\nactivate = 1\nmodule = /old/legacy.so\n",
            "/old/legacy.so",
        ),
    ] {
        let (lines, unobserved) = observed(legacy, true);
        assert!(
            lines.contains("\nobserved_legacy = outboard_legacy\n"),
            "{lines}"
        );
        let section = format!("[outboard_legacy]\ninner = {inner}\n{beside}");
        assert!(lines.contains(&section), "{lines}");
        assert!(unobserved.is_empty());
    }
    let (_, unobserved) = observed("legacy = a\nother = a", true);
    assert_eq!(unobserved, ["other"]);
}

/// On every system's file: first, second, kept by a later call, and taken out byte for byte.
#[test]
fn post_quantum_groups_stand_where_they_are_asked_for() {
    for name in FIXTURES {
        let (file, text) = fixture(name);
        let before = Config::parse(&text, &file, NO_ENVIRONMENT).expect(name);
        let usual = before.groups().map(|list| list.value.clone());
        for place in [Place::First, Place::Second] {
            let settings = Settings {
                post_quantum: Some(place),
                ..settings()
            };
            let enabled = enable(&text, &file, &settings, NO_ENVIRONMENT).expect(name);
            assert_eq!(strip(&enabled.text).expect(name), text, "{name}");
            let after = Config::parse(&enabled.text, &file, NO_ENVIRONMENT).expect(name);
            assert_eq!(after.post_quantum_groups(), Some(place), "{name}");
            let ours = after.outboard_settings().expect(name);
            assert_eq!(ours.post_quantum, Some(place), "{name}");
            let list = after.groups().expect(name).value.clone();
            for group in usual.as_deref().unwrap_or("X25519:P-256").split(':') {
                assert!(
                    list.split(':').any(|known| known == group),
                    "{name}: {list}"
                );
            }
            assert_eq!(before.last_section, after.last_section, "{name}");
            // What else the section of TLS says stays.
            for (section, assignments) in before.sections() {
                for assignment in assignments.iter().filter(|one| one.name != "Groups") {
                    if !["activate", "default_properties"].contains(&assignment.name.as_str()) {
                        let now = after.assignment(section, &assignment.name).expect(name);
                        assert_eq!(now.value, assignment.value, "{name} {section}");
                    }
                }
            }
            let kept = earlier(&enabled.text, &file, NO_ENVIRONMENT)
                .expect(name)
                .expect(name);
            assert_eq!(kept.settings.post_quantum, Some(place), "{name}");
            let again = kept
                .write(&enabled.text, &file, NO_ENVIRONMENT)
                .expect(name);
            assert_eq!(again.text, enabled.text, "{name}");
        }
    }
    let (file, text) = fixture("debian-12.cnf");
    let without = enable(&text, &file, &settings(), NO_ENVIRONMENT).expect("it can be enabled");
    assert!(!without.lines.contains("Groups") && !without.lines.contains("post-quantum"));
}

/// A person who wrote `post-quantum = certificates`, in the block or in a section of their own, keeps it as long as the groups stay.
#[test]
fn more_than_yes_stays() {
    let settings = Settings {
        post_quantum: Some(Place::First),
        ..settings()
    };
    let (file, text) = fixture("debian-12.cnf");
    let enabled = enable(&text, &file, &settings, NO_ENVIRONMENT).expect("it can be enabled");
    let more = |text: &[u8]| {
        let text = String::from_utf8(text.to_vec()).expect("text");
        text.replace("post-quantum = yes", "post-quantum = certificates")
    };
    let edited = more(&enabled.text);
    let mut kept = earlier(edited.as_bytes(), &file, NO_ENVIRONMENT)
        .expect("its markers are whole")
        .expect("there is a block");
    assert_eq!(kept.settings.post_quantum, Some(Place::First));
    let write = |kept: &Earlier| {
        let again = kept.write(edited.as_bytes(), &file, NO_ENVIRONMENT);
        String::from_utf8(again.expect("it can be enabled").text).expect("text")
    };
    let again = write(&kept);
    assert_eq!(
        again.matches("post-quantum = certificates").count(),
        1,
        "{again}"
    );
    assert!(!again.contains("post-quantum = yes"), "{again}");
    kept.settings.post_quantum = None;
    assert!(!write(&kept).contains("post-quantum"));

    let by_hand =
        b"openssl_conf = init\n[init]\nproviders = list\n[list]\ndefault = on\noutboard = ours\n\
        [on]\nactivate = 1\n[ours]\npost-quantum = certificates\nactivate = 1\n";
    let enabled = enable(by_hand, &file, &settings, NO_ENVIRONMENT).expect("it can be enabled");
    assert!(
        !enabled.lines.contains("post-quantum = yes"),
        "{}",
        enabled.lines
    );
    let kept = earlier(&enabled.text, &file, NO_ENVIRONMENT)
        .expect("its markers are whole")
        .expect("there is a block");
    assert_eq!(kept.settings.post_quantum, Some(Place::First));
}

#[test]
fn outboard_configured_by_hand_keeps_its_section() {
    let text = b"openssl_conf = i\n[i]\nproviders = p\nalg_section = a\n[p]\ndefault = d\n\
        outboard = mine\n[d]\nactivate = 1\n[mine]\nactivate = 1\n\
        [a]\ndefault_properties = ?provider=outboard\n";
    let config = Config::parse(text, Path::new("x.cnf"), NO_ENVIRONMENT).expect("well formed");
    assert_eq!(
        config.outboard(),
        Some(Named {
            section: "mine".into(),
            preferred: true
        })
    );
    assert_eq!(
        enabled(Path::new("x.cnf"), text)
            .expect("it can be extended")
            .lines,
        "[mine]\nmodule = /usr/lib/ossl-modules/outboard.so\nactivate = 1\n\
         # Lines below belong to the section that they belonged to before.\n[a]\n"
    );
}

const FIXTURES: &[&str] = &[
    "debian-12.cnf",
    "ubuntu-22.04.cnf",
    "ubuntu-24.04.cnf",
    "rhel-9.cnf",
    "odd-no-sections-crlf.cnf",
    "odd-fips.cnf",
    "odd-without-default.cnf",
];

#[test]
fn enable_then_disable_is_nothing_and_enable_twice_is_once() {
    for name in FIXTURES {
        let (file, text) = fixture(name);
        let once = enabled(&file, &text).expect(name).text;
        assert_eq!(strip(&once).expect(name), text, "{name}");
        let twice = enabled(&file, &once).expect(name).text;
        assert_eq!(once, twice, "{name}");

        let config = Config::parse(&once, &file, NO_ENVIRONMENT).expect(name);
        assert!(config.outboard().expect(name).preferred, "{name}");
        let before = Config::parse(&text, &file, NO_ENVIRONMENT).expect(name);
        assert_eq!(before.outboard(), None, "{name}");
        assert_eq!(config.last_section, before.last_section, "{name}");
    }
}

/// Configurations that say anything about providers and properties, in any order.
fn any_configuration() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("openssl_conf = init"),
        Just("[default]"),
        Just("[init]"),
        Just("[list]"),
        Just("[default_sect]"),
        Just("[algorithms]"),
        Just("[ other ]"),
        Just("providers = list"),
        Just("alg_section = algorithms"),
        Just("default = default_sect"),
        Just("2.default = default_sect"),
        Just("legacy = other"),
        Just("activate = 1"),
        Just("activate = no"),
        Just("default_properties = fips=no"),
        Just("init::providers = list"),
        Just("# activate = 1"),
        Just(""),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (proptest::collection::vec((line, end), 0..14), any::<bool>()).prop_map(|(lines, complete)| {
        let text: String = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end])
            .collect();
        if complete {
            text
        } else {
            text.trim_end().to_owned()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn whatever_it_says_it_is_kept(text in any_configuration()) {
        let file = Path::new("x.cnf");
        let Ok(Enabled { text: once, .. }) = enabled(file, text.as_bytes()) else { return Ok(()) };
        prop_assert_eq!(&strip(&once).expect("an intact block"), text.as_bytes());

        let before = Config::parse(text.as_bytes(), file, NO_ENVIRONMENT).expect("it was read before");
        let after = Config::parse(&once, file, NO_ENVIRONMENT).expect("the block is well formed");
        prop_assert!(after.outboard().is_some_and(|named| named.preferred));
        prop_assert_eq!(&before.last_section, &after.last_section);
        // Every assignment stays, except those that the block must replace.
        for (section, assignments) in before.sections() {
            for assignment in assignments {
                let name = assignment.name.as_str();
                let now = after.assignment(section, name).expect("assignments do not vanish");
                if !matches!(name, "activate" | "default_properties") {
                    prop_assert_eq!(&now.value, &assignment.value, "[{}] {}", section, name);
                }
            }
        }
    }
}
