//! The key agreements and signatures that would resist a quantum computer.

use super::catalogue::Quantum;
use super::openssh;
use super::report::Row;
use outboard_observation::{Operation, RecordedProcess, sum};
use serde::Serialize;

/// How ready these programs are for quantum computers.
#[derive(Serialize)]
pub(super) struct QuantumReadiness {
    /// Key agreements and encapsulations that withstand one, and all of them: what is recorded today
    /// can be opened then. OpenSSH's own are in neither.
    pub(super) key_agreements_post_quantum: u64,
    pub(super) key_agreements: u64,
    /// Keys and data that were encrypted or decrypted with a key of two halves (RSA: TLS before 1.3, CMS): no agreements,
    /// but what is recorded today can be opened then all the same.
    pub(super) public_key_encryptions_post_quantum: u64,
    pub(super) public_key_encryptions: u64,
    /// OpenSSH's key exchanges that were inferred to be hybrid: at least so many. Its others are not seen.
    pub(super) openssh_hybrid_exchanges: u64,
    pub(super) signatures_post_quantum: u64,
    pub(super) signatures: u64,
}

impl QuantumReadiness {
    pub(super) fn of(rows: &[Row], processes: &[RecordedProcess]) -> Self {
        use Operation as O;
        let calls = |operations: &[O], only_ready: bool| {
            sum(rows
                .iter()
                .filter(|row| operations.contains(&row.work.operation))
                .filter(|row| !only_ready || row.quantum == Quantum::Withstands)
                .map(|row| row.work.calls))
        };
        let agreements = [O::Derive, O::Encapsulate, O::Decapsulate];
        let encryptions = [O::KeyEncrypt, O::KeyDecrypt];
        let signatures = [O::Sign, O::Verify];
        let inferred = processes
            .iter()
            .flat_map(|process| openssh::inferred(&process.program, &process.work));
        let openssh_hybrid_exchanges = sum(inferred.map(|one| one.exchanges));
        Self {
            key_agreements_post_quantum: calls(&agreements, true),
            key_agreements: calls(&agreements, false),
            public_key_encryptions_post_quantum: calls(&encryptions, true),
            public_key_encryptions: calls(&encryptions, false),
            openssh_hybrid_exchanges,
            signatures_post_quantum: calls(&signatures, true),
            signatures: calls(&signatures, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::work;
    use super::super::report::tests::{record, report};
    use super::*;

    #[test]
    fn what_is_encrypted_is_not_agreed_on() {
        let done = [
            ("X25519MLKEM768", Operation::Decapsulate),
            ("X25519", Operation::Derive),
            ("RSA", Operation::KeyEncrypt),
            ("RSA", Operation::KeyDecrypt),
            ("ECDSA", Operation::Sign),
        ];
        let text = |done: &[(&str, Operation)]| {
            let work = done
                .iter()
                .map(|&(algorithm, operation)| work(algorithm, operation, "", ""));
            report(record(work.collect())).text(false, false, crate::output::To::File)
        };
        let all = text(&done);
        let said = "  1 of 2 key agreements, 0 of 2 public-key encryptions and 0 of 1 signatures would resist one\n";
        assert!(all.contains(said), "{all}");
        let some = text(&done[2..]);
        let said = "  0 of 2 public-key encryptions and 0 of 1 signatures would resist one\n";
        assert!(some.contains(said), "{some}");
        let one = text(&done[2..4]);
        assert!(
            one.contains("\n  0 of 2 public-key encryptions would resist one\n"),
            "{one}"
        );
        let none = text(&[("SHA2-256", Operation::Digest)]);
        assert!(!none.contains("would resist one"), "{none}");
    }
}
