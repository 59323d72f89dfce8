//! Keeps the module in memory once it is loaded.
//!
//! OpenSSL unloads a provider with its library context, but threads that used it still hold its
//! thread-local state (AWS-LC's random generator, Rust's own), whose destructors run when they end:
//! by then the code would be gone. libcrypto itself is linked this way for the same reason.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
