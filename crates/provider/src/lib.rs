//! The OpenSSL provider `outboard.so`: real programs' keys and ciphers on the engine's paths.
//!
//! ```text
//! libcrypto ──▶ provider-abi ──▶ aes_gcm │ x25519 │ ed25519 │ rsa │ ec ──▶ engine
//!                                   └─ what the engine does not do ──▶ stock: libcrypto itself
//! ```
//!
//! Keys come in two ways. A key that libcrypto has decoded is the default provider's, and lent to us
//! when an operation of ours wants it; if we decline it, libcrypto falls back by itself. A key that
//! was made through us is ours to answer for, and whatever we do not know about it the default
//! provider is asked.

mod aes_gcm;
mod algorithms;
mod ec;
mod ed25519;
mod job;
mod octet_key;
mod outboard;
mod rsa;
mod settings;
mod signing;
mod stock;
mod x25519;

pub use outboard::Outboard;

outboard_provider_abi::export_provider!(Outboard);
