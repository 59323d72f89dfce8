//! The user-defined extension of docs/coprocessor.md, added and called as the document says.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::service::Service;
use common::{document, says, shell_block};

const DOCUMENT: &str = include_str!("../../../docs/coprocessor.md");

#[test]
fn the_example_does_what_the_document_says() {
    let service = Service::start();
    service.says(&["cca", "enable"]);
    for step in ["RANDOM", "SET"] {
        let rules = format!("rule_array=AES-MK,{step}");
        service.says(&["cca", "call", "CSNBMKP", &rules]);
    }
    // The commands of the block: this service's, and one that has compiled the example already.
    let module = wat::parse_str(include_str!("../../../samples/udx/limit.wat"));
    fs::write(service.path("compiled"), module.expect("it is WebAssembly")).expect("it is ours");
    fs::write(service.path("limit.wat"), "").expect("it is ours");
    let outboard = assert_cmd::cargo::cargo_bin!("outboard");
    let directory = service.directory().display();
    for (name, script) in [
        (
            "wat2wasm",
            "[ \"$2\" = -o ] && cp compiled \"$3\"".to_owned(),
        ),
        (
            "outboard",
            format!("exec {} \"$@\" --directory {directory}", outboard.display()),
        ),
    ] {
        let file = service.path(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("it is ours");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Command::new("bash")
        .args(["-euc", shell_block(DOCUMENT, "cca_udx.rs")])
        .current_dir(service.directory())
        .env("PATH", format!("{directory}:{path}"))
        .output()
        .expect("it starts");
    let (said, problems) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(run.status.success(), "{said}{problems}");
    says(&said, "limit is added.");
    says(&said, "daemon may now call limit.");
    says(&said, "CSNBMGN2");
    let calls: Vec<_> = said.split("\n{").skip(1).collect();
    assert_eq!(calls.len(), 2, "{said}");
    says(calls[0], "\"code\": 0");
    says(calls[1], "\"code\": 2");
    says(calls[1], "\"output\": \"\"");

    let call = service.outboard(&["cca", "udx", "call", "limit", "text:00000001x"]);
    let answer = document(&{ call }.assert().success(), "outboard-cca-answer");
    assert_eq!(answer["verb"], "OBUDXC");
    let output = answer["reply"]["output"].as_str().map(str::len);
    assert_eq!(output, Some(32));
    let call = service.outboard(&["cca", "udx", "call", "other"]);
    let answer = document(&{ call }.assert().code(8), "outboard-cca-answer");
    assert_eq!(answer["reason_code"], 20001);
    says(
        &service.says(&["cca", "udx", "revoke", "limit", "--user", "daemon"]),
        "daemon may not call limit.",
    );
    service.says(&["cca", "udx", "remove", "limit"]);
    says(
        &service.says(&["cca", "udx", "list"]),
        "no user-defined extension",
    );
    for (wrong, problem) in [
        (&["cca", "udx", "remove", "limit"][..], "8/20001"),
        (
            &["cca", "udx", "add", "x", "/nonexistent"],
            "cannot read /nonexistent",
        ),
        (&["cca", "udx", "add", "x", "/dev/null"], "8/20002"),
        (
            &["cca", "udx", "add", "x", "/dev/null", "--key", "mac"],
            "NAME=VALUE",
        ),
        (&["cca", "udx", "call", "x", "xyz"], "hexadecimal"),
    ] {
        says(&service.refuses(wrong), problem);
    }
}
