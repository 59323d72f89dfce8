//! Workloads on real programs, measured from outside.
//!
//! `outboard-programs` starts the programs. [`suite`] runs [`workloads`]; each of them writes one [`result`]. [`report`]
//! makes pages of results, and [`compare`] compares two of them. [`mod@reference`] has the gains of earlier studies.
//! [`first_light`] shows in a table what a user gains with ssh, nginx and curl. [`evp`] measures each operation in one
//! process. [`handshake`] shows where the time of a TLS connection goes. [`load`] measures the cost of loading the provider.

pub mod compare;
pub mod evp;
pub mod first_light;
pub mod handshake;
pub mod installation;
pub mod load;
pub mod proof;
pub mod reference;
pub mod report;
pub mod result;
pub mod statistics;
pub mod suite;
pub mod table;
pub mod workloads;

/// Any failure. The user sees its text.
pub type Failure = Box<dyn std::error::Error>;
