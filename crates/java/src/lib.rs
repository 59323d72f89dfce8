//! The native half of `outboard.jar`, a provider for Java's cryptography (JCA). The Java half is in `java/`.
//!
//! ```text
//! program ──▶ java/ (JCA) ──▶ abi ──▶ key ──▶ engine          keys of the program
//!                            (JNI)     └────▶ client ──▶ outboardd   keys of the card service
//! ```
//!
//! - `abi`: the native methods of the class `Native`: arrays in, arrays and exceptions out; the only unsafe code.
//! - `key`: private keys, and what is done with them; `kem`: those of ML-KEM, either half; `verification`: what is done with public ones.
//! - `process`: what the process has opened: ledger, cards, the card service.
//!
//! Java owns the keys: a private key is a pointer there, which is freed when Java has collected the key's object.

mod abi;
mod error;
mod kem;
mod key;
mod process;
mod service;
mod verification;

#[global_allocator]
static ALLOCATOR: outboard_guest::memory::Allocator = outboard_guest::memory::Allocator::new();
