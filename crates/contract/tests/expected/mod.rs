//! `expected-differences.txt`: differences that are known, each with its reason.
//!
//! ```text
//! # A comment.
//! [the reason, which holds for the lines below it]
//! sign/orders/rsa*: room: EVP_PKEY_sign* => 0 *
//! ```
//!
//! A line is a pattern of a whole difference: `SCENARIO: SCENE: CALL -> STOCK => OURS @VERSION VARIANT`, in which `*`
//! stands for anything. It matches differences that begin so.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The known differences.
pub(crate) struct Expected {
    patterns: Vec<Pattern>,
}

struct Pattern {
    text: String,
    used: AtomicBool,
}

impl Expected {
    /// Reads the file.
    pub(crate) fn load(path: &Path) -> Self {
        Self::parse(&fs::read_to_string(path).unwrap())
    }

    fn parse(text: &str) -> Self {
        let mut patterns = Vec::new();
        let mut reason = None;
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with('[') && line.ends_with(']') {
                reason = Some(line);
                continue;
            }
            assert!(reason.is_some(), "a difference without a reason: {line}");
            patterns.push(Pattern {
                text: line.to_owned(),
                used: AtomicBool::new(false),
            });
        }
        Self { patterns }
    }

    /// Whether it is a known one.
    pub(crate) fn names(&self, difference: &str) -> bool {
        // Every pattern that matches is in use, not only the first.
        let mut found = false;
        for pattern in &self.patterns {
            if (!found || !pattern.used.load(Ordering::Relaxed))
                && begins(difference, &pattern.text)
            {
                pattern.used.store(true, Ordering::Relaxed);
                found = true;
            }
        }
        found
    }

    /// The patterns that matched nothing.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = self
            .patterns
            .iter()
            .filter(|pattern| !pattern.used.load(Ordering::Relaxed));
        unused.map(|pattern| pattern.text.clone()).collect()
    }
}

/// Whether the text begins as the pattern says, in which `*` stands for anything.
fn begins(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    // The earliest place of each part is as good as any: what follows it may be anything.
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn patterns_match_the_beginning() {
    assert!(begins("sign/rsa: room -> 1 => 0", "sign/*: room"));
    assert!(begins("sign/rsa: room -> 1 => 0", "*=> 0"));
    assert!(!begins("sign/rsa: room -> 1 => 0", "room"));
    assert!(!begins("sign/rsa: room -> 1 => 0", "sign/*=> 1"));
}

#[test]
fn a_pattern_that_matches_nothing_is_told() {
    let expected = Expected::parse("# c\n[because]\na: *\nb: *\n");
    assert!(expected.names("a: x => y"));
    assert!(!expected.names("c: x => y"));
    assert_eq!(expected.unused(), ["b: *"]);
}
