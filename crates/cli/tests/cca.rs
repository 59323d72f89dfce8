//! `outboard cca`: the coprocessor switched on and off, its verbs listed and called.

mod common;

use common::service::Service;
use common::{document, says, stderr};
use serde_json::json;

#[test]
fn verbs_are_called_by_words_and_by_json() {
    let service = Service::start();
    let refused = service.refuses(&["cca", "call", "CSNBRNG", "form=RANDOM"]);
    says(&refused, "outboard cca enable --directory");
    says(&service.says(&["cca", "status"]), "no coprocessor");
    says(&service.says(&["cca", "enable"]), "not certified");

    let random = service
        .outboard(&["cca", "call", "CSNBRNG", "form=RANDOM"])
        .assert();
    let random = document(&random.success(), "outboard-cca-answer");
    assert_eq!(random["return_code"], 0);
    let digits = random["reply"]["random_number"].as_str().map(str::len);
    assert_eq!(digits, Some(16));

    // By its words, with JSON, with the verb around the parameters or not.
    for request in [json!({"form": "ODD"}), json!({"CSNBRNG": {"form": "ODD"}})] {
        let mut call = service.outboard(&["cca", "call", "random-number-generate"]);
        call.write_stdin(request.to_string()).assert().success();
    }

    // The exit status is the return code.
    let hash = |words: &[&str]| {
        let words = [&["cca", "call", "CSNBOWH", "text=text:abc"], words].concat();
        service.outboard(&words).assert()
    };
    let hashed = hash(&["rule_array=SHA-256", "hash_length=32"]).success();
    let hashed = document(&hashed, "outboard-cca-answer");
    let value = hashed["reply"]["hash"].as_str().unwrap_or_default();
    says(value, "ba7816bf8f01cfea414140de5dae2223");
    // JSON has texts, and keywords in one, too.
    let plain = json!({"rule_array": "SHA-256", "text": "text:abc", "hash_length": 32});
    let mut call = service.outboard(&["cca", "call", "CSNBOWH"]);
    let same = call.write_stdin(plain.to_string()).assert().success();
    says(
        document(&same, "outboard-cca-answer")["reply"]["hash"]
            .as_str()
            .unwrap_or_default(),
        "ba7816bf8f01cfea414140de5dae2223",
    );
    let mut call = service.outboard(&["cca", "call", "CSNBOWH"]);
    let wrong = call.write_stdin(r#"{"text": "abc"}"#).assert().code(2);
    says(
        &stderr(&wrong),
        "text: an even number of hexadecimal digits",
    );
    let endless = [
        "cca",
        "call",
        "CSNBOWH",
        "rule_array=SHA-256",
        "text=@/dev/zero",
    ];
    let endless = service.outboard(&endless).assert().code(2);
    says(&stderr(&endless), "more than 65536 bytes");
    let refused = hash(&["rule_array=SHA-257", "hash_length=32"]).code(8);
    let refused = document(&refused, "outboard-cca-answer");
    assert_eq!(refused["reason_code"], 33);
    assert_eq!(refused["reason"], "A keyword is not valid.");
    let without = service
        .outboard(&["cca", "call", "CSNBENC", "rule_array=CBC"])
        .assert();
    assert!(matches!(without.get_output().status.code(), Some(8 | 12)));

    for wrong in [
        &["cca", "call", "CSNBXXX"][..],
        &["cca", "call", "CSNBRNG", "from=RANDOM"],
        &["cca", "call", "CSNBRNG", "form=RANDOM", "form=ODD"],
        &["cca", "verbs", "CSNBXXX"],
        &["cca", "destroy"],
    ] {
        let assert = service.outboard(wrong).assert().code(2);
        says(&stderr(&assert), "outboard: ");
    }
    let none = service.outboard(&["cca", "call", "CSNBRNG"]).assert();
    says(&stderr(&none.code(2)), "needs parameters: words NAME=VALUE");
    let mut call = service.outboard(&["cca", "call", "CSNBRNG"]);
    let wrong = call.write_stdin(r#"{"from": "RANDOM"}"#).assert().code(2);
    says(&stderr(&wrong), "from");

    let status = service.outboard(&["cca", "status", "--json"]).assert();
    let status = document(&status.success(), "outboard-cca");
    assert_eq!(status["enabled"], true);
    let verbs = status["verbs"].as_array().cloned().unwrap_or_default();
    let random = verbs.iter().find(|verb| verb["verb"] == "CSNBRNG");
    assert_eq!(random.map(|verb| verb["done"].clone()), Some(json!(3)));
    says(&service.says(&["cca", "status"]), "CSNBOWH");
    says(
        &service.says(&["cca", "grant", "--user", "daemon"]),
        "may now call",
    );
    says(&service.says(&["cca", "status"]), "daemon");
    says(
        &service.says(&["cca", "revoke", "--user", "daemon"]),
        "no grant",
    );
    // Who administers may call, too: both are taken back, or that one.
    for (more, left) in [(&[][..], false), (&["--administer"], true)] {
        service.says(&["cca", "grant", "--user", "daemon"]);
        service.says(&["cca", "grant", "--user", "daemon", "--administer"]);
        service.says(&[&["cca", "revoke", "--user", "daemon"], more].concat());
        let status = service.says(&["cca", "status"]);
        let names = |who: &str| {
            let line = status.lines().find(|line| line.starts_with(who));
            line.is_some_and(|line| line.contains("daemon"))
        };
        assert_eq!(
            (names("may call it"), names("may administer it")),
            (left, false)
        );
    }
    service.says(&["cca", "disable"]);
    service.refuses(&["cca", "call", "CSNBRNG", "form=RANDOM"]);
    service.says(&["cca", "destroy", "--yes"]);
}

#[test]
fn verbs_are_listed_without_a_service() {
    let verbs = common::outboard().args(["cca", "verbs", "--json"]).assert();
    let verbs = document(&verbs.success(), "outboard-cca-verbs");
    let count = verbs["verbs"].as_array().map(Vec::len);
    assert!(count > Some(80), "{count:?}");
    let text = common::outboard()
        .args(["cca", "verbs", "pin-failures"])
        .assert();
    says(&common::stdout(&text.success()), "forget");
}
