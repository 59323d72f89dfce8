//! A program whose signal handler jumps out of Outboard (siglongjmp(3)) again and again goes on signing: what stays
//! behind is memory, and no lock that the next operation waits for.

#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::process::Command;

use outboard_programs::Workplace;

#[test]
fn a_program_that_jumps_out_of_operations_goes_on() {
    let place = Workplace::new().unwrap();
    let program = place.join("jump");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jumped/jump.c");
    let built = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-lcrypto")
        .status();
    assert!(built.unwrap().success());
    let sides = common::sides();
    // AWS-LC's own RSA takes a lock of the key for a moment, and whoever jumps out of that moment is ended by the next
    // operation (docs/provider.md). The lanes take none.
    let has_lanes = std::fs::read_to_string("/proc/cpuinfo")
        .unwrap()
        .contains("avx512ifma");
    let without_rsa = if has_lanes { None } else { Some("without RSA") };
    let ended = Command::new("timeout")
        .arg("120")
        .arg(&program)
        .arg("liboutboard.so")
        .args(without_rsa)
        .env("OPENSSL_CONF", sides.configurations().outboard())
        .status();
    assert_eq!(ended.unwrap().code(), Some(0));
}
