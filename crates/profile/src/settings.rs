//! What a configuration may say, as the provider's section of `openssl.cnf` does: read the same way by the
//! provider, which obeys, and by `outboard doctor`, which explains.

use outboard_operation::{Operation, card};

/// The settings that are Outboard's own, each with the values it takes.
pub const ALL: [(&str, &str); 6] = [
    ("profile", "a file"),
    ("ledger", "a file"),
    ("offer", "profile, all or none"),
    ("cards", "auto, or a number from 0 to 16"),
    (
        "algorithms",
        "a list of RSA, ECDSA, ECDH, X25519, Ed25519 and AES-GCM, separated by commas",
    ),
    ("async", "yes or no"),
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
/// What it may be, for whoever wrote something else.
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
/// What it may be, for whoever wrote something else.
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
/// What it may be, for whoever wrote something else.
pub fn asynchronous(value: &str) -> Result<bool, String> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(complaint("async", value)),
    }
}

/// Reads `algorithms`: whether each operation is among them. A name that is none is a reason to tell of,
/// and the others hold.
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

/// What is wrong with a setting; none where nothing is.
pub fn check(name: &str, value: &str) -> Option<String> {
    match name {
        "offer" => offer(value).err(),
        "cards" => cards(value).err(),
        "async" => asynchronous(value).err(),
        "algorithms" => algorithms(value).1,
        _ => None,
    }
}

const ALGORITHMS: [&str; 6] = ["RSA", "ECDSA", "ECDH", "X25519", "Ed25519", "AES-GCM"];

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
        .find(|(setting, _)| *setting == name)
        .map_or("", |(_, takes)| takes);
    format!("{name} = {value}: {reason}; passed over (it takes {takes})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_an_algorithm_of_the_list() {
        for &operation in Operation::ALL {
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
        assert_eq!(check("module", "/x"), None);
    }
}
