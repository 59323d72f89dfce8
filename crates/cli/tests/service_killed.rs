//! The card service is killed again and again while servers use its keys: nginx and HAProxy shake hands, ssh logs in. No
//! handshake and no login fails, and no key changes.
//!
//! `OUTBOARD_KILLS=200 OUTBOARD_SECONDS=600` (`make service-stress`) for the whole measure.

mod common;

use common::service::{Service, us};
use outboard_programs::{
    Certificate, HaProxyMode, HaProxyOptions, Launch, Nginx, NginxOptions, OpenSsl, Sshd,
    SshdOptions, Workplace,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many connections one run of a client makes.
const CONNECTIONS: u32 = 200;
/// The keys of the servers' certificates.
const CERTIFICATES: [&str; 2] = ["rsa-2048", "p256"];
/// The host keys of sshd.
const HOSTS: [&str; 3] = ["host_ed25519", "host_ecdsa", "host_rsa"];

#[test]
fn no_handshake_fails_while_the_service_is_killed() {
    if !common::are_installed(&[
        "nginx",
        "haproxy",
        "h2load",
        "openssl",
        "sshd",
        "ssh",
        "ssh-keygen",
    ]) {
        return;
    }
    let number = |name| {
        let value = std::env::var(name).ok()?;
        Some(value.parse::<u64>().expect("it is a number"))
    };
    let kills = number("OUTBOARD_KILLS").unwrap_or(20);
    // Whatever the service is at: on average 250 ms after its last start, unless it is said how long all kills take.
    let pause = number("OUTBOARD_SECONDS").map_or(250, |seconds| seconds * 1000 / kills);
    let service = Service::start();
    let certificates = CERTIFICATES.map(|kind| {
        let key = service.key(kind, kind);
        let certificate = service.certificate(&key);
        Certificate { certificate, key }
    });
    // nginx's workers are another user's.
    if us() == "0" {
        for kind in CERTIFICATES {
            service.says(&["keys", "grant", kind, "--user", "nobody"]);
            service.says(&["keys", "grant", kind, "--user", "www-data"]);
        }
    }
    let workplace = Workplace::new().expect("it can be made");
    let stock = OpenSsl::stock(&workplace).expect("it can be written");
    let sshd = sshd(&service, &workplace, &stock);
    let identity = identity(&service, &workplace);
    let attributes = || {
        let keys = CERTIFICATES.iter().chain(&HOSTS);
        let attributes = keys.map(|name| {
            let shown = service.says(&["keys", "show", name, "--json"]);
            let mut key: serde_json::Value = serde_json::from_str(&shown).expect("it is JSON");
            key["used"] = 0.into();
            key
        });
        attributes.collect::<Vec<_>>()
    };
    let before = attributes();

    // How long a restart takes on a busy machine is not what this test is about.
    let text = service.configuration_text();
    let text = text.replace("[outboard]\n", "[outboard]\nservice-limit = 60\n");
    let ours = OpenSsl::configured(&workplace, "service", &text).expect("it can be written");
    let certificates = certificates.each_ref();
    let options = NginxOptions {
        openssl: &ours,
        certificates: &certificates,
        files: None,
        core: None,
        settings: "",
    };
    let nginx = Nginx::start(&workplace, options).expect("it starts");
    let options = HaProxyOptions {
        openssl: &ours,
        certificates: &certificates,
        mode: HaProxyMode::Http,
        asynchronous: true,
        threads: 1,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    let haproxy = options.start(&workplace).expect("it starts");

    let ended = AtomicBool::new(false);
    let (of_nginx, of_haproxy, logins) = std::thread::scope(|scope| {
        let nginx_s = &nginx;
        let nginx = scope.spawn(|| shake_hands(&stock, nginx_s.port, &ended));
        let haproxy = scope.spawn(|| shake_hands(&stock, haproxy.port, &ended));
        let ssh = scope.spawn(|| log_in(&sshd, &identity, &ended));
        for kill in 0..kills {
            std::thread::sleep(Duration::from_millis(pause / 2 + kill * 37 % pause.max(1)));
            let process = service.process();
            rustix::process::kill_process(process, rustix::process::Signal::KILL)
                .expect("it is ours");
            service.says(&["service", "start"]);
            let finished = [
                nginx.is_finished(),
                haproxy.is_finished(),
                ssh.is_finished(),
            ];
            if finished.contains(&true) {
                break; // it has failed, and says why
            }
        }
        ended.store(true, Ordering::Relaxed);
        let joined = (nginx.join(), haproxy.join(), ssh.join());
        (
            joined
                .0
                .unwrap_or_else(|_| panic!("a handshake with nginx failed:\n{}", nginx_s.log())),
            joined.1.expect("no handshake with HAProxy fails"),
            joined.2.expect("no login fails"),
        )
    });
    println!(
        "{kills} kills; {of_nginx} handshakes with nginx and {of_haproxy} with HAProxy, and {logins} logins; none failed"
    );
    assert_eq!(attributes(), before);
    service.says(&["keys", "audit", "--check"]);
}

/// An sshd with host keys that only the service has.
fn sshd(service: &Service, workplace: &Workplace, stock: &OpenSsl) -> Sshd {
    let settings = format!("HostKeyAgent {}", service.path("agent.sock").display());
    let options = SshdOptions {
        openssl: stock,
        core: None,
        settings: &settings,
    };
    // Makes the keys.
    let made = Sshd::start(workplace, options).expect("it starts");
    made.stop().expect("it stops");
    for host in HOSTS {
        let file = workplace.join(host);
        let file = file.to_str().expect("it is ASCII");
        service.says(&["keys", "adopt", file, "--user", &us(), "--destroy"]);
    }
    Sshd::start(workplace, options).expect("it starts without a private key")
}

/// What ssh is told, so that it signs with a user's key that only the service has.
fn identity(service: &Service, workplace: &Workplace) -> Vec<String> {
    let user = Sshd::user_key(workplace, "ed25519");
    let file = user.to_str().expect("it is ASCII");
    service.says(&["keys", "adopt", file, "--user", &us(), "--destroy"]);
    let agent = format!("IdentityAgent={}", service.path("agent.sock").display());
    let public = format!("{file}.pub");
    ["-o", &agent, "-o", "IdentitiesOnly=yes", "-i", &public]
        .map(str::to_owned)
        .into()
}

/// Shakes hands with a server until the end. Answers how often.
fn shake_hands(stock: &OpenSsl, port: u16, ended: &AtomicBool) -> u32 {
    let mut answered = 0;
    while !ended.load(Ordering::Relaxed) {
        let load = Launch::new("h2load")
            .expect("it is installed")
            .with(stock)
            .args(["--h1", "--header=Connection: close", "--clients=8"])
            .arg(format!("--requests={CONNECTIONS}"))
            .arg(format!("https://127.0.0.1:{port}/"))
            .limit(Duration::from_secs(300));
        let said = load.succeed().expect("it ends").output;
        let all = format!("{CONNECTIONS} succeeded, 0 failed, 0 errored, 0 timeout");
        assert!(said.contains(&all), "{said}");
        answered += CONNECTIONS;
    }
    answered
}

/// Logs in until the end, with a host key and a user's key that only the service has. Answers how often. The host key is the
/// same each time, or ssh would say so.
fn log_in(sshd: &Sshd, identity: &[String], ended: &AtomicBool) -> u32 {
    let mut logins = 0;
    while !ended.load(Ordering::Relaxed) {
        let login = sshd.client("ssh").expect("it is installed");
        let login = login.args(["-o", "LogLevel=INFO"]).args(identity);
        let said = login.args([Sshd::HOST, "echo", "in"]).succeed();
        said.unwrap_or_else(|error| panic!("a login failed: {error}"));
        logins += 1;
    }
    logins
}
