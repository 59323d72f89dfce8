//! The sample `samples/trading`, as its README tells a person to start it.

use std::path::Path;
use std::time::{Duration, Instant};

use outboard_programs::{Launch, PATIENCE, Workplace, free_port, missing};

/// What a user gets from a page, with fields by POST.
fn ask(jar: &Path, url: &str, fields: &str) -> Option<String> {
    let curl = Launch::new("curl").ok()?.args(["-sSk", "-b"]).arg(jar);
    let curl = curl.arg("-c").arg(jar).args(["--data", fields, url]);
    Some(curl.succeed().ok()?.output)
}

#[test]
fn the_sample_starts_and_leaves_nothing() {
    let programs = [
        "bash",
        "catalina.sh",
        "curl",
        "initdb",
        "java",
        "javac",
        "postgres",
        "psql",
    ];
    if !missing(&programs).is_empty() {
        let all = std::env::var_os("OUTBOARD_TEST_ALL").is_some();
        assert!(!all, "OUTBOARD_TEST_ALL is set, and programs are missing");
        return;
    }
    let built = Path::new(env!("CARGO_BIN_EXE_outboard-bench")).with_file_name("");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/trading");
    let workplace = Workplace::new().expect("a temporary directory");
    // The sample's own; PostgreSQL's user has to pass.
    let temporary = workplace.join("tmp");
    std::fs::create_dir(&temporary).expect("it is new");
    let (jar, ledger) = (workplace.join("cookies"), workplace.join("ledger"));
    let port = free_port().expect("there is one");
    let run = |module: &Path| {
        Launch::at(&sample.join("run.sh"))
            .arg("accelerator")
            .env("PORT", port.to_string())
            .env("TMPDIR", &temporary)
            .env("MODULE", module)
    };
    let refused = run(Path::new("nowhere.so")).finish().expect("it ends");
    assert!(!refused.status.success());
    let reason = refused.errors;
    assert!(reason.contains("nowhere.so ('make' builds one"), "{reason}");
    let mut running = run(&built.join("liboutboard_pkcs11.so"))
        .env("OUTBOARD_PKCS11", format!("ledger={}", ledger.display()))
        .start(&workplace.join("log"))
        .expect("it starts");
    let page = |name: &str| format!("https://localhost:{port}/trade/{name}");
    let log = || std::fs::read_to_string(workplace.join("log")).unwrap_or_default();
    let start = Instant::now();
    let home = loop {
        match ask(&jar, &page("login"), "user=uid:3&password=xxx") {
            Some(home) => break home,
            None => assert!(
                running.is_running() && start.elapsed() < PATIENCE,
                "{}",
                log()
            ),
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(home.contains("Welcome, User 3"), "{home}");
    let bought = ask(&jar, &page("buy"), "symbol=s:9&quantity=2").expect("an answer");
    assert!(
        bought.contains("<td>buy</td><td>s:9</td><td>2</td>"),
        "{bought}"
    );
    running.stop().expect("it ends");
    let left: Vec<_> = std::fs::read_dir(&temporary).expect("it is ours").collect();
    assert!(left.is_empty(), "{left:?}");
    for port in [port, port + 1, port + 2] {
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    }
    let stats = Launch::at(&built.join("outboard")).args(["stats", "--ledger"]);
    let stats = stats.arg(&ledger).succeed().expect("it is a ledger").output;
    assert!(stats.contains("rsa-2048-sign"), "{stats}");
}
