//! Does the provider understand its settings?

use std::path::Path;

use outboard_profile::settings;

use crate::Finding;
use outboard_openssl_conf::Config;

/// What OpenSSL itself and the observing module understand in the section.
const OTHERS: &[&str] = &[
    "module",
    "activate",
    "identity",
    "soft_load",
    "inner",
    "beside",
    "record",
];

/// Finds wrong settings in that section.
pub(crate) fn examine(config: &Config, section: &str, file: &Path, findings: &mut Vec<Finding>) {
    let file = file.display();
    for setting in config.section(section).unwrap_or_default() {
        let (name, value) = (setting.name.as_str(), setting.value.as_str());
        let known = settings::ALL.iter().map(|setting| setting.name);
        let known: Vec<&str> = known.chain(OTHERS.iter().copied()).collect();
        // OpenSSL ignores what stands before a dot.
        let plain = name.split_once('.').map_or(name, |(_, rest)| rest);
        if known.contains(&plain) {
            let Some(complaint) = settings::check(name, value) else {
                continue;
            };
            findings.push(
                Finding::problem("settings", complaint)
                    .because(format!("[{section}] in {file} has this line"))
                    .remedy("correct it, or remove the line"),
            );
            continue;
        }
        let closest = known.iter().min_by_key(|known| distance(known, plain));
        let meant = closest.filter(|known| distance(known, plain) <= 2);
        findings.push(
            Finding::problem(
                "settings",
                format!("{name} = {value}: there is no such setting"),
            )
            .because(format!("{}: programs ignore the line", setting.origin))
            .remedy(match meant {
                Some(meant) => format!("write '{meant} = {value}', or remove the line"),
                None => "remove the line (outboard.cnf(5) lists the settings)".to_owned(),
            }),
        );
    }
}

/// How many letters must be added, removed or replaced to make one word the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, &wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_misspelt_are_near() {
        assert_eq!(distance("cards", "cards"), 0);
        assert_eq!(distance("cards", "card"), 1);
        assert_eq!(distance("algorithms", "algorithm"), 1);
        assert_eq!(distance("offer", "ofer"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert!(distance("profile", "ledger") > 2);
    }
}
