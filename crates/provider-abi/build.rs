//! Makes modules cheap to load: the unwinder is linked in.
//!
//! A panic must reach the boundary and goes no further, so that it needs no unwinder that is shared with
//! others. To find libgcc_s and load it took a fifth of what a module costs a process, and few programs
//! in C have it loaded. rustc asks the linker for it by that name; a linker script of that name, found
//! first by whatever links this crate, says what is meant.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
        fs::write(directory.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n")
            .expect("the output directory can be written");
        println!("cargo::rustc-link-search=native={}", directory.display());
    }
}
