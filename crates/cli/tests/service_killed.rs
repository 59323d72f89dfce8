//! The card service is killed again and again while nginx shakes hands with its keys: no handshake fails, no key changes.
//!
//! `OUTBOARD_KILLS=200` (`make service-stress`) for the whole measure.

mod common;

use common::service::Service;
use outboard_programs::{Certificate, Launch, Nginx, NginxOptions, OpenSsl, Workplace, missing};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// How many connections one run of the client makes.
const CONNECTIONS: u32 = 400;

#[test]
fn no_handshake_fails_while_the_service_is_killed() {
    if !missing(&["nginx", "h2load", "openssl"]).is_empty() {
        assert!(
            std::env::var_os("OUTBOARD_TEST_ALL").is_none(),
            "a program is missing"
        );
        return;
    }
    let kills = std::env::var("OUTBOARD_KILLS").ok();
    let kills = kills.map_or(10, |kills| kills.parse().expect("it is a number"));
    let service = Service::start();
    let certificates = ["rsa-2048", "p256"].map(|kind| {
        let key = service.key(kind, kind);
        let certificate = service.certificate(&key);
        Certificate { certificate, key }
    });
    // nginx's workers are another user's.
    let worker = if common::service::us() == "0" {
        "nobody"
    } else {
        ""
    };
    if !worker.is_empty() {
        for kind in ["rsa-2048", "p256"] {
            service.says(&["keys", "grant", kind, "--user", worker]);
            service.says(&["keys", "grant", kind, "--user", "www-data"]);
        }
    }
    let shown = |name| service.says(&["keys", "show", name, "--json"]);
    let attributes = |name| {
        let mut key: serde_json::Value = serde_json::from_str(&shown(name)).expect("it is JSON");
        key["used"] = 0.into();
        key
    };
    let before = ["rsa-2048", "p256"].map(attributes);

    let workplace = Workplace::new().expect("it can be made");
    let stock = OpenSsl::stock(&workplace).expect("it can be written");
    let text = service.configuration_text();
    let ours = OpenSsl::configured(&workplace, "service", &text).expect("it can be written");
    let options = NginxOptions {
        openssl: &ours,
        certificates: &[&certificates[0], &certificates[1]],
        files: None,
        core: None,
        settings: "",
    };
    let nginx = Nginx::start(&workplace, options).expect("it starts");
    let (ended, answered) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let clients = scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let load = Launch::new("h2load")
                    .expect("it is installed")
                    .with(&stock)
                    .args(["--h1", "--header=Connection: close", "--clients=8"])
                    .arg(format!("--requests={CONNECTIONS}"))
                    .arg(format!("https://127.0.0.1:{}/", nginx.port))
                    .limit(Duration::from_secs(120));
                let said = load.succeed().expect("it ends").output;
                let all = format!("{CONNECTIONS} succeeded, 0 failed, 0 errored, 0 timeout");
                assert!(said.contains(&all), "{said}");
                answered.fetch_add(CONNECTIONS, Ordering::Relaxed);
            }
        });
        for kill in 0..kills {
            // Whatever the service is at: 100 to 400 ms after its last start.
            std::thread::sleep(Duration::from_millis(100 + kill * 37 % 300));
            let process = service.process();
            rustix::process::kill_process(process, rustix::process::Signal::KILL)
                .expect("it is ours");
            service.says(&["service", "start"]);
            assert!(!clients.is_finished(), "the clients ended before the end");
        }
        ended.store(true, Ordering::Relaxed);
    });
    let answered = answered.load(Ordering::Relaxed);
    assert!(answered >= CONNECTIONS, "{answered}");
    println!("{kills} kills, {answered} handshakes, none failed");
    assert_eq!(["rsa-2048", "p256"].map(attributes), before);
    service.says(&["keys", "audit", "--check"]);
}
