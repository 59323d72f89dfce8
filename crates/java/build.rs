//! Keeps the library in memory once it is loaded.
//!
//! Java unloads a library with the class loader that loaded it, but its cards' workers end when they like, and threads that
//! used it still hold its thread-local state, whose destructors run when they end: by then the code would be gone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
