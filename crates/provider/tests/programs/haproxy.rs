//! HAProxy under Outboard: OpenSSL's asynchronous mode, reloads, clients that go away.

use outboard_engine::Operation;
use outboard_engine::ledger::{CardStatus, Snapshot};
use outboard_programs::{Certificate, HaProxyMode, HaProxyOptions, Launch, Server, free_port};

use crate::clients::{
    Droppers, assert_all_answered, assert_shook_hands, echo, hello, load, one_line,
};
use crate::recipes::recipe;
use crate::stand::{Stand, assert_served_times, is_stock_alone, site, until_on_cards};

const PROGRAMS: [&str; 4] = ["haproxy", "h2load", "curl", "openssl"];

pub(crate) fn start(stand: &Stand, certificates: &[&Certificate], threads: u32) -> Server {
    let options = HaProxyOptions {
        openssl: &stand.outboard,
        certificates,
        mode: HaProxyMode::Http,
        asynchronous: true,
        threads,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    options.start(&stand.workplace).unwrap()
}

/// It runs, and none of its processes died.
fn assert_unharmed(haproxy: &mut Server) {
    let running = haproxy.is_running();
    let log = haproxy.log();
    assert!(running && !log.contains("exited with code"), "{log}");
}

#[test]
fn handshakes_at_once_share_the_lanes() {
    for (new_key, operation) in [
        ("rsa:2048", Operation::Rsa2048Sign),
        ("ec -pkeyopt ec_paramgen_curve:P-384", Operation::P384Sign),
    ] {
        let Some((stand, certificate)) = site(&PROGRAMS, new_key) else {
            return;
        };
        let mut haproxy = start(&stand, &[&certificate], 1);
        let times = until_on_cards(&stand, operation, || {
            let load = load(&stand.stock, haproxy.port, 64, 640).succeed().unwrap();
            assert_all_answered(&load.output, 640);
        });
        assert_served_times(&stand.counts(), operation, 640 * times);
        assert_eq!(
            certificate.fetch(&stand.stock, &haproxy.url("")).unwrap(),
            "ok\n"
        );
        assert!(haproxy.is_running());
        haproxy.stop().unwrap();
    }
}

/// As Debian starts it: it gives up root, and with it every right to start a thread. Its own thread then runs the batches.
#[test]
fn as_packaged_it_shares_the_lanes_without_a_thread() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    if !is_root() {
        eprintln!("passed over: only root starts HAProxy as its package does");
        return;
    }
    let options = HaProxyOptions {
        openssl: &stand.outboard,
        certificates: &[&certificate],
        mode: HaProxyMode::Http,
        asynchronous: true,
        threads: 1,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    let mut haproxy = options.start_as_packaged(&stand.workplace).unwrap();
    let operation = Operation::Rsa2048Sign;
    let times = until_on_cards(&stand, operation, || {
        let load = load(&stand.stock, haproxy.port, 64, 640).succeed().unwrap();
        assert_all_answered(&load.output, 640);
    });
    assert_served_times(&stand.counts(), operation, 640 * times);
    assert_unharmed(&mut haproxy);
    for worker in haproxy.workers() {
        let status = |name: &str| status(worker, name);
        assert_eq!(status("Threads"), "1");
        assert_ne!(status("Uid").split_whitespace().next(), Some("0"));
        assert_eq!(process_limit(worker), "0");
    }
    if outboard_engine::card::are_there() && !is_stock_alone() {
        let ledger = Snapshot::read(stand.outboard.ledger().unwrap()).unwrap();
        let cards: Vec<_> = ledger
            .processes
            .iter()
            .flat_map(|process| &process.cards)
            .collect();
        assert!(
            cards
                .iter()
                .all(|card| card.status == CardStatus::Callers && card.work.returned == 0),
            "{cards:?}"
        );
        let work = &cards[0].work;
        assert!(
            work.average_fill().is_some_and(|fill| fill > 2.0),
            "{work:?}"
        );
    }
    haproxy.stop().unwrap();
}

fn is_root() -> bool {
    // SAFETY: has no preconditions.
    unsafe { libc::geteuid() == 0 }
}

/// What `/proc/PID/status` says.
fn status(process: u32, name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let prefix = format!("{name}:");
    let line = text.lines().find_map(|line| line.strip_prefix(&prefix));
    line.unwrap().trim().to_owned()
}

/// How many processes and threads its user may have.
fn process_limit(process: u32) -> String {
    let text = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max processes"));
    line.and_then(|limits| limits.split_whitespace().next())
        .unwrap()
        .to_owned()
}

#[test]
fn a_reload_under_load_loses_no_request() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let mut haproxy = start(&stand, &[&certificate], 2);
    let load = load(&stand.stock, haproxy.port, 32, 3000)
        .start_quietly()
        .unwrap();
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(200));
        haproxy.reload().unwrap();
    }
    let load = load.finish(std::time::Duration::from_secs(180)).unwrap();
    assert_all_answered(&load.output, 3000);
    stand.assert_served(&[Operation::Rsa2048Sign]);
}

#[test]
fn clients_that_go_away_in_mid_handshake_do_no_harm() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let mut haproxy = start(&stand, &[&certificate], 2);
    let droppers = Droppers::start(&hello(&stand.stock), haproxy.port, 8);
    let load = load(&stand.stock, haproxy.port, 16, 1000)
        .succeed()
        .unwrap();
    assert!(droppers.stop() > 0);
    assert_all_answered(&load.output, 1000);
    assert_eq!(
        certificate.fetch(&stand.stock, &haproxy.url("")).unwrap(),
        "ok\n"
    );
    assert_unharmed(&mut haproxy);
    haproxy.stop().unwrap();
}

/// HAProxy reckons with no descriptor for a paused handshake. Where it has none to spare, operations run at
/// once.
#[test]
fn without_room_for_more_descriptors_it_goes_on() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let options = HaProxyOptions {
        openssl: &stand.outboard,
        certificates: &[&certificate],
        mode: HaProxyMode::Tcp(echo()),
        asynchronous: true,
        threads: 1,
        resumption: false,
        core: None,
        // The last one said holds.
        settings: "maxconn 20",
        bind: "",
    };
    let mut haproxy = options.start(&stand.workplace).unwrap();
    let clients: Vec<_> = (0..40).map(|_| one_line(&stand, haproxy.port)).collect();
    clients.into_iter().for_each(assert_shook_hands);
    assert_unharmed(&mut haproxy);
}

#[test]
fn the_recipe_works() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let (port, echo) = (free_port().unwrap(), echo());
    let bundle = [&certificate.certificate, &certificate.key]
        .map(|path| std::fs::read(path).unwrap())
        .concat();
    let bundle = stand.workplace.write_secret("site.pem", bundle).unwrap();
    let text = recipe(
        "haproxy",
        &[
            ("/etc/haproxy/site.pem", &bundle.display().to_string()),
            (":443", &format!("127.0.0.1:{port}")),
            ("127.0.0.1:8080", &format!("127.0.0.1:{echo}")),
        ],
    );
    let configuration = stand.workplace.write("recipe.cfg", text).unwrap();
    let log = stand.workplace.join("recipe.log");
    let launch = Launch::new("haproxy").unwrap().args(["-W", "-db", "-f"]);
    let launch = launch.arg(&configuration).with(&stand.outboard);
    let mut haproxy = launch.start(&log).unwrap();
    haproxy.wait_for_port(port).unwrap();
    // Nothing that HAProxy warns of.
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(
        !said.contains("[WARNING]") && !said.contains("[ALERT]"),
        "{said}"
    );
    assert_shook_hands(one_line(&stand, port));
    stand.assert_served(&[Operation::Rsa2048Sign]);
}
