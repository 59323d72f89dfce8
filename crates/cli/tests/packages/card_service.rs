//! The card service as its own unit runs it: Debian's servers answer with keys that only the service has.

use crate::house::{House, recipe};
use crate::servers::{APACHE, HAPROXY, NGINX, POSTGRESQL, Packaged, SSH, STUNNEL};

/// A server with the heading of its recipe, and a script that gives it the key file that the recipe names.
const SERVERS: [(Packaged, &str, &str); 4] = [
    (
        NGINX,
        "nginx",
        "own nginx.key /etc/nginx/snippets/snakeoil.conf",
    ),
    (
        HAPROXY,
        "HAProxy",
        "cp -p /etc/ssl/private/site.pem /etc/ssl/private/haproxy.pem\n\
         sed -i 's/site.pem/haproxy.pem/' /etc/haproxy/haproxy.cfg",
    ),
    (
        APACHE,
        "Apache",
        "own apache.key /etc/apache2/sites-available/default-ssl.conf",
    ),
    (
        POSTGRESQL,
        "PostgreSQL",
        "own postgresql.key /etc/postgresql/*/main/postgresql.conf",
    ),
];

/// The shell's function of those scripts.
const OWN: &str = "own() { cp -p /etc/ssl/private/ssl-cert-snakeoil.key /etc/ssl/private/$1; \
                   sed -i \"s/ssl-cert-snakeoil.key/$1/\" $2; }";

#[test]
fn packaged_servers_use_keys_of_the_service() {
    let programs = [
        "a2enmod",
        "nginx",
        "haproxy",
        "stunnel",
        "postgres",
        "psql",
        "curl",
        "systemd-sysusers",
        "systemd-analyze",
        "sshd",
        "ssh",
        "ssh-keygen",
        "ssh-add",
    ];
    let Some(house) = House::new(&programs) else {
        return;
    };
    let cluster = house.shell("echo postgresql@$(ls /etc/postgresql | head -n1)-main");
    let unit_of = |unit: &'static str| match unit {
        "postgresql@*-main" => cluster.trim().to_owned(),
        unit => unit.to_owned(),
    };
    let stock = |server: &Packaged| {
        let unit = unit_of(server.unit);
        server.prepare(&house);
        house.machine.restart(&unit).expect("it starts");
        let answer = server.answer(&house);
        house.machine.stop(&unit).expect("it stops");
        answer
    };
    let stocks = SERVERS.each_ref().map(|(server, ..)| stock(server));
    let stunnel_s = stock(&STUNNEL);

    house.shell("systemctl daemon-reload");
    house.start_service();
    // People entered the key, so a restart forgets it.
    let said = house.shell("outboard service stop; outboard service start");
    crate::common::says(&said, "starts it again, without its master key");
    crate::common::says(&said, "systemctl stop outboard.socket");
    crate::common::says(&said, "no key can be used (run 'outboard service enter')");
    house.shell("outboard service enter </tmp/outboard.master");
    house.enable();
    let used = |house: &House| {
        let text = house.stock_shell("outboard keys list --json");
        let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let keys = document["keys"].as_array().cloned().unwrap_or_default();
        keys.iter()
            .filter_map(|key| key["used"].as_u64())
            .sum::<u64>()
    };
    let serves_by_the_service = |server: &Packaged, stock: &str| {
        let unit = unit_of(server.unit);
        let before = used(&house);
        // A reload has only begun: the old process may still answer.
        let uses = || {
            assert_eq!(server.answer(&house), stock, "{unit}");
            std::thread::sleep(std::time::Duration::from_millis(100));
            used(&house) > before
        };
        assert!((0..100).any(|_| uses()), "{unit} does not use the service");
        house.machine.stop(&unit).expect("it stops");
        house.assert_no_crash(&unit);
    };
    for ((server, heading, own_key), stock) in SERVERS.iter().zip(stocks) {
        house.shell(&format!("{OWN}\n{own_key}"));
        house
            .machine
            .restart(&unit_of(server.unit))
            .expect("it starts");
        house.shell("systemctl start postgresql");
        house.shell(&recipe("service", heading));
        serves_by_the_service(server, &stock);
    }
    house.shell("outboard keys adopt /etc/ssl/private/site.pem --user root --destroy");
    house.machine.restart(STUNNEL.unit).expect("it starts");
    serves_by_the_service(&STUNNEL, &stunnel_s);
    house.shell(
        "! grep -r 'PRIVATE KEY' /etc/ssl/private --exclude '*.outboard-backup' --exclude ssl-cert-snakeoil.key",
    );
    let stock = stock(&SSH);
    house.machine.restart(SSH.unit).expect("it starts");
    // With an agent, this sshd ends the session of a client that does not know all host keys yet.
    house.stock_shell("ssh-keyscan localhost >/root/.ssh/known_hosts");
    // The first line ends with a failure, because it took no key yet.
    house.shell(&format!("set +e\n{}", recipe("service", "sshd")));
    house.shell("! ls /etc/ssh/ssh_host_*_key");
    serves_by_the_service(&SSH, &stock);

    // The agent's socket is there, and the service answers at it.
    let agent = "SSH_AUTH_SOCK=/run/outboard/agent.sock ssh-add -l";
    // All servers have one key here, which has the name of the first one's file.
    let offered = house.shell(agent);
    assert!(offered.contains("nginx"), "root may use the key: {offered}");
    for unit in [
        "outboard.service",
        "outboard-agent.service",
        "outboard-metrics@.service",
    ] {
        let exposure = format!("systemd-analyze security {unit} --no-pager | tail -n 1");
        let exposure = house.shell(&exposure);
        let level = exposure
            .split_whitespace()
            .find_map(|word| word.parse().ok());
        assert!(level.is_some_and(|level: f64| level <= 1.5), "{exposure}");
    }
    house.shell("systemctl start outboard-metrics.socket");
    let told = house.shell(
        "python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/outboard/metrics.sock'); \
         print(s.makefile().read(), end='')\"",
    );
    assert!(told.ends_with("# EOF\n"), "{told}");
    crate::common::says(&told, "key=\"nginx\"");
    // To Prometheus, by HTTP: docs/monitoring.md.
    house.shell(
        "mkdir /etc/systemd/system/outboard-metrics.socket.d\n\
         printf '[Socket]\\nListenStream=127.0.0.1:9798\\n' \
             >/etc/systemd/system/outboard-metrics.socket.d/address.conf\n\
         systemctl daemon-reload; systemctl restart outboard-metrics.socket",
    );
    let told = house.stock_shell("curl -sSf http://127.0.0.1:9798/metrics");
    assert!(told.ends_with("# EOF\n"), "{told}");
    crate::common::says(&told, "key=\"nginx\"");
    house.shell("outboard keys audit --check");
}

/// The master key comes from a credential: the service is killed, and serves again without people. The front for ssh clients
/// does not notice.
#[test]
fn a_credential_opens_the_service_at_every_start() {
    let programs = [
        "nginx",
        "curl",
        "systemd-sysusers",
        "sshd",
        "ssh",
        "ssh-keygen",
    ];
    let Some(house) = House::new(&programs) else {
        return;
    };
    let servers = [NGINX, SSH];
    let stocks = servers.each_ref().map(|server| {
        server.prepare(&house);
        house.machine.restart(server.unit).expect("it starts");
        server.answer(&house)
    });
    // In these namespaces systemd cannot mount credentials: their place is named as systemd names it.
    house.shell(
        "systemd-sysusers\n\
         install -d -o outboard -m 500 /etc/credentials\n\
         openssl rand -hex 32 >/etc/credentials/outboard.master\n\
         chown outboard /etc/credentials/outboard.master\n\
         mkdir -p /etc/systemd/system/outboard.service.d\n\
         printf '[Service]\\nEnvironment=CREDENTIALS_DIRECTORY=/etc/credentials\\n' \
             >/etc/systemd/system/outboard.service.d/master.conf\n\
         systemctl daemon-reload\n\
         systemctl enable --now outboard.socket outboard-agent.socket outboard.service\n\
         outboard service status || { journalctl --no-pager -u outboard -u outboard-agent; exit 1; } >&2\n\
         outboard enable --offer all\n\
         outboard keys adopt /etc/ssl/private/ssl-cert-snakeoil.key --user www-data",
    );
    house.machine.restart(NGINX.unit).expect("it starts");
    // Clients must know all host keys; and the first line ends with a failure, because it took no key yet.
    house.stock_shell("ssh-keyscan localhost >/root/.ssh/known_hosts");
    house.shell(&format!("set +e\n{}", recipe("service", "sshd")));
    house.shell("! ls /etc/ssh/ssh_host_*_key");
    // Not tried again: no handshake and no login may fail.
    let once = |server: &Packaged| {
        house.stock_shell(&format!(
            "{{ {}; }} || {{ journalctl --no-pager -n 40 -u outboard -u outboard-agent -u ssh; \
             tail -n 3 /var/log/nginx/error.log; exit 1; }} >&2",
            server.ask
        ))
    };
    let serves = |after: &str| {
        for (server, stock) in servers.iter().zip(&stocks) {
            assert_eq!(once(server), *stock, "{} after {after}", server.unit);
        }
    };
    let front = || house.shell("systemctl show --property=MainPID --value outboard-agent.service");
    for (server, stock) in servers.iter().zip(&stocks) {
        assert_eq!(server.answer(&house), *stock);
    }
    let first = front();
    for signal in ["KILL", "TERM", "KILL"] {
        house.shell(&format!(
            "systemctl kill --signal={signal} outboard.service"
        ));
        serves(signal);
    }
    house.shell("systemctl restart outboard.service");
    serves("a restart");
    assert_eq!(front(), first, "the front goes on");
    assert_eq!(
        house
            .shell(&format!("stat --format=%U /proc/{}", first.trim()))
            .trim(),
        "outboard-agent"
    );
    house.shell("systemctl restart outboard-agent.service");
    serves("a restart of the front");
    assert_ne!(front(), first);
    let doctor = house.shell("outboard doctor || true");
    assert!(!doctor.contains("sshd and ssh cannot use"), "{doctor}");

    // Another user's process has the abstract address: only programs in a chroot miss it, until it ends.
    house.shell(
        "systemctl stop outboard.socket outboard-chroot.socket outboard.service\n\
         systemd-run --quiet --unit=squatter --uid=nobody --property=Type=exec python3 -c 'import socket, time\n\
         taken = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n\
         taken.bind(\"\\0outboard/run/outboard\")\n\
         taken.listen()\n\
         time.sleep(600)'\n\
         until grep -q '@outboard/run/outboard$' /proc/net/unix; do sleep 0.1; done\n\
         systemctl start outboard.socket outboard.service",
    );
    serves("its abstract address was taken");
    let doctor = house.shell("outboard doctor || true");
    let found = "listens at the card service's abstract address";
    assert!(doctor.contains(found), "{doctor}");
    house.shell("systemctl stop squatter; systemctl restart outboard.service");
    serves("its abstract address was given back");
    let doctor = house.shell("outboard doctor || true");
    assert!(!doctor.contains("abstract address"), "{doctor}");

    // The front ends with its socket, and doctor says what is missing.
    house.shell("systemctl stop outboard-agent.socket");
    let doctor = house.shell("outboard doctor || true");
    assert!(
        doctor.contains("enable --now outboard-agent.socket"),
        "{doctor}"
    );
}
