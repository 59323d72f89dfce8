//! What AWS-LC could do to a program that it is a guest in: read its environment, write to its output, end it. All
//! of that which can be reached stands in `docs/aws-lc.md`; what is new there fails this test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::rc::Rc;

use common::jobs::{DIGEST, is_right, rsa, sha256};
use outboard_libcrypto::Signer;

/// What reads the environment, ends the process, or writes to its output.
const WATCHED: [&str; 21] = [
    "getenv",
    "secure_getenv",
    "abort",
    "exit",
    "_exit",
    "raise",
    "stderr",
    "stdout",
    "perror",
    "printf",
    "fprintf",
    "vfprintf",
    "vprintf",
    "puts",
    "fputs",
    "putc",
    "fputc",
    "fwrite",
    "syslog",
    "vsyslog",
    "__fortify_fail",
];

/// Whose functions those are that are not AWS-LC's: the standard library's, and the compiler's unwinder's.
fn is_of_the_compiler(function: &str) -> bool {
    function.starts_with("_R")
        || function.starts_with("_ZN")
        || function.starts_with("_Unwind_")
        || function.starts_with("__deregister_frame")
        || function.contains("fde")
        || function.ends_with(".cold")
        || function.ends_with("@plt")
}

/// The functions of the module that call what is watched, and what they call.
fn callers() -> BTreeSet<(String, String)> {
    let mut objdump = Command::new("objdump")
        .args(["--disassemble", "--no-show-raw-insn"])
        .arg(common::module())
        .stdout(Stdio::piped())
        .spawn()
        .expect("binutils are installed, or nothing could have been linked");
    let mut callers = BTreeSet::new();
    let mut function = String::new();
    for line in BufReader::new(objdump.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // `0000000000031000 <name>:`, or an instruction: `  31004: call 30a20 <abort@plt>`.
        let Some((before, named)) = line.split_once('<') else {
            continue;
        };
        let name = named.trim_end_matches([':', '>']);
        if named.ends_with(">:") && !before.starts_with(' ') {
            function = name.to_owned();
            continue;
        }
        let called = name.split('@').next().unwrap_or(name);
        if WATCHED.contains(&called) && !is_of_the_compiler(&function) {
            callers.insert((function.clone(), called.to_owned()));
        }
    }
    assert!(objdump.wait().unwrap().success());
    callers
}

/// The functions that the document names: what stands in the first column of its table.
fn documented() -> BTreeSet<String> {
    let document = include_str!("../../../docs/aws-lc.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.flat_map(|row| row.split(" | ").next().unwrap_or(row).split(", "));
    names
        .map(|name| name.trim_matches('`').to_owned())
        .collect()
}

#[test]
#[cfg(all(debug_assertions, target_arch = "x86_64"))] // optimised, functions become parts of others
fn all_that_it_could_do_to_a_program_is_known() {
    let callers = callers();
    let reachable: BTreeSet<String> = callers
        .iter()
        .map(|(function, _)| function.clone())
        .collect();
    let documented = documented();
    let unknown: Vec<_> = callers
        .iter()
        .filter(|(function, _)| !documented.contains(function))
        .collect();
    assert!(unknown.is_empty(), "not in docs/aws-lc.md: {unknown:#?}");
    let gone: Vec<_> = documented.difference(&reachable).collect();
    assert!(
        gone.is_empty(),
        "in docs/aws-lc.md, and not reachable: {gone:#?}"
    );
    let readers: Vec<_> = callers
        .iter()
        .filter(|(_, called)| called.contains("getenv"))
        .collect();
    assert!(readers.is_empty(), "the environment is read: {readers:#?}");
}

/// A bit that no processor has: OpenSSL goes on.
#[test]
fn what_the_environment_says_of_the_processor_ends_no_program() {
    for value in ["0x400", "|0x400", ":0x400"] {
        let again = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "it_signs", "--ignored"])
            .env("OPENSSL_ia32cap", value)
            .output()
            .unwrap();
        assert!(
            again.status.success() && again.stderr.is_empty(),
            "{value}: {again:?}"
        );
    }
}

#[test]
#[ignore = "for the test above, which starts it"]
fn it_signs() {
    let sides = common::sides();
    for (_, context) in common::both(&sides) {
        let key = Rc::new(rsa(context));
        let signature = Signer::new(&key, &sha256()).unwrap().sign(DIGEST).unwrap();
        assert!(is_right(&key, &signature));
    }
}
