//! What observing costs: whole programs stock and observed, taking turns; medians of paired ratios of
//! CPU time. `cargo bench -p outboard-observer` (some minutes; `OVERHEAD_ROUNDS=n` for another number
//! of rounds, `OVERHEAD_ONLY=TEXT` for those whose name holds it, `OUTBOARD_OBSERVER=FILE` for another
//! build of the module).

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use common::module;
use outboard_programs::{
    Certificate, Cores, HaProxyMode, HaProxyOptions, Launch, Nginx, NginxOptions, OpenSsl,
    PostgreSqlOptions, Server, Sshd, SshdOptions, Workplace,
};

const MIB: u64 = 1 << 20;

fn main() {
    let rounds = std::env::var("OVERHEAD_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(15);
    let stand = Stand::new();
    println!("CPU time observed / stock, median of {rounds} pairs [quartiles]");
    stand.downloads(rounds);
    stand.handshakes(rounds);
    stand.small_requests(rounds);
    stand.copies(rounds);
    stand.logins(rounds);
    stand.databases(rounds);
    stand.starts(rounds);
}

struct Stand {
    workplace: Workplace,
    cores: Cores,
    openssl: [OpenSsl; 2],
    certificate: Certificate,
}

impl Stand {
    fn new() -> Self {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let observed = observed(&workplace, "observed", &workplace.join("record"));
        let key = "ec -pkeyopt ec_paramgen_curve:P-256";
        let certificate = Certificate::generate(&workplace, &stock, "p256", key).unwrap();
        fs::create_dir(workplace.join("files")).unwrap();
        workplace.write_noise("files/large", 256 * MIB).unwrap();
        workplace.write("files/small", "ok").unwrap();
        workplace.write_noise("file", 256 * MIB).unwrap();
        Self {
            workplace,
            cores: Cores::choose(),
            openssl: [stock, observed],
            certificate,
        }
    }

    fn nginx(&self, openssl: &OpenSsl) -> Nginx {
        let files = self.workplace.join("files");
        let options = NginxOptions {
            openssl,
            certificates: &[&self.certificate],
            files: Some(&files),
            core: self.cores.server,
            settings: "",
        };
        Nginx::start(&self.workplace, options).unwrap()
    }

    fn downloads(&self, rounds: usize) {
        let server = self.nginx(&self.openssl[0]);
        compare("curl, 256 MiB by AES-256-GCM", rounds, |side| {
            let curl = Launch::new("curl").unwrap().with(&self.openssl[side]);
            let curl = curl.args([
                "-sSf",
                "--tls13-ciphers",
                "TLS_AES_256_GCM_SHA384",
                "--cacert",
            ]);
            let curl = curl.arg(&self.certificate.certificate);
            let curl = curl.args(["-o", "/dev/null"]).arg(server.url("large"));
            curl.succeed().unwrap().cpu
        });
    }

    fn handshakes(&self, rounds: usize) {
        self.servers("nginx, a TLS 1.3 handshake with P-256", rounds, || {
            [0, 1].map(|side| {
                let server = self.nginx(&self.openssl[side]);
                let url = format!("https://127.0.0.1:{}/small", server.port);
                (url, move || server.worker_cpu().unwrap())
            })
        });
        self.servers("HAProxy, a TLS 1.3 handshake with P-256", rounds, || {
            [0, 1].map(|side| {
                let server = self.haproxy(&self.openssl[side]);
                (server.url(""), move || server.cpu())
            })
        });
    }

    /// Windows of some hundred full handshakes. How fast a process is depends on where its memory happens to
    /// lie, by several percent: so both servers are started anew after every few windows, on one core.
    fn servers<C: Fn() -> Duration>(
        &self,
        what: &str,
        rounds: usize,
        start: impl Fn() -> [(String, C); 2],
    ) {
        const WINDOWS: usize = 6;
        let mut servers = None;
        let mut windows = 0;
        compare(what, rounds * WINDOWS, |side| {
            // (Two windows more come before the first pair.)
            if windows % (2 * WINDOWS) == 2 || servers.is_none() {
                drop(servers.take());
                let started = start();
                for (url, _) in &started {
                    self.load(url);
                }
                servers = Some(started);
            }
            windows += 1;
            let Some(servers) = &servers else {
                unreachable!("just started")
            };
            let (url, cpu) = &servers[side];
            let before = cpu();
            self.load(url);
            cpu() - before
        });
    }

    /// Full handshakes by a client that is not observed.
    fn load(&self, url: &str) {
        let load = Launch::new("h2load").unwrap().with(&self.openssl[0]);
        let load = load.on(self.cores.client);
        let load = load.args(["--h1", "--clients=4", "--header=Connection: close"]);
        load.args(["--requests=300", url]).succeed().unwrap();
    }

    fn small_requests(&self, rounds: usize) {
        let server = self.nginx(&self.openssl[0]);
        compare("curl, one request", rounds * 4, |side| {
            let curl = Launch::new("curl").unwrap().with(&self.openssl[side]);
            let curl = curl
                .args(["-sSfk", "-o", "/dev/null"])
                .arg(server.url("small"));
            curl.succeed().unwrap().cpu
        });
    }

    fn copies(&self, rounds: usize) {
        let sshd = self.sshd(0);
        for cipher in ["aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"] {
            let name = format!("scp, 256 MiB by {cipher}");
            compare(&name, rounds, |side| {
                let scp = sshd.client("scp").unwrap().with(&self.openssl[side]);
                let scp = scp.args(["-q", "-o", &format!("Ciphers={cipher}")]);
                let scp = scp.arg(self.workplace.join("file"));
                let copy = scp.arg(format!("{}:/dev/null", Sshd::HOST));
                copy.succeed().unwrap().cpu
            });
        }
    }

    fn logins(&self, rounds: usize) {
        let mut servers = [0, 1].map(|side| self.sshd(side));
        compare("sshd, ten logins", rounds, |side| {
            let process = servers[side].process().id();
            let before = of_children(process);
            for _ in 0..10 {
                let ssh = servers[side].client("ssh").unwrap().with(&self.openssl[0]);
                ssh.args([Sshd::HOST, "true"]).succeed().unwrap();
            }
            of_children(process) - before
        });
    }

    fn databases(&self, rounds: usize) {
        // The server's user makes a record of its own, in a directory that is everybody's.
        let shared = self.workplace.join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        let observed = observed(&self.workplace, "server", &shared.join("record"));
        let servers = [&self.openssl[0], &observed].map(|openssl| {
            let options = PostgreSqlOptions {
                openssl,
                certificate: &self.certificate,
                core: None,
            };
            options.start(&self.workplace).unwrap()
        });
        let cost = |side: usize, connections: usize, statement: &str| {
            let before = of_children(servers[side].id());
            for _ in 0..connections {
                servers[side].query(&self.openssl[0], statement).unwrap();
            }
            // A server waits for its children in its own time.
            std::thread::sleep(Duration::from_millis(100));
            of_children(servers[side].id()) - before
        };
        compare(
            "PostgreSQL, a hundred connections with SCRAM",
            rounds,
            |side| cost(side, 100, "select 1"),
        );
        compare("PostgreSQL, an answer of 256 MB", rounds, |side| {
            cost(
                side,
                1,
                "select repeat('x', 64000000) from generate_series(1, 4)",
            )
        });
    }

    fn haproxy(&self, openssl: &OpenSsl) -> Server {
        let options = HaProxyOptions {
            openssl,
            certificates: &[&self.certificate],
            mode: HaProxyMode::Http,
            asynchronous: false,
            threads: 1,
            resumption: false,
            core: self.cores.server,
            settings: "",
            bind: "",
        };
        options.start(&self.workplace).unwrap()
    }

    fn starts(&self, rounds: usize) {
        compare("python3, import ssl and one digest", rounds * 4, |side| {
            let script = "import ssl, hashlib; hashlib.sha256(b'x').digest()";
            let python = Launch::new("python3").unwrap().with(&self.openssl[side]);
            python.args(["-c", script]).succeed().unwrap().cpu
        });
    }

    fn sshd(&self, side: usize) -> Sshd {
        let options = SshdOptions {
            openssl: &self.openssl[side],
            core: None,
            settings: "",
        };
        Sshd::start(&self.workplace, options).unwrap()
    }
}

/// A configuration that observes, with a copy of the module that every user can read.
fn observed(workplace: &Workplace, name: &str, record: &Path) -> OpenSsl {
    let copy = workplace.join(format!("{name}.so"));
    fs::copy(module(), &copy).unwrap();
    let text = format!(
        "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sections\n\
         [provider_sections]\nobserved_default = observed_section\n\
         [observed_section]\nmodule = {}\nrecord = {}\nactivate = 1\n\
         [req]\ndistinguished_name = name\n[name]\n",
        copy.display(),
        record.display()
    );
    OpenSsl::configured(workplace, name, &text).unwrap()
}

/// CPU time of a process's children that have ended.
fn of_children(process: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = text.rsplit_once(')').unwrap();
    let mut fields = fields.split_ascii_whitespace().skip(13);
    let mut ticks = || fields.next().unwrap().parse::<u64>().unwrap();
    Duration::from_millis((ticks() + ticks()) * 10)
}

fn compare(what: &str, rounds: usize, mut measure: impl FnMut(usize) -> Duration) {
    if std::env::var("OVERHEAD_ONLY").is_ok_and(|only| !what.contains(&only)) {
        return;
    }
    // Who goes first has the caches against him.
    measure(0);
    measure(1);
    let mut stock = Vec::new();
    let mut ratios: Vec<f64> = (0..rounds)
        .map(|round| {
            let first = round % 2;
            let one = measure(first).as_secs_f64();
            let other = measure(1 - first).as_secs_f64();
            let (without, with) = if first == 0 {
                (one, other)
            } else {
                (other, one)
            };
            stock.push(without);
            with / without
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    stock.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
    println!(
        "{:6.3} [{:.3} {:.3}]  {what} (stock {:.1} ms)",
        at(0.5),
        at(0.25),
        at(0.75),
        stock[stock.len() / 2] * 1000.0
    );
}
