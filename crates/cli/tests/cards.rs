//! `outboard cards` and what else tells of cards.

mod common;

use common::{document, outboard, run, says, stdout};
use std::fs;

/// A real program with sixteen operations at a time: OpenSSL's own asynchronous jobs.
#[test]
fn what_jobs_share_is_listed() {
    if !outboard_engine::card::are_there() {
        eprintln!("skipped: this processor has no lanes");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    run(
        &["--offer", "all", "--ledger", named],
        &[
            "openssl",
            "speed",
            "-seconds",
            "1",
            "-async_jobs",
            "16",
            "ecdsap384",
        ],
    )
    .assert()
    .success();

    let listed = outboard()
        .args(["cards", "--json", "--ledger", named])
        .assert()
        .success();
    let listed = document(&listed, "outboard-cards");
    let process = &listed["ledgers"][0]["processes"][0];
    assert_eq!(process["program"], "openssl", "{listed}");
    let card = &process["cards"][0];
    let number = |name: &str| card[name].as_u64().expect("a number");
    assert!(number("accepted") > 0, "{card}");
    // Every accepted request was answered once.
    assert_eq!(
        number("accepted"),
        number("in_lanes")
            + number("one_by_one")
            + number("cancelled")
            + number("returned")
            + number("pending")
    );
    assert!(
        card["wait"]["median"].as_u64().expect("nanoseconds") > 0,
        "{card}"
    );
    let work = &process["operations"][0];
    assert_eq!(work["operation"], "p384-sign", "{process}");

    let text = stdout(
        &outboard()
            .args(["cards", "-V", "--ledger", named])
            .assert()
            .success(),
    );
    for part in ["in lanes", "fill", "busy", "wait", "openssl", "p384-sign"] {
        says(&text, part);
    }
    let stats = outboard()
        .args(["stats", "--json", "--ledger", named])
        .assert()
        .success();
    let stats = document(&stats, "outboard-stats");
    let counted = &stats["ledgers"][0]["total"]["cards"][0];
    assert_eq!(counted["accepted"], work["accepted"], "{stats}");
}

#[test]
fn nobody_has_a_card_who_does_one_thing_at_a_time() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    run(
        &["--offer", "all", "--ledger", named],
        &["openssl", "genpkey", "-algorithm", "X25519"],
    )
    .assert()
    .success();
    let cards = || outboard().args(["cards", "--ledger", named]).assert();
    says(&stdout(&cards().success()), "No process has a card");
    fs::remove_file(&ledger).expect("it was made");
    cards().code(1);
    outboard().args(["cards", "--watch", "0"]).assert().code(2);
}
