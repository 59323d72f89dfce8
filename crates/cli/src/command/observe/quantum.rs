//! What of the key agreements and signatures would withstand a quantum computer.

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
        let agreements = [O::Derive, O::Encapsulate, O::Decapsulate, O::KeyDecrypt];
        let signatures = [O::Sign, O::Verify];
        let inferred = processes
            .iter()
            .flat_map(|process| openssh::inferred(&process.program, &process.work));
        let openssh_hybrid_exchanges = sum(inferred.map(|one| one.exchanges));
        Self {
            key_agreements_post_quantum: calls(&agreements, true),
            key_agreements: calls(&agreements, false),
            openssh_hybrid_exchanges,
            signatures_post_quantum: calls(&signatures, true),
            signatures: calls(&signatures, false),
        }
    }
}
