//! The cost of connections.

use super::catalogue;
use super::report::{Row, float};
use outboard_observation::{Operation, RecordedProcess, Work, sum};
use serde::Serialize;

/// An estimate of handshakes from key exchanges. In a full TLS handshake, each side agrees on a key once, or the client
/// encrypts a key for the server's RSA key. Resumed handshakes of TLS 1.2 have no key exchange.
#[derive(Serialize)]
pub struct Handshakes {
    /// So many handshakes.
    pub estimated: u64,
    /// Public-key operations, by the handshake.
    pub operations: Vec<PerHandshake>,
    /// Time of those for one handshake.
    pub nanoseconds_each: u64,
}

/// A public-key operation of handshakes.
#[derive(Serialize)]
pub struct PerHandshake {
    /// The kind of work, by the name that people use.
    pub name: String,
    /// What is done.
    pub operation: Operation,
    /// How often in one handshake.
    pub each: f64,
}

impl Handshakes {
    pub(crate) fn of(rows: &[Row], processes: &[RecordedProcess]) -> Self {
        use Operation as O;
        let is_agreement =
            |operation| matches!(operation, O::Derive | O::Encapsulate | O::Decapsulate);
        // RSA key exchange of TLS 1.2 and before: the server has a special padding; the client has the usual one.
        let is_opened =
            |work: &Work| work.operation == O::KeyDecrypt && work.mode == catalogue::TLS_PADDING;
        let is_sealed = |work: &&Work| work.operation == O::KeyEncrypt && work.mode == "pkcs1";
        let sealed = processes
            .iter()
            .filter(|process| process.work.iter().any(|work| work.algorithm == "TLS1-PRF"))
            .flat_map(|process| process.work.iter().filter(is_sealed));
        let is_public = |operation| {
            is_agreement(operation)
                || matches!(
                    operation,
                    O::Generate | O::Sign | O::Verify | O::KeyDecrypt | O::KeyEncrypt
                )
        };
        let exchanges = rows
            .iter()
            .map(|row| &row.work)
            .filter(|work| is_agreement(work.operation) || is_opened(work))
            .chain(sealed);
        let estimated = sum(exchanges.map(|work| work.calls));
        let public: Vec<&Row> = rows
            .iter()
            .filter(|row| is_public(row.work.operation) && row.work.calls > 0)
            .filter(|row| row.work.operation != O::Generate || is_for_agreement(row, rows))
            .collect();
        let time = sum(public.iter().map(|row| row.work.nanoseconds));
        let each = |calls: u64| float(calls) / float(estimated.max(1));
        Self {
            estimated,
            operations: match estimated {
                0 => Vec::new(),
                _ => public
                    .iter()
                    .map(|row| PerHandshake {
                        name: row.name.clone(),
                        operation: row.work.operation,
                        each: each(row.work.calls),
                    })
                    .collect(),
            },
            nanoseconds_each: time / estimated.max(1),
        }
    }
}

/// Whether keys were generated to agree with, as each handshake does. Others are made when a program starts (HAProxy's of
/// Diffie-Hellman), or to sign with. A client may offer keys of more than one kind, and agree with one.
fn is_for_agreement(generated: &Row, rows: &[Row]) -> bool {
    let name = generated.work.algorithm.to_ascii_uppercase();
    match name.as_str() {
        "X25519" | "X448" | "EC" | "SM2" => true,
        "DH" | "DHX" => rows.iter().any(|row| {
            row.work.operation == Operation::Derive
                && (&row.work.algorithm, &row.work.key)
                    == (&generated.work.algorithm, &generated.work.key)
        }),
        _ => name.contains("KEM"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::work;
    use super::super::report::tests::{record, report};
    use super::*;

    #[test]
    fn what_is_done_once_is_no_part_of_a_handshake() {
        let started = Work {
            nanoseconds: 26_000_000,
            ..work("DH", Operation::Generate, "ffdhe4096", "")
        };
        let made = work("X25519", Operation::Generate, "", "");
        let agreed = work("X25519", Operation::Derive, "", "");
        let handshakes = |work: Vec<Work>| {
            let handshakes = report(record(work)).handshakes;
            let each = |one: &PerHandshake| (one.name.clone(), one.operation);
            let mut operations: Vec<_> = handshakes.operations.iter().map(each).collect();
            operations.sort();
            (operations, handshakes.nanoseconds_each)
        };
        let one = |name: &str, operation| (name.to_owned(), operation);
        let both = vec![
            one("X25519", Operation::Generate),
            one("X25519", Operation::Derive),
        ];
        let (operations, each) = handshakes(vec![started.clone(), made, agreed]);
        assert_eq!((operations, each), (both, 2000));
        let agreed = work("DH", Operation::Derive, "ffdhe4096", "");
        assert_eq!(handshakes(vec![started, agreed]).1, 26_001_000);
    }

    #[test]
    fn rsa_key_exchanges_are_handshakes() {
        let estimated = |work: Vec<Work>| report(record(work)).handshakes.estimated;
        let mut agreed = work("X25519", Operation::Derive, "", "");
        agreed.calls = 5;
        let mut opened = work("RSA", Operation::KeyDecrypt, "2048", "");
        opened.mode = "tls".into();
        let sealed = work("RSA", Operation::KeyEncrypt, "2048", "");
        let derived = work("TLS1-PRF", Operation::Kdf, "", "SHA256");
        assert_eq!(estimated(vec![agreed, opened.clone()]), 6);
        assert_eq!(estimated(vec![opened]), 1);
        assert_eq!(estimated(vec![sealed.clone(), derived]), 1);
        // Not of TLS.
        let other = work("RSA", Operation::KeyDecrypt, "2048", "");
        assert_eq!(estimated(vec![sealed, other]), 0);
    }
}
