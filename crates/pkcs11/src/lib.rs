//! The PKCS #11 module `outboard-pkcs11.so`: what Java, OpenSSH and others reach cryptographic hardware by.
//!
//! ```text
//! program ──▶ abi ──▶ module: sessions, objects ──▶ operation ──▶ engine          keys of the program: slot "accelerator"
//!             (C)        (tables)                       └───────▶ client ──▶ outboardd   keys of the card service: "coprocessor"
//! ```
//!
//! - `abi`: pointers in, slices and `Result`s out; the only unsafe code but for the environment's.
//! - `module`, `session`, `table`, `lock`: what lives between two calls, in tables that a fork leaves whole.
//! - `slot`, `mechanism`: what is there, and what it can do.
//! - `coprocessor`: the card service's keys, as objects.
//! - `token`: the card service's tokens: logins, and objects that stay.
//! - `profile`: the profiles of the standard that slots have, as objects.
//! - `object`: attributes, which ones an object may have, and keys that are ready to compute.
//! - `operation`: what is done with them.

mod abi;
mod coprocessor;
mod error;
mod lock;
mod mechanism;
mod module;
mod object;
mod operation;
mod profile;
mod session;
mod slot;
mod table;
mod token;

pub use abi::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};

#[global_allocator]
static ALLOCATOR: outboard_guest::memory::Allocator = outboard_guest::memory::Allocator::new();
