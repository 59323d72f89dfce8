//! Keeps the module in memory once it is loaded, and makes it load fast.
//!
//! OpenSSL unloads a provider with its library context. What was learnt of the provider that is stood in
//! for, and the record that is mapped, are kept for the process: a module that came anew with each
//! context would map and count anew, and leave what it had.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        // The unwinder is linked in (a panic must reach our boundary, and goes no further): to look
        // for libgcc_s and load it takes a tenth of what a short program may lose. The compiler's driver
        // asks for it by this name; a linker script says what is meant.
        let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
        fs::write(directory.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n")
            .expect("the output directory can be written");
        println!("cargo::rustc-link-search=native={}", directory.display());
    }
}
