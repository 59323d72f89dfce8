//! Makes modules cheap to load: the unwinder is linked in.
//!
//! A panic must reach the boundary and goes no further, so that it needs no unwinder that is shared with
//! others. To find libgcc_s and load it took a fifth of what a module costs a process, and few programs
//! in C have it loaded. rustc asks the linker for it by that name; a linker script of that name, found
//! first by whatever links this crate, says what is meant.
//!
//! The unwinder of today's GCC needs glibc 2.35. With `find_object.c` in front of it, 2.34 is enough.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/find_object.c");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
        let objects = cc::Build::new()
            .file("src/find_object.c")
            .warnings(true)
            .extra_warnings(true)
            .warnings_into_errors(true)
            .compile_intermediates();
        // An object is always linked, where the linker would pass over a library that nobody has asked for yet.
        let object = directory.join("find_object.o");
        fs::copy(&objects[0], &object).expect("the output directory can be written");
        let script = format!("INPUT(\"{}\" -lgcc_eh -lgcc)\n", object.display());
        fs::write(directory.join("libgcc_s.so"), script)
            .expect("the output directory can be written");
        println!("cargo::rustc-link-search=native={}", directory.display());
    }
}
