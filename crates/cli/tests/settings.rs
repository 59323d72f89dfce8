//! What the provider's section of `openssl.cnf` says of cards, algorithms and jobs, obeyed and told of.

mod common;

use common::{document, module, outboard, says};
use outboard_ledger::{Counts, Snapshot};
use outboard_operation::{Operation, Path};
use outboard_programs::{Offer, OpenSsl, Outboard, Workplace};
use std::fs;

struct Stand {
    workplace: Workplace,
    openssl: OpenSsl,
}

impl Stand {
    /// With these lines in the provider's section.
    fn new(settings: &str) -> Self {
        let workplace = Workplace::new().expect("a temporary directory");
        let ours = Outboard {
            module: module(),
            offer: Offer::All,
            profile: None,
        };
        let openssl = OpenSsl::outboard_with(&workplace, &ours, "outboard", settings);
        Self {
            openssl: openssl.expect("it can be written"),
            workplace,
        }
    }

    /// What `openssl` prints; it has to succeed.
    fn openssl(&self, arguments: &[&str]) -> String {
        let command = self.openssl.command().expect("it is installed");
        let said = command
            .args(arguments)
            .directory(self.workplace.path())
            .succeed()
            .expect("it works");
        said.output
    }

    fn counts(&self) -> Counts {
        let ledger = self.openssl.ledger().expect("it has one");
        Snapshot::read(ledger).expect("it was counted").total()
    }
}

fn served(counts: &Counts, operation: Operation) -> u64 {
    [Path::Scalar, Path::Wide, Path::Card]
        .map(|path| counts.work(operation, path).operations)
        .iter()
        .sum()
}

#[test]
fn values_that_make_no_sense_are_told_of_and_passed_over() {
    let stand = Stand::new("cards = 17\nasync = maybe\nalgorithms = DSA\n");
    let complaints = [
        "cards = 17: a process cannot have as many; ignored",
        "async = maybe: not understood; ignored",
        "algorithms = DSA: not understood; ignored",
    ];
    // The program works, as if they were not there.
    stand.openssl(&["genpkey", "-algorithm", "X25519"]);
    assert!(served(&stand.counts(), Operation::X25519Keygen) > 0);

    let configuration = stand.openssl.configuration();
    let mut doctor = outboard();
    let doctor = doctor
        .args(["doctor", "--json"])
        .env("OPENSSL_CONF", configuration);
    let report = document(&doctor.assert().code(1), "outboard-doctor");
    let findings = report["findings"].as_array().expect("a list");
    for complaint in complaints {
        let found = findings.iter().find(|finding| {
            finding["subject"] == "settings"
                && finding["what"]
                    .as_str()
                    .expect("a text")
                    .starts_with(complaint)
        });
        let found = found.unwrap_or_else(|| panic!("no {complaint}: {report:#}"));
        assert_eq!(found["state"], "problem");
    }

    // The error queue, which openssl prints when it fails. While it reads its configuration it clears it of
    // what did not make loading fail; so it loads the provider by itself.
    let text = fs::read_to_string(configuration).expect("it is ours");
    let text = text.replace("activate = 1\noffer", "offer");
    let openssl = OpenSsl::configured(&stand.workplace, "by-itself", &text);
    let command = openssl.expect("it can be written").command();
    let failed = command
        .expect("it is installed")
        .args(["dgst", "-provider", "outboard", "-sha256", "/nowhere/x"])
        .finish()
        .expect("it ends");
    assert!(!failed.status.success());
    for complaint in complaints {
        says(&failed.errors, complaint);
    }
}

#[test]
fn algorithms_limit_what_is_offered() {
    let stand = Stand::new("algorithms = RSA\n");
    let mut offered = 0;
    for kind in [
        "signature-algorithms",
        "key-exchange-algorithms",
        "asymcipher-algorithms",
        "cipher-algorithms",
        "key-managers",
    ] {
        let listed = stand.openssl(&["list", &format!("-{kind}")]);
        for line in listed.lines().filter(|line| line.ends_with("@ outboard")) {
            assert!(line.contains("RSA"), "{kind}: {line}");
            offered += 1;
        }
    }
    assert!(offered > 1, "RSA is offered");

    stand
        .workplace
        .write("message", "hello")
        .expect("it is ours");
    for (file, key) in [
        ("rsa", &["-algorithm", "RSA"][..]),
        ("ec", &["-algorithm", "EC", "-pkeyopt", "group:P-256"]),
    ] {
        let make: Vec<&str> = [&["genpkey", "-out", file], key].concat();
        stand.openssl(&make);
        stand.openssl(&[
            "dgst", "-sha256", "-sign", file, "-out", "signed", "message",
        ]);
    }
    let counts = stand.counts();
    assert!(served(&counts, Operation::Rsa2048Sign) > 0);
    for row in counts.rows() {
        let name = row.operation.name();
        assert!(name.starts_with("rsa-"), "{name} on path {:?}", row.path);
    }
}

/// A job pauses where a card has its request, and only there.
#[test]
fn without_async_no_job_pauses() {
    let speed = ["speed", "-seconds", "1", "-async_jobs", "16", "ecdsap384"];
    for (setting, pauses) in [("async = no\n", false), ("async = yes\n", true)] {
        let stand = Stand::new(setting);
        stand.openssl(&speed);
        let counts = stand.counts();
        assert!(served(&counts, Operation::P384Sign) > 0, "{setting}");
        let queued = counts.queueing(Operation::P384Sign);
        let accepted = queued.map_or(0, |queueing| queueing.accepted);
        let has_lanes = outboard_engine::card::are_there();
        assert_eq!(accepted > 0, pauses && has_lanes, "{setting}: {accepted}");
    }
}

#[test]
fn programs_are_served_by_their_names() {
    for (setting, is_served) in [
        ("programs = haproxy, openssl\n", true),
        ("programs = haproxy\n", false),
        ("except = openssl\n", false),
        ("except = nginx\n", true),
    ] {
        let stand = Stand::new(setting);
        stand.openssl(&["genpkey", "-algorithm", "X25519"]);
        let served = served(&stand.counts(), Operation::X25519Keygen) > 0;
        assert_eq!(served, is_served, "{setting}");
    }
}
