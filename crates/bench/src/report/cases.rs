//! Results by case: the rows that say the same of the same, one for each setup.

use super::chart::Ink;
use super::quantity::number;
use crate::reference::digits;
use crate::result::{Better, Ratio, Row, Table};

/// One figure under every setup that it was measured with.
#[derive(Clone, Debug)]
pub(super) struct Case<'a> {
    pub(super) table: &'a Table,
    /// In the order in which they were measured; at least one.
    pub(super) rows: Vec<&'a Row>,
}

/// The table's cases, in its order.
pub(super) fn cases(table: &Table) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for row in &table.rows {
        match cases.iter_mut().find(|case| case.rows[0].belongs_with(row)) {
            Some(case) => case.rows.push(row),
            None => cases.push(Case {
                table,
                rows: vec![row],
            }),
        }
    }
    cases
}

impl<'a> Case<'a> {
    pub(super) fn measure(&self) -> &'a str {
        &self.rows[0].measure
    }

    pub(super) fn unit(&self) -> &'a str {
        &self.rows[0].unit
    }

    pub(super) fn better(&self) -> Better {
        self.rows[0].better
    }

    pub(super) fn row(&self, setup: &str) -> Option<&'a Row> {
        self.rows.iter().copied().find(|row| row.setup == setup)
    }

    /// The labels in the table's order, except one column: "scp, aes128-gcm". Labels that are equal in the whole table are
    /// left out.
    pub(super) fn label_without(&self, column: Option<&str>) -> String {
        let row = self.rows[0];
        let varies = |name: &str| {
            let mut rows = self.table.rows.iter();
            rows.any(|other| other.label(name) != row.label(name))
        };
        let words = |all: bool| {
            let columns = self.table.columns.iter();
            let words = columns
                .filter(|name| Some(name.as_str()) != column && (all || varies(name)))
                .map(|name| labelled(name, row.label(name)))
                .filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(", ")
        };
        let label = words(false);
        if label.is_empty() { words(true) } else { label }
    }

    pub(super) fn label(&self) -> String {
        self.label_without(None)
    }

    /// Where it lies along a column that holds numbers.
    pub(super) fn place(&self, column: &str) -> Option<f64> {
        number(self.rows[0].label(column)).filter(|place| *place > 0.0)
    }
}

/// A column's name for people.
pub(super) fn column_name(column: &str) -> String {
    match column {
        "sid_cached_percent" => "sessions resumed".to_owned(),
        other => other.replace('_', " "),
    }
}

/// A label that reads by itself: numbers take their column's name along; "-" and "no" are nothing.
pub(super) fn labelled(column: &str, label: &str) -> String {
    let name = column_name(column);
    let is_number = label
        .bytes()
        .all(|letter| letter.is_ascii_digit() || letter == b'-');
    match (column, label) {
        (_, "" | "-" | "no") => String::new(),
        (_, "yes") => name,
        // The published tables' column: the share of sessions whose identifier is cached.
        ("sid_cached_percent", "0") => String::new(),
        ("sid_cached_percent", "100") => "resumed".to_owned(),
        ("held", "all") => "all connections".to_owned(),
        ("held", _) => format!("{label} held"),
        ("cards" | "clients" | "jobs" | "workers", "1") => format!("1 {}", &name[..name.len() - 1]),
        ("bytes", _) => length(label),
        _ if is_number => format!("{label} {name}"),
        _ if column.eq_ignore_ascii_case("mac") => format!("MAC {label}"),
        _ => label.to_owned(),
    }
}

/// A length of data: round powers of two with their prefix.
fn length(label: &str) -> String {
    match label.parse::<u64>() {
        Ok(bytes) if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => {
            format!("{} MiB", bytes >> 20)
        }
        Ok(bytes) if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => {
            format!("{} KiB", bytes >> 10)
        }
        _ => format!("{label} bytes"),
    }
}

/// A measure's name where it stands alone; `time` prints three of them shorter.
pub(super) fn measure_name(measure: &str) -> &str {
    match measure {
        "real" => "elapsed time",
        "user" => "user time of the client",
        "sys" => "system time of the client",
        "rate" => "operations",
        other => other,
    }
}

/// The column along which figures grow: the numeric one with most values, if there are three or more.
pub(super) fn scale(table: &Table) -> Option<&str> {
    let values = |column: &String| {
        let labels = table.rows.iter().map(|row| row.label(column));
        // A sum over the others has no place among them.
        let mut labels: Vec<&str> = labels.filter(|label| *label != "all").collect();
        labels.sort_unstable();
        labels.dedup();
        let numeric = labels
            .iter()
            .all(|label| number(label).is_some_and(|value| value > 0.0));
        if numeric { labels.len() } else { 0 }
    };
    // The last of equals: the innermost column.
    let column = table.columns.iter().max_by_key(|column| values(column))?;
    (values(column) >= 3).then_some(column.as_str())
}

/// The setups of a table, in their order of appearance.
pub(super) fn setups(table: &Table) -> Vec<&str> {
    let mut setups: Vec<&str> = Vec::new();
    for row in &table.rows {
        if !setups.contains(&row.setup.as_str()) {
            setups.push(&row.setup);
        }
    }
    setups
}

/// Whether a setup is Outboard's, at one end or both, rather than a baseline's or a peer's.
fn is_outboard(setup: &str) -> bool {
    matches!(setup, "outboard" | "client" | "server" | "both")
        || setup.starts_with("outboard-")
        || cards(setup).is_some()
}

/// The cards of a setup that is named by them: "2 cards".
pub(super) fn cards(setup: &str) -> Option<u32> {
    let (count, word) = setup.split_once(' ')?;
    let count = count.parse().ok()?;
    matches!(word, "card" | "cards").then_some(count)
}

/// Whether a row says what Outboard gains over what the program had.
pub(super) fn is_gain(row: &Row) -> bool {
    is_outboard(&row.setup)
        && row
            .ratio
            .as_ref()
            .is_some_and(|ratio| ratio.baseline == "stock")
}

/// A setup's name for people.
pub(super) fn setup_name(setup: &str) -> String {
    match setup {
        "stock" => "Stock".to_owned(),
        "outboard" => "Outboard".to_owned(),
        "client" => "Outboard at the client".to_owned(),
        "server" => "Outboard at the server".to_owned(),
        "both" => "Outboard at both ends".to_owned(),
        "lanes" => "Outboard's lanes".to_owned(),
        "service" => "Outboard, key in the service".to_owned(),
        "outboard-async" => "Outboard, asynchronous".to_owned(),
        "outboard-pq" => "Outboard, X25519MLKEM768".to_owned(),
        "aws-lc" => "AWS-LC".to_owned(),
        other if cards(other).is_some() => format!("Outboard, {other}"),
        other => match other.strip_prefix("openssl-") {
            Some(version) => format!("OpenSSL {version}"),
            None if other.bytes().all(|letter| letter.is_ascii_lowercase()) => {
                other[..1].to_uppercase() + &other[1..]
            }
            None => other.to_owned(),
        },
    }
}

/// A setup's colour among the table's: the first is the baseline, and Outboard is Outboard wherever it appears.
pub(super) fn ink(setup: &str, setups: &[&str]) -> Ink {
    let is_main = |setup: &str| {
        matches!(
            setup,
            "outboard" | "both" | "1 card" | "EVP, Outboard" | "lanes"
        )
    };
    match setups.iter().position(|other| *other == setup) {
        _ if is_main(setup) => Ink::Outboard,
        None | Some(0) => Ink::Baseline,
        Some(place) => {
            let others = setups[1..place].iter().filter(|other| !is_main(other));
            Ink::Other(others.count())
        }
    }
}

/// "(0.95–1.05)"; of one pair there is none.
pub(super) fn interval(pairs: u64, ratio: &Ratio) -> String {
    match pairs {
        1 => "(one pair)".to_owned(),
        _ => format!("({}–{})", digits(ratio.low), digits(ratio.high)),
    }
}

/// "less is better", "more is better".
pub(super) fn hint(better: Better) -> &'static str {
    match better {
        Better::Lower => "less is better",
        Better::Higher => "more is better",
        Better::Neither => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_read_by_themselves() {
        assert_eq!(labelled("cipher", "aes128-gcm"), "aes128-gcm");
        assert_eq!(labelled("mac", "hmac-sha1"), "MAC hmac-sha1");
        assert_eq!(labelled("mac", "-"), "");
        assert_eq!(labelled("jobs", "1"), "1 job");
        assert_eq!(labelled("jobs", "32"), "32 jobs");
        assert_eq!(labelled("workers", "1"), "1 worker");
        assert_eq!(labelled("sid_cached_percent", "0"), "");
        assert_eq!(labelled("sid_cached_percent", "100"), "resumed");
        assert_eq!(
            labelled("client_authentication", "yes"),
            "client authentication"
        );
        assert_eq!(labelled("client_authentication", "no"), "");
        assert_eq!(labelled("held", "50-99"), "50-99 held");
        assert_eq!(labelled("bytes", "16"), "16 bytes");
        assert_eq!(labelled("bytes", "65536"), "64 KiB");
        assert_eq!(labelled("bytes", "1048576"), "1 MiB");
    }

    #[test]
    fn setups_have_names_and_colours_of_their_own() {
        let setups = ["stock", "outboard", "outboard-async", "openssl-4.0"];
        assert_eq!(setup_name("outboard-async"), "Outboard, asynchronous");
        assert_eq!(setup_name("openssl-4.0"), "OpenSSL 4.0");
        assert_eq!(setup_name("crypto_mb"), "crypto_mb");
        assert_eq!(setup_name("service"), "Outboard, key in the service");
        assert_eq!(setup_name("kernel"), "Kernel");
        let inks = setups.map(|setup| ink(setup, &setups));
        let expected = [Ink::Baseline, Ink::Outboard, Ink::Other(0), Ink::Other(1)];
        assert_eq!(inks, expected);
    }

    #[test]
    fn peers_and_baselines_are_no_gain_of_ours() {
        for setup in [
            "outboard",
            "outboard-async",
            "both",
            "client",
            "1 card",
            "16 cards",
        ] {
            assert!(is_outboard(setup), "{setup}");
        }
        for setup in ["stock", "openssl-4.0", "crypto_mb", "kernel", "two cards"] {
            assert!(!is_outboard(setup), "{setup}");
        }
    }
}
