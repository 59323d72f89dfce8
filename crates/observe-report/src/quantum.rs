//! The key agreements and signatures that would resist a quantum computer.

use super::catalogue::Quantum;
use super::openssh;
use super::report::Row;
use outboard_observation::{Operation, RecordedProcess, sum};
use serde::Serialize;

/// How ready these programs are for quantum computers.
#[derive(Serialize)]
pub struct QuantumReadiness {
    /// Key agreements and encapsulations that withstand one, and all of them: what is recorded today
    /// can be opened then. OpenSSH's own are in neither.
    pub key_agreements_post_quantum: u64,
    /// All key agreements and encapsulations.
    pub key_agreements: u64,
    /// Keys and data that were encrypted or decrypted with a key of two halves (RSA: TLS before 1.3, CMS): no agreements,
    /// but what is recorded today can be opened then all the same.
    pub public_key_encryptions_post_quantum: u64,
    /// All such encryptions and decryptions.
    pub public_key_encryptions: u64,
    /// OpenSSH's key exchanges that were inferred to be hybrid: at least so many. Its others are not seen.
    pub openssh_hybrid_exchanges: u64,
    /// Signatures, made and verified, that withstand one.
    pub signatures_post_quantum: u64,
    /// All signatures, made and verified.
    pub signatures: u64,
}

impl QuantumReadiness {
    pub(crate) fn of(rows: &[Row], processes: &[RecordedProcess]) -> Self {
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
        let work = done.map(|(algorithm, operation)| work(algorithm, operation, "", ""));
        let quantum = report(record(work.into())).quantum;
        let agreed = (quantum.key_agreements_post_quantum, quantum.key_agreements);
        assert_eq!(agreed, (1, 2));
        let encrypted = (
            quantum.public_key_encryptions_post_quantum,
            quantum.public_key_encryptions,
        );
        assert_eq!(encrypted, (0, 2));
        assert_eq!(
            (quantum.signatures_post_quantum, quantum.signatures),
            (0, 1)
        );
    }
}
