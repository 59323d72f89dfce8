//! Proof from the ledger that Outboard did the work of a figure.
//!
//! It comes from the command `outboard`, as any user would read it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use outboard_programs::{Launch, OpenSsl};

use crate::Failure;

/// The least counts that a workload must have caused in the ledger.
#[derive(Clone, Debug)]
pub struct Expected {
    operation: String,
    amount: Amount,
}

#[derive(Clone, Copy, Debug)]
enum Amount {
    Operations(u64),
    Bytes(u64),
    InCompany(u64),
}

/// Whether a figure can be believed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Whether the ledger bears it out.
    pub valid: bool,
    /// What it says, for people.
    pub text: String,
}

/// The command that shows the counts and the offered operations.
#[derive(Clone, Debug)]
pub struct Proofs {
    command: PathBuf,
    /// Every operation that Outboard has, and its path by the profile in force.
    paths: Paths,
}

/// Operations and their paths, by name.
type Paths = BTreeMap<String, String>;

impl Expected {
    /// So many operations.
    pub fn operations(operation: &str, operations: u64) -> Self {
        let amount = Amount::Operations(operations);
        Self {
            operation: operation.to_owned(),
            amount,
        }
    }

    /// So many bytes.
    pub fn bytes(operation: &str, bytes: u64) -> Self {
        let amount = Amount::Bytes(bytes);
        Self {
            operation: operation.to_owned(),
            amount,
        }
    }

    /// So many operations, of which enough came at the same time for cards: at least half of them on cards if the profile
    /// chooses cards, else none.
    pub fn in_company(operation: &str, operations: u64) -> Self {
        let amount = Amount::InCompany(operations);
        Self {
            operation: operation.to_owned(),
            amount,
        }
    }

    /// Whether that much was counted, in the ways that are possible where the profile chose `path`.
    fn holds(&self, count: &Count, path: Option<&str>) -> bool {
        match self.amount {
            Amount::Operations(operations) => count.operations >= self.told_of(operations),
            Amount::Bytes(bytes) => count.bytes >= self.told_of(bytes),
            Amount::InCompany(operations) => {
                count.operations >= operations
                    && match path {
                        Some(CARD) => count.on_cards >= operations / 2,
                        Some(SCALAR) => count.on_cards == 0,
                        _ => false,
                    }
            }
        }
    }

    /// The part of the amount that reaches the ledger in any case. A cipher's context counts by itself. If a program ends
    /// without freeing it, as sshd does, up to a sixteenth is missing.
    fn told_of(&self, amount: u64) -> u64 {
        let by_contexts = ["-seal", "-open"];
        if by_contexts.iter().any(|end| self.operation.ends_with(end)) {
            amount - amount / 16
        } else {
            amount
        }
    }
}

impl Proof {
    /// Where nothing is credited to Outboard.
    pub fn not_needed() -> Self {
        Self {
            valid: true,
            text: "none needed: stock on both sides".to_owned(),
        }
    }

    /// Where the profile leaves the work to stock, because it is as fast.
    pub fn left_to_stock() -> Self {
        Self {
            valid: true,
            text: "left to stock: it wins here".to_owned(),
        }
    }

    /// Where Outboard does not take that on at all.
    pub fn not_ours(what: &str) -> Self {
        Self {
            valid: true,
            text: format!("left to stock: Outboard has no {what}"),
        }
    }

    /// Where something else than the ledger speaks against it.
    pub fn unproved(reason: &str) -> Self {
        Self::invalid(reason)
    }

    /// Why a figure that needs this proof must not be believed; nothing if it may.
    pub fn reason_against(&self) -> Option<String> {
        (!self.valid).then(|| format!("not proved: {}", self.text.replace("INVALID: ", "")))
    }

    /// Both must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            valid: self.valid && other.valid,
            text: format!("{}; {}", self.text, other.text),
        }
    }

    fn of(expected: &Expected, counts: &BTreeMap<String, Count>, paths: &Paths) -> Self {
        let name = &expected.operation;
        let path = paths.get(name).map(String::as_str);
        let Some(count) = counts.get(name) else {
            return match path {
                Some(STOCK) => Self {
                    valid: true,
                    text: format!("{name} left to stock: it wins here"),
                },
                _ => Self::invalid(&format!("no {name} was counted")),
            };
        };
        let counted = format!("{} × {name}", count.operations);
        let on_cards = format!("{counted}, {} on cards", count.on_cards);
        let holds = expected.holds(count, path);
        let text = match (expected.amount, path) {
            (Amount::Operations(_), _) if holds => counted,
            (Amount::Bytes(_), _) if holds => format!("{} MiB {name}", count.bytes >> 20),
            (Amount::Operations(_) | Amount::Bytes(_), _) => {
                format!("only {counted}, {} bytes", count.bytes)
            }
            (Amount::InCompany(_), Some(SCALAR)) if holds => {
                format!("{counted}, on the caller's thread: cards gain nothing here")
            }
            (Amount::InCompany(_), _) if holds => on_cards,
            (Amount::InCompany(_), path) => {
                format!(
                    "{on_cards}; the profile chooses path {}",
                    path.unwrap_or("?")
                )
            }
        };
        match holds {
            true => Self { valid: true, text },
            false => Self::invalid(&text),
        }
    }

    fn invalid(text: &str) -> Self {
        Self {
            valid: false,
            text: format!("INVALID: {text}"),
        }
    }
}

/// The names of paths.
const STOCK: &str = "stock";
const SCALAR: &str = "scalar";
const CARD: &str = "card";

/// What Outboard itself did of one operation, on whatever path of its own.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    operations: u64,
    bytes: u64,
    on_cards: u64,
}

/// What we read of `outboard stats --json`.
#[derive(Deserialize)]
struct Stats {
    ledgers: Vec<Ledger>,
}

#[derive(Deserialize)]
struct Ledger {
    total: Counted,
}

#[derive(Deserialize)]
struct Counted {
    work: Vec<Work>,
}

#[derive(Deserialize)]
struct Work {
    operation: String,
    path: String,
    operations: u64,
    bytes: u64,
}

/// What we read of `outboard info --json`.
#[derive(Deserialize)]
struct Info {
    operations: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    operation: String,
    chosen: String,
}

impl Proofs {
    /// Asks which path the profile has chosen for each operation.
    ///
    /// # Errors
    /// If the command `outboard` fails, or says something else.
    pub fn new(command: PathBuf, profile: Option<&Path>) -> Result<Self, Failure> {
        let mut asking = Launch::at(&command).args(["info", "--json"]);
        if let Some(profile) = profile {
            asking = asking.arg("--profile").arg(profile);
        }
        let told = asking.succeed()?;
        let info: Info = serde_json::from_str(&told.output)
            .map_err(|error| format!("cannot understand outboard info --json: {error}"))?;
        let choices = info.operations.into_iter();
        let paths = choices.map(|choice| (choice.operation, choice.chosen));
        Ok(Self {
            command,
            paths: paths.collect(),
        })
    }

    /// Whether Outboard has that operation at all, wherever the profile lets it run.
    pub fn knows(&self, operation: &str) -> bool {
        self.paths.contains_key(operation)
    }

    /// Compares the counts in the ledger of that configuration with the expected ones. Every program that wrote to the
    /// ledger should have ended. A configuration without a ledger needs no proof.
    ///
    /// # Errors
    /// If the command `outboard` fails.
    pub fn find(&self, openssl: &OpenSsl, expected: &[Expected]) -> Result<Proof, Failure> {
        let Some(ledger) = openssl.ledger() else {
            return Ok(Proof::not_needed());
        };
        self.find_in(ledger, expected)
    }

    /// As [`Proofs::find`], from a ledger by its path.
    ///
    /// # Errors
    /// If the command `outboard` fails.
    pub fn find_in(&self, ledger: &Path, expected: &[Expected]) -> Result<Proof, Failure> {
        let counts = self.counts(ledger)?;
        let proofs = expected
            .iter()
            .map(|expected| Proof::of(expected, &counts, &self.paths));
        Ok(proofs
            .reduce(Proof::and)
            .unwrap_or_else(|| Proof::invalid("nothing was expected")))
    }

    fn counts(&self, ledger: &Path) -> Result<BTreeMap<String, Count>, Failure> {
        let told = Launch::at(&self.command)
            .args(["stats", "--json", "--ledger"])
            .arg(ledger)
            .succeed()?;
        let stats: Stats = serde_json::from_str(&told.output)
            .map_err(|error| format!("cannot understand outboard stats --json: {error}"))?;
        let mut counts: BTreeMap<String, Count> = BTreeMap::new();
        let work = stats
            .ledgers
            .into_iter()
            .flat_map(|ledger| ledger.total.work);
        for work in work.filter(|work| work.path != STOCK) {
            let count = counts.entry(work.operation).or_default();
            count.operations += work.operations;
            count.bytes += work.bytes;
            if work.path == CARD {
                count.on_cards += work.operations;
            }
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(operations: u64, bytes: u64) -> BTreeMap<String, Count> {
        let count = Count {
            operations,
            bytes,
            on_cards: 3,
        };
        BTreeMap::from([("aes-128-gcm-seal".to_owned(), count)])
    }

    fn path(operation: &str, path: &str) -> Paths {
        Paths::from([(operation.to_owned(), path.to_owned())])
    }

    #[test]
    fn too_little_is_no_proof() {
        let expected = Expected::bytes("aes-128-gcm-seal", 1 << 20);
        let none = Paths::new();
        assert!(Proof::of(&expected, &counted(9, 1 << 20), &none).valid);
        assert!(Proof::of(&expected, &counted(9, 15 << 16), &none).valid);
        assert!(!Proof::of(&expected, &counted(9, (15 << 16) - 1), &none).valid);
        let operations = |operation: &str, counted| {
            let counts = BTreeMap::from([(operation.to_owned(), counted)]);
            Proof::of(&Expected::operations(operation, 32), &counts, &none).valid
        };
        let count = |operations| Count {
            operations,
            ..Count::default()
        };
        assert!(operations("aes-128-gcm-seal", count(30)));
        assert!(!operations("aes-128-gcm-seal", count(29)));
        assert!(operations("p384-sign", count(32)));
        assert!(!operations("p384-sign", count(31)));
    }

    #[test]
    fn what_stock_does_needs_no_count() {
        let expected = Expected::operations("p256-sign", 10);
        let stock = path("p256-sign", STOCK);
        assert!(Proof::of(&expected, &BTreeMap::new(), &stock).valid);
        assert!(!Proof::of(&expected, &BTreeMap::new(), &Paths::new()).valid);
        let both = Proof::of(&expected, &BTreeMap::new(), &stock).and(Proof::invalid("x"));
        assert!(!both.valid);
    }

    /// Where they should be, and nowhere else.
    #[test]
    fn company_is_where_the_profile_wants_it() {
        let proof = |chosen: &str, operations, on_cards| {
            let name = "ed25519-sign";
            let count = Count {
                operations,
                bytes: 0,
                on_cards,
            };
            let counts = BTreeMap::from([(name.to_owned(), count)]);
            Proof::of(
                &Expected::in_company(name, 100),
                &counts,
                &path(name, chosen),
            )
        };
        assert!(proof(CARD, 100, 50).valid);
        assert!(!proof(CARD, 100, 49).valid);
        assert!(!proof(CARD, 99, 99).valid);
        assert!(proof(SCALAR, 100, 0).valid);
        assert!(!proof(SCALAR, 100, 1).valid);
        assert!(!proof(SCALAR, 99, 0).valid);
        assert!(!proof(STOCK, 100, 0).valid);
        let left = Expected::in_company("ed25519-sign", 100);
        let stock = path("ed25519-sign", STOCK);
        assert!(Proof::of(&left, &BTreeMap::new(), &stock).valid);
        let reason = proof(SCALAR, 100, 60).reason_against();
        let reason = reason.expect("it is not proved");
        assert!(reason.contains("60 on cards; the profile chooses path scalar"));
    }
}
