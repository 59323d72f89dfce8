//! The settings of the provider's section of `openssl.cnf`. The provider and `outboard doctor` read them with the same code.

use std::time::Duration;

use outboard_operation::{Operation, card};

/// A setting of the provider's section: what it takes and does, for `outboard.cnf(5)`, for the documents and for
/// error messages.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, left of the equals sign.
    pub name: &'static str,
    /// The values it takes.
    pub values: &'static str,
    /// The value without a line.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// The settings that are Outboard's own.
pub const ALL: [Setting; 11] = [
    Setting {
        name: "profile",
        values: "a file",
        default: "/var/lib/outboard/profile.json",
        meaning: "The measurements that decide which operations Outboard offers. If the file is missing, damaged or \
                  from another machine, the built-in measurements for this processor class decide.",
    },
    Setting {
        name: "ledger",
        values: "a file",
        default: "/dev/shm/outboard.UID",
        meaning: "The file in which Outboard counts operations.",
    },
    Setting {
        name: "offer",
        values: "profile, all or none",
        default: "profile",
        meaning: "Which operations Outboard offers. profile: the operations that win according to the profile. all: \
                  every operation that Outboard implements. none: no operation.",
    },
    Setting {
        name: "cards",
        values: "auto, or a number from 0 to 16",
        default: "auto",
        meaning: "How many cards a process may have. auto: one for each processor that the process may use. 0: none, \
                  so every operation runs on its caller's thread.",
    },
    Setting {
        name: "algorithms",
        values: "a list of RSA, ECDSA, ECDH, X25519, Ed25519, AES-GCM and KDF, separated by commas",
        default: "all of them",
        meaning: "The only algorithms that Outboard may offer.",
    },
    Setting {
        name: "async",
        values: "yes or no",
        default: "yes",
        meaning: "Whether a job of OpenSSL's ASYNC interface (ASYNC_start_job(3)) pauses while a card works for it.",
    },
    Setting {
        name: "post-quantum",
        values: "yes, no or certificates",
        default: "no",
        meaning: "Whether programs get ML-KEM and ML-DSA keys and the groups X25519MLKEM768, SecP256r1MLKEM768 and \
                  SecP384r1MLKEM1024 of TLS 1.3, if their OpenSSL is older than 3.5 and so has none. This holds for \
                  every program that loads Outboard, whatever the settings offer, algorithms, programs and except say: \
                  a list of groups that names an unknown group is refused whole. certificates: as yes, and ML-DSA in \
                  certificates of TLS 1.3 with OpenSSL 3.2 to 3.4. libssl then has a fault (docs/post-quantum.md).",
    },
    Setting {
        name: "programs",
        values: "names of programs, separated by commas",
        default: "every program",
        meaning: "Outboard serves only these programs. Any other program loads it, can use keys of the card service, and gets \
                  nothing else. A name is that of the program's file (nginx, sshd, python3.11); sshd also stands for \
                  sshd-session.",
    },
    Setting {
        name: "except",
        values: "names of programs, separated by commas",
        default: "no program",
        meaning: "Outboard does not serve these programs, even if the setting programs names them.",
    },
    Setting {
        name: "service",
        values: "a directory",
        default: "/run/outboard",
        meaning: "The directory of the card service. If it exists when a program loads Outboard, the program can read key \
                  files that hold a block OUTBOARD KEY, and open keys by name (outboard:NAME), whatever the settings \
                  offer, algorithms, programs and except say. The service does the operations with these keys.",
    },
    Setting {
        name: "service-limit",
        values: "a number of seconds from 1 to 600",
        default: "5",
        meaning: "How long an operation waits for the card service. While the service restarts, the operation is sent \
                  again. After that time the operation fails.",
    },
];

/// Which operations a provider offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// What a profile says wins.
    Profile,
    /// Everything, to measure and to test.
    All,
    /// Nothing.
    None,
}

/// Reads `offer`.
///
/// # Errors
/// The allowed values, if the value is another one.
pub fn offer(value: &str) -> Result<Offer, String> {
    match value {
        "profile" => Ok(Offer::Profile),
        "all" => Ok(Offer::All),
        "none" => Ok(Offer::None),
        _ => Err(complaint("offer", value)),
    }
}

/// Reads `cards`: how many at most; none for one per core.
///
/// # Errors
/// The allowed values, if the value is another one.
pub fn cards(value: &str) -> Result<Option<usize>, String> {
    if value == "auto" {
        return Ok(None);
    }
    match value.parse() {
        Ok(number) if number <= card::MOST => Ok(Some(number)),
        Ok(_) => Err(refusal("cards", value, "a process cannot have as many")),
        Err(_) => Err(complaint("cards", value)),
    }
}

/// Reads `async`.
///
/// # Errors
/// The allowed values, if the value is another one.
pub fn asynchronous(value: &str) -> Result<bool, String> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(complaint("async", value)),
    }
}

/// What programs get of post-quantum algorithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PostQuantum {
    /// Nothing.
    #[default]
    No,
    /// Keys, signatures and groups of TLS.
    Yes,
    /// Certificates of TLS, too.
    Certificates,
}

/// Reads `post-quantum`.
///
/// # Errors
/// The allowed values, if the value is another one.
pub fn post_quantum(value: &str) -> Result<PostQuantum, String> {
    match value {
        "yes" => Ok(PostQuantum::Yes),
        "no" => Ok(PostQuantum::No),
        "certificates" => Ok(PostQuantum::Certificates),
        _ => Err(complaint("post-quantum", value)),
    }
}

/// Reads `service-limit`.
///
/// # Errors
/// The allowed values, if the value is another one.
pub fn service_limit(value: &str) -> Result<Duration, String> {
    match value.parse() {
        Ok(seconds @ 1..=600) => Ok(Duration::from_secs(seconds)),
        _ => Err(complaint("service-limit", value)),
    }
}

/// Reads `algorithms`: whether each operation is among them. An unknown name gives an error text,
/// and the other names apply.
pub fn algorithms(value: &str) -> (impl Fn(Operation) -> bool, Option<String>) {
    let (known, unknown): (Vec<&str>, Vec<&str>) = value
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .partition(|name| {
            ALGORITHMS
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
        });
    let error = (!unknown.is_empty() || known.is_empty()).then(|| complaint("algorithms", value));
    let known: Vec<String> = known.into_iter().map(str::to_ascii_lowercase).collect();
    let among = move |operation: Operation| {
        // A list of nothing we know limits nothing.
        known.is_empty()
            || known
                .iter()
                .any(|name| *name == algorithm(operation).to_ascii_lowercase())
    };
    (among, error)
}

/// Whether `programs` and `except` (where they are set) let Outboard serve a program, by the name of its file.
pub fn serves(programs: Option<&str>, except: Option<&str>, program: &str) -> bool {
    let names = |list: &str| self::names(list).any(|name| is(program, name));
    programs.is_none_or(names) && !except.is_some_and(names)
}

/// The names in a list.
pub fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
}

/// Programs of one package have names such as `sshd` and `sshd-session`.
fn is(program: &str, name: &str) -> bool {
    let rest = program.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The error of a setting, if it has one.
pub fn check(name: &str, value: &str) -> Option<String> {
    match name {
        "offer" => offer(value).err(),
        "cards" => cards(value).err(),
        "async" => asynchronous(value).err(),
        "post-quantum" => post_quantum(value).err(),
        "algorithms" => algorithms(value).1,
        "service-limit" => service_limit(value).err(),
        _ => None,
    }
}

const ALGORITHMS: [&str; 7] = [
    "RSA", "ECDSA", "ECDH", "X25519", "Ed25519", "AES-GCM", "KDF",
];

/// The algorithm of an operation. Making EC keys is part of ECDH, which does it for each connection.
fn algorithm(operation: Operation) -> &'static str {
    use Operation as O;
    match operation {
        O::P256Sign | O::P256Verify | O::P384Sign | O::P384Verify | O::P521Sign | O::P521Verify => {
            "ECDSA"
        }
        operation => match operation.name() {
            name if name.starts_with("rsa") => "RSA",
            name if name.starts_with("aes") => "AES-GCM",
            name if name.starts_with("tls") || name.starts_with("hkdf") => "KDF",
            // Not of the list: `post-quantum` alone decides about these.
            name if name.starts_with("ml-kem") => "ML-KEM",
            name if name.starts_with("x25519") => "X25519",
            name if name.starts_with("ed25519") => "Ed25519",
            _ => "ECDH",
        },
    }
}

fn complaint(name: &str, value: &str) -> String {
    refusal(name, value, "not understood")
}

fn refusal(name: &str, value: &str, reason: &str) -> String {
    let takes = ALL
        .iter()
        .find(|setting| setting.name == name)
        .map_or("", |setting| setting.values);
    format!("{name} = {value}: {reason}; ignored (it takes {takes})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_an_algorithm_of_the_list() {
        for operation in Operation::compared() {
            assert!(
                ALGORITHMS.contains(&algorithm(operation)),
                "{}",
                operation.name()
            );
        }
        assert_eq!(algorithm(Operation::P384Keygen), "ECDH");
        assert_eq!(algorithm(Operation::Rsa2048Decrypt), "RSA");
    }

    #[test]
    fn a_list_limits_to_what_it_names() {
        let (among, error) = algorithms("rsa, ECDSA");
        assert_eq!(error, None);
        assert!(among(Operation::Rsa4096Sign) && among(Operation::P256Verify));
        assert!(!among(Operation::P256Derive) && !among(Operation::Aes128GcmSeal));
        let (among, error) = algorithms("RSA,DSA");
        assert!(error.is_some_and(|text| text.contains("algorithms = RSA,DSA: not understood;")));
        assert!(among(Operation::Rsa2048Sign) && !among(Operation::P256Sign));
        assert!(algorithms("").0(Operation::P256Sign));
    }

    #[test]
    fn programs_are_served_by_their_names() {
        assert!(serves(None, None, "nginx"));
        assert!(serves(Some("haproxy, nginx"), None, "nginx"));
        assert!(!serves(Some("haproxy"), None, "nginx"));
        assert!(serves(Some("sshd"), None, "sshd-session"));
        assert!(!serves(Some("ssh"), None, "sshd"));
        assert!(!serves(None, Some("ssh,nginx"), "nginx"));
        assert!(!serves(Some("nginx"), Some("nginx"), "nginx"));
    }

    #[test]
    fn values_are_read_or_told_of() {
        assert_eq!(cards("auto"), Ok(None));
        assert_eq!(cards("0"), Ok(Some(0)));
        assert_eq!(cards("16"), Ok(Some(card::MOST)));
        for wrong in ["17", "-1", "many", ""] {
            assert!(check("cards", wrong).is_some(), "{wrong}");
        }
        let too_many = check("cards", "17").unwrap_or_default();
        assert!(too_many.contains("cannot have as many"), "{too_many}");
        assert_eq!(asynchronous("no"), Ok(false));
        assert!(check("async", "maybe").is_some());
        assert_eq!(offer("all"), Ok(Offer::All));
        assert!(check("offer", "some").is_some_and(|text| text.contains("profile, all or none")));
        assert_eq!(service_limit("30"), Ok(Duration::from_secs(30)));
        for wrong in ["0", "601", "1.5", "long"] {
            assert!(check("service-limit", wrong).is_some(), "{wrong}");
        }
        assert_eq!(check("module", "/x"), None);
    }
}
