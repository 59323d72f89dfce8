//! Keeps the module in memory once it is loaded.
//!
//! OpenSSL unloads a provider with its library context. What was learnt of the provider that is stood in
//! for, and the record that is mapped, are kept for the process: a module that came anew with each
//! context would map and count anew, and leave what it had.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
