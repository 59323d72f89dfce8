//! A master key taken to another card in shares, as docs/coprocessor.md says.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::service::Service;
use common::{document, says, shell_block};

const DOCUMENT: &str = include_str!("../../../docs/coprocessor.md");

/// The verification patterns of the symmetric master key: new, current, old.
fn patterns(service: &Service) -> [String; 3] {
    let call = service
        .outboard(&["cca", "call", "CSUACFQ", "rule_array=STATMKVP"])
        .assert();
    let answer = document(&call.success(), "outboard-cca-answer");
    let data = answer["reply"]["verb_data"].as_str().unwrap_or_default();
    [0, 16, 32].map(|start| data[start..start + 16].to_owned())
}

#[test]
fn the_target_has_the_source_s_master_key() {
    let [source, target] = [Service::start(), Service::start()];
    for service in [&source, &target] {
        service.says(&["cca", "enable"]);
        for kind in ["SYM-MK", "ASYM-MK"] {
            for step in ["RANDOM", "SET"] {
                let rules = format!("rule_array={kind},{step}");
                service.says(&["cca", "call", "CSNBMKP", &rules]);
            }
        }
    }
    assert_ne!(patterns(&source)[1], patterns(&target)[1]);
    let outboard = assert_cmd::cargo::cargo_bin!("outboard");
    let file = source.path("outboard");
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", outboard.display());
    fs::write(&file, script).expect("it is ours");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Command::new("sh")
        .args(["-euc", shell_block(DOCUMENT, "cca_clone.rs")])
        .env("PATH", format!("{}:{path}", source.directory().display()))
        .env("SOURCE", source.directory())
        .env("TARGET", target.directory())
        .output()
        .expect("it starts");
    let (said, problems) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(run.status.success(), "{said}{problems}");
    says(&said, "There are enough shares");
    assert_eq!(patterns(&target)[1], patterns(&source)[1]);
    assert_eq!(patterns(&target)[0], "0".repeat(16), "it is set");
}
