//! Keeps the module in memory once it is loaded.
//!
//! Programs unload a PKCS #11 module when they have finalised it, but its cards' workers end when they like, and threads that
//! used it still hold its thread-local state (AWS-LC's random generator, Rust's own), whose destructors run when they end: by
//! then the code would be gone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
