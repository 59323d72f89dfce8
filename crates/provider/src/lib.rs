//! The OpenSSL provider `outboard.so`: real programs' keys and ciphers on the engine's paths.
//!
//! ```text
//! libcrypto ──▶ provider-abi ──▶ aes_gcm ────────────────▶ engine
//!                    └──▶ key, exchange, signature, kdf ──▶ engine      what is plain
//!                    ├──▶ post_quantum ───────────────▶ engine      what the program's own OpenSSL lacks
//!                                 └──▶ stock                      all else: the program's own implementation
//! ```
//!
//! A key comes to us in two ways. One that libcrypto has decoded is the default provider's, and lent to us
//! when an operation of ours wants it. One that was made through us is ours to answer for. Behind
//! both, and behind every context, stands stock's own, which answers all that is not beyond doubt.

mod aes_gcm;
mod algorithms;
mod decoder;
mod encoder;
mod encryption;
mod exchange;
mod hashes;
mod job;
mod kdf;
mod key;
mod outboard;
mod owed;
mod post_quantum;
mod settings;
mod signature;
mod stock;
mod store;

pub use outboard::Outboard;

outboard_provider_abi::export_provider!(Outboard);
