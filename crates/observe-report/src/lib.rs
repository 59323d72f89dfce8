//! What programs' cryptography is and costs: the record of the observing provider, read and judged.
//!
//! ```text
//! the record, CPU times, the profile ──▶ report ──▶ text and JSON (the caller's), cbom
//!                                          ├─ catalogue     names, what is weak, what a quantum computer breaks
//!                                          ├─ findings      what is weak, what cannot be seen
//!                                          ├─ handshakes    what connections cost
//!                                          ├─ quantum       how much of it a quantum computer breaks
//!                                          ├─ saving        what Outboard would do, by the profile
//!                                          ├─ acceleration  how much of it
//!                                          ├─ openssh       what OpenSSH does past EVP
//!                                          └─ protocol      TLS and SSH, by their algorithms
//! services   the records of a system's programs, added up
//! cpu        the CPU time of processes, those that mapped the record
//! ```
//!
//! Knows the record, `/proc`, the profile, and the version of the installed OpenSSH. Knows nothing of a terminal, nor of the provider that writes the record.

mod acceleration;
mod catalogue;
mod cbom;
pub mod cpu;
mod findings;
mod handshakes;
mod mapping;
pub mod openssh;
mod protocol;
mod quantum;
mod report;
mod saving;
mod services;

pub use acceleration::Acceleration;
pub use catalogue::{Quantum, Severity, algorithm};
pub use cbom::document as bill_of_materials;
pub use findings::Finding;
pub use handshakes::{Handshakes, PerHandshake};
pub use openssh::Estimate;
pub use quantum::QuantumReadiness;
pub use report::{ProcessReport, Report, Row, Sources};
pub use saving::Saving;
pub use services::Services;
