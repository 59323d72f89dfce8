//! The workloads of whole programs, each run once through the command, as small as can be.
//!
//! The provider and the command `outboard` lie beside the program, as `make` puts them. A workload
//! whose programs are not installed is passed over and says so; `OUTBOARD_TEST_ALL=1` makes that a
//! failure.

#[path = "../../cli/tests/common/schema.rs"]
mod schema;

use std::process::Command;

use outboard_bench::result::{self, ResultFile, Table};
use outboard_programs::missing;

/// Runs a workload; `None` if it lacks a program.
fn tiny(workload: &str, programs: &[&str]) -> Option<ResultFile> {
    tiny_with(workload, programs, &[])
}

/// The same with further options.
fn tiny_with(workload: &str, programs: &[&str], options: &[&str]) -> Option<ResultFile> {
    let missing = missing(programs);
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|program| program.name).collect();
        eprintln!("passed over: not installed: {}", names.join(", "));
        assert!(
            std::env::var_os("OUTBOARD_TEST_ALL").is_none(),
            "OUTBOARD_TEST_ALL is set, and programs are missing"
        );
        return None;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
        .args(["run", workload, "--tiny"])
        .args(options)
        .arg("--out")
        .arg(directory.path())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let file = directory.path().join(format!("{workload}.json"));
    let text = std::fs::read(&file).expect("it is ours");
    schema::assert_fits_its_schema(&serde_json::from_slice(&text).expect("it is JSON"));
    let result = result::read(&file).expect("a result");
    assert!(result.is_valid());
    for program in programs {
        let told = matches!(
            *program,
            "catalina.sh" | "initdb" | "pgbench" | "scp" | "sftp" | "sshd" | "ssh-keygen"
        );
        assert!(
            told || result.versions.contains_key(*program),
            "{program} has no version in {:?}",
            result.versions
        );
    }
    Some(result)
}

fn table<'a>(result: &'a ResultFile, name: &str) -> &'a Table {
    result.table(name).unwrap_or_else(|| panic!("no {name}"))
}

/// Different values of a label.
fn values<'a>(table: &'a Table, label: &str) -> Vec<&'a str> {
    let mut values: Vec<&str> = table.rows.iter().map(|row| row.label(label)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn figure(table: &Table, measure: &str, setup: &str) -> f64 {
    let row = table
        .rows
        .iter()
        .find(|row| row.measure == measure && row.setup == setup);
    row.unwrap_or_else(|| panic!("no {measure} of {setup}"))
        .median
}

#[test]
fn ssh_copies_and_logs_in() {
    let programs = ["rsync", "scp", "sftp", "ssh", "ssh-keygen", "sshd"];
    let Some(result) = tiny("ssh", &programs) else {
        return;
    };
    for tool in ["scp", "sftp", "rsync"] {
        let table = table(&result, tool);
        assert_eq!(values(table, "mac").len(), 1);
        for setup in ["stock", "client", "server", "both"] {
            let (real, rate) = (
                figure(table, "real", setup),
                figure(table, "throughput", setup),
            );
            // 1,000,000 bytes; both are medians of one.
            assert!(
                (real * rate / 1e6 - 1.0).abs() < 1e-3,
                "{real} s, {rate} B/s"
            );
            assert!(figure(table, "server CPU", setup) > 0.0);
        }
    }
    // What Outboard does not have is said to stay with stock; what it has is proved or left.
    let proof = |tool: &str| {
        let mut rows = table(&result, tool).rows.iter();
        rows.find(|row| row.setup == "both")
            .and_then(|row| row.proof.clone())
            .expect("a proof")
    };
    assert!(proof("scp").contains("no 3des-cbc"), "{}", proof("scp"));
    assert!(proof("sftp").contains("aes-128-gcm"), "{}", proof("sftp"));
    assert!(figure(table(&result, "logins"), "server CPU", "stock") > 0.0);
    let share = figure(table(&result, "download"), "sshd CPU share", "stock");
    assert!(share > 0.0, "{share}");
    // Sampling may be forbidden here: then it is said.
    match result.table("cryptography") {
        Some(table) => {
            assert_eq!(values(table, "side"), ["client", "server"]);
            assert!(table.rows.iter().all(|row| row.median < 1.0));
        }
        None => assert!(result.notes.iter().any(|note| note.contains("left out"))),
    }
}

#[test]
fn tls_shakes_hands_full_and_resumed() {
    let programs = ["apache2", "curl", "haproxy", "nginx", "openssl"];
    let Some(result) = tiny("tls", &programs) else {
        return;
    };
    let handshakes = table(&result, "handshakes");
    assert_eq!(values(handshakes, "server"), ["Apache", "HAProxy", "nginx"]);
    // That so many sessions were resumed as the label says is checked while they are.
    assert_eq!(values(handshakes, "sid_cached_percent"), ["0", "100"]);
    assert_eq!(values(handshakes, "client_authentication"), ["no", "yes"]);
    assert!(handshakes.rows.iter().all(|row| row.median > 0.0));
    let bulk = table(&result, "bulk");
    assert!(figure(bulk, "throughput", "both") > 0.0);
    assert!(figure(bulk, "server CPU per GB", "server") > 0.0);
}

#[test]
fn connections_are_opened_and_kept() {
    let Some(result) = tiny("rampup", &["haproxy", "openssl", "stunnel"]) else {
        return;
    };
    let connections = table(&result, "connections");
    assert_eq!(values(connections, "front"), ["HAProxy", "stunnel"]);
    // Twelve groups and all of them.
    assert_eq!(values(connections, "held").len(), 13);
    assert!(connections.rows.iter().all(|row| row.median > 0.0));
    assert!(figure(connections, "server CPU", "outboard-async") > 0.0);
    assert!(table(&result, "memory").rows.len() >= 4);
}

#[test]
fn kept_connections_ask() {
    let Some(result) = tiny("steady", &["haproxy", "openssl", "stunnel"]) else {
        return;
    };
    let transactions = table(&result, "transactions");
    assert_eq!(values(transactions, "front"), ["HAProxy", "stunnel"]);
    assert!(figure(transactions, "transactions", "outboard") > 0.0);
    assert!(figure(transactions, "server CPU", "stock") > 0.0);
}

const OF_THE_SERVICE: [&str; 10] = [
    "apache2",
    "haproxy",
    "initdb",
    "nginx",
    "openssl",
    "pgbench",
    "postgres",
    "ssh",
    "ssh-keygen",
    "sshd",
];

/// One part of the workload, and the tables that it makes, each with a figure of the service.
fn part(name: &str, tables: &[&str]) -> Option<ResultFile> {
    let result = tiny_with("service", &OF_THE_SERVICE, &["--only", name])?;
    let command = format!("outboard-bench run service --tiny --only {name}");
    assert_eq!(result.commands[0], command);
    let made: Vec<&str> = result.tables.iter().map(|table| &*table.name).collect();
    assert_eq!(made, tables);
    for (table, row) in result.rows() {
        assert!(row.median > 0.0 || table.name == "added", "{row:?}");
    }
    for table in &result.tables {
        let mut of_the_service = table.rows.iter().filter(|row| row.setup == "service");
        let proof = of_the_service.next().and_then(|row| row.proof.clone());
        assert!(
            proof.is_some_and(|proof| proof.contains("-sign")),
            "{}",
            table.name
        );
    }
    Some(result)
}

#[test]
fn nginx_asks_the_service() {
    let Some(result) = part("nginx", &["handshakes", "own-key"]) else {
        return;
    };
    let handshakes = table(&result, "handshakes");
    assert_eq!(values(handshakes, "server"), ["nginx"]);
    let ratios = |name| {
        table(&result, name)
            .rows
            .iter()
            .filter_map(|row| row.ratio.clone())
    };
    assert!(ratios("handshakes").all(|ratio| ratio.baseline == "stock"));
    assert!(ratios("own-key").all(|ratio| ratio.baseline == "outboard"));
    assert_eq!(ratios("own-key").count(), 2);
}

#[test]
fn haproxy_asks_the_service() {
    let Some(result) = part("haproxy", &["handshakes", "own-key"]) else {
        return;
    };
    let handshakes = table(&result, "handshakes");
    assert!(figure(handshakes, "server CPU", "outboard-async") > 0.0);
}

#[test]
fn processes_of_apache_ask_the_service() {
    let Some(result) = part("apache", &["handshakes", "own-key"]) else {
        return;
    };
    let handshakes = table(&result, "handshakes");
    assert_eq!(values(handshakes, "server"), ["Apache, prefork"]);
}

#[test]
fn postgresql_asks_the_service() {
    part("postgresql", &["postgresql"]);
}

#[test]
fn sshd_asks_the_service() {
    let Some(result) = part("sshd", &["logins"]) else {
        return;
    };
    assert!(figure(table(&result, "logins"), "server CPU", "stock") > 0.0);
}

#[test]
fn a_lone_request_is_compared_with_a_lone_signature() {
    let Some(result) = part("request", &["request", "added"]) else {
        return;
    };
    let request = table(&result, "request");
    let added = table(&result, "added");
    let (own, asked) = ("outboard", "service");
    for (measure, further) in [("elapsed", "elapsed, added"), ("CPU", "CPU, added")] {
        let difference = figure(request, measure, asked) - figure(request, measure, own);
        let told = figure(added, further, asked);
        assert!(
            (difference - told).abs() <= difference.abs() * 1e-3 + 1e-9,
            "{told}"
        );
    }
}

#[test]
fn nginx_has_few_clients_and_many() {
    let Some(result) = part("concurrency", &["concurrency", "latency"]) else {
        return;
    };
    assert_eq!(values(table(&result, "concurrency"), "clients"), ["1", "2"]);
    let latency = table(&result, "latency");
    for setup in ["stock", "outboard", "service"] {
        assert!(figure(latency, "p99", setup) >= figure(latency, "p50", setup));
    }
}

#[test]
fn modules_of_pkcs11_sign_seal_and_find() {
    let Some(result) = tiny("token", &["openssl", "softhsm2-util"]) else {
        return;
    };
    let signatures = table(&result, "signatures");
    let of = |setup| signatures.rows.iter().find(move |row| row.setup == setup);
    for setup in ["accelerator", "coprocessor"] {
        let proof = of(setup).and_then(|row| row.proof.clone());
        let proves = proof.is_some_and(|proof| proof.contains("p256-sign"));
        assert!(proves, "{setup}");
    }
    for (table, row) in result.rows() {
        assert!(row.median > 0.0, "{}: {row:?}", table.name);
    }
    assert_eq!(
        values(table(&result, "records"), "use"),
        ["AES-256-GCM", "SHA-256"]
    );
    assert_eq!(values(table(&result, "objects"), "objects"), ["10"]);
}

#[test]
fn post_quantum_operations_handshakes_and_hellos() {
    let Some(result) = tiny("pq", &["nginx", "openssl"]) else {
        return;
    };
    let operations = table(&result, "operations");
    let ours = operations.rows.iter().filter(|row| row.setup == "outboard");
    for row in ours {
        let proof = row.proof.as_deref().unwrap_or_default();
        assert!(proof.contains(row.label("operation")), "{row:?}");
    }
    let handshakes = table(&result, "handshakes");
    assert!(figure(handshakes, "server CPU", "outboard-pq") > 0.0);
    let link = table(&result, "link");
    let of = |measure, setup| figure(link, measure, setup);
    assert_eq!(of("round trips", "stock"), 1.0);
    assert_eq!(of("round trips", "outboard-pq"), 1.0);
    assert_eq!(of("round trips", "retry"), 2.0);
    // A longer share, and the ciphertext that answers it. ECDSA's signatures are not all of one length.
    let more = |measure| of(measure, "outboard-pq") - of(measure, "stock");
    assert!((1184.0..1300.0).contains(&more("to the server")));
    assert!((1080.0..1200.0).contains(&more("to the client")));
    assert!(of("handshake", "retry") > of("handshake", "outboard-pq"));
}

#[test]
fn users_trade_with_a_java_server() {
    let programs = [
        "apache2",
        "bash",
        "catalina.sh",
        "initdb",
        "java",
        "javac",
        "openssl",
        "postgres",
        "psql",
    ];
    let Some(result) = tiny("trading", &programs) else {
        return;
    };
    assert!(result.versions["Tomcat"].starts_with("10."));
    let transactions = table(&result, "transactions");
    assert_eq!(values(transactions, "front"), ["-", "Apache"]);
    assert_eq!(values(transactions, "protocol"), ["TLS 1.2", "TLS 1.3"]);
    let handshakes = ["handshake per request", "handshake per session"];
    assert_eq!(values(transactions, "handshakes"), handshakes);
    assert!(transactions.rows.iter().all(|row| row.median > 0.0));
    let mut rows = transactions.rows.iter();
    assert!(rows.any(|row| row.setup == "outboard.jar"));
    for row in transactions.rows.iter().filter(|row| row.setup != "stock") {
        let proof = row.proof.as_deref().unwrap_or_default();
        assert!(proof.contains("rsa-2048-sign"), "{row:?}");
        let ratio = row.ratio.as_ref().expect("stock has its turn, too");
        assert_eq!(ratio.baseline, "stock");
    }
}

#[test]
fn jvms_sign_shake_hands_and_agree() {
    let Some(result) = tiny("java", &["java", "javac", "openssl"]) else {
        return;
    };
    for (name, label, some) in [
        (
            "signatures",
            "threads",
            &["1", "1, seldom", "16", "16 virtual"][..],
        ),
        ("agreements", "curve", &["P-256", "X25519"]),
    ] {
        let mut some = some.to_vec();
        // Java 17 has no virtual threads.
        let measured = values(table(&result, name), label);
        some.retain(|value| measured.contains(value) || !value.ends_with("virtual"));
        assert_eq!(measured, some);
    }
    assert_eq!(
        values(table(&result, "handshakes"), "protocol"),
        ["TLS 1.3"]
    );
    for (table, row) in result.rows() {
        assert!(row.median > 0.0, "{}: {row:?}", table.name);
        let proof = row.proof.as_deref().unwrap_or_default();
        let proves = proof.contains("p256-") || proof.contains("x25519-");
        assert_eq!(proves, row.setup != "JDK", "{}: {row:?}", table.name);
    }
}

#[test]
fn a_part_that_no_workload_has_is_wrong_usage() {
    for (workload, said) in [
        (
            "service",
            "no part nonsense (the parts are nginx, haproxy, apache,",
        ),
        ("speed", "no part nonsense (they have none)"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
            .args(["run", workload, "--only", "nonsense"])
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(said), "{errors}");
    }
}

#[test]
fn a_coprocessor_answers_programs_in_c() {
    let Some(result) = tiny("coprocessor", &[]) else {
        return;
    };
    let pins = table(&result, "pins");
    assert!(values(pins, "CEX2C, 1 job").contains(&"601"));
    let public_keys = table(&result, "public-keys");
    assert!(values(public_keys, "CEX2C, 1 job").contains(&"261"));
    for (table, row) in result.rows() {
        assert!(row.median > 0.0, "{}: {row:?}", table.name);
    }
    assert_eq!(result.rows().count(), 60, "30 verbs, one job and seven");
}
