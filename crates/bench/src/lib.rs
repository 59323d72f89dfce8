//! Workloads on real programs, measured from outside.
//!
//! `outboard-programs` starts the programs; [`suite`] runs [`workloads`], each of which writes one
//! [`result`]; [`report`] sets them as pages and [`compare`] holds two of them against each other;
//! [`mod@reference`] is what earlier studies gained. [`first_light`] is the main job in a table: what a
//! user gains with ssh, nginx and curl. [`evp`] measures each operation in one process, [`load`] what
//! loading the provider costs.

pub mod compare;
pub mod evp;
pub mod first_light;
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

/// Any failure, told to the user as it is.
pub type Failure = Box<dyn std::error::Error>;
