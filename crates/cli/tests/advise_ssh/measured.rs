//! What is measured: real transfers and logins.

use serde_json::Value;

use crate::common::{document, module, outboard, stdout};
use crate::system::System;

/// Real transfers and logins. What they say of the order is as clear on a busy machine, in a debug
/// build and without VAES: 3DES takes many times as long as AES-GCM.
#[test]
fn what_is_measured_has_the_right_direction() {
    let system = System::new();
    let only = "aes128-gcm@openssh.com,3des-cbc,curve25519-sha256,ssh-ed25519";
    let measured = outboard()
        .args([
            "advise",
            "ssh",
            "--quick",
            "--json",
            "--only",
            only,
            "--directory",
        ])
        .arg(system.directory.path())
        .arg("--module")
        .arg(module())
        .assert()
        .success();
    let document = document(&measured, "outboard-advise-ssh");
    assert_eq!(document["measured"]["with_outboard"], true);
    let costs = document["measured"]["costs"].as_array().expect("a list");
    assert_eq!(costs.len(), 4);
    let client = |name: &str| {
        let cost = costs.iter().find(|cost| cost["name"] == name);
        cost.and_then(|cost| cost["client_seconds"].as_f64())
            .expect("it was measured")
    };
    assert!(
        client("aes128-gcm@openssh.com") < client("3des-cbc"),
        "{costs:?}"
    );

    let proof = system
        .advise(&[
            "--prove",
            "--quick",
            "--json",
            "--module",
            &module().to_string_lossy(),
        ])
        .success();
    let proof: Value = serde_json::from_str(&stdout(&proof)).expect("it is JSON");
    let proof = &proof["proof"];
    let number = |name: &str| proof[name].as_f64().expect("a number");
    // That it gains is for whoever measures to see; here, that what was compared is what is said. A user's defaults
    // are ChaCha20; Outboard takes AES-GCM by its profile or class, which need not be: then it says so.
    assert_eq!(proof["pairs"], 3);
    assert_eq!(proof["today"]["cipher"], "chacha20-poly1305@openssh.com");
    assert_eq!(proof["advised"]["cipher"], "aes128-gcm@openssh.com");
    assert_eq!(proof["advised"]["mac"], Value::Null);
    assert!(number("low") <= number("ratio") && number("ratio") <= number("high"));
    assert!(number("today_user_seconds") > 0.0 && number("advised_user_seconds") > 0.0);
    assert!((0.0..=1.0).contains(&number("by_outboard")), "{proof}");
}
