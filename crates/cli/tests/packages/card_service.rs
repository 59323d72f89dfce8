//! The card service as its own unit runs it: Debian's servers answer with keys that only the service has.

use crate::house::House;
use crate::servers::{APACHE, HAPROXY, NGINX, POSTGRESQL, STUNNEL};

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
        "ssh-add",
    ];
    let Some(house) = House::new(&programs) else {
        return;
    };
    let cluster = house.shell("echo postgresql@$(ls /etc/postgresql | head -n1)-main");
    let servers = [NGINX, HAPROXY, APACHE, STUNNEL, POSTGRESQL];
    let unit_of = |unit: &'static str| match unit {
        "postgresql@*-main" => cluster.trim().to_owned(),
        unit => unit.to_owned(),
    };
    let stock = servers.each_ref().map(|server| {
        let unit = unit_of(server.unit);
        server.prepare(&house);
        house.machine.restart(&unit).expect("it starts");
        let answer = server.answer(&house);
        house.machine.stop(&unit).expect("it stops");
        answer
    });

    // As docs/service.md says.
    house.shell(
        "systemd-sysusers\n\
         systemctl daemon-reload\n\
         systemctl enable --now outboard.socket outboard-agent.socket outboard.service\n\
         openssl rand -hex 32 | outboard service enter\n\
         outboard service status",
    );
    house.enable();
    house.shell(
        "outboard keys adopt /etc/ssl/private/ssl-cert-snakeoil.key --user www-data --user postgres\n\
         outboard keys adopt /etc/ssl/private/site.pem --user haproxy --user root --destroy\n\
         ! grep -r 'PRIVATE KEY' /etc/ssl/private --exclude '*.outboard-backup'",
    );
    let used = |house: &House| {
        let text = house.stock_shell("outboard keys list --json");
        let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let keys = document["keys"].as_array().cloned().unwrap_or_default();
        keys.iter()
            .filter_map(|key| key["used"].as_u64())
            .sum::<u64>()
    };
    for (server, stock) in servers.iter().zip(stock) {
        let unit = unit_of(server.unit);
        let before = used(&house);
        house.machine.restart(&unit).expect("it starts");
        assert_eq!(server.answer(&house), stock, "{unit}");
        assert!(used(&house) > before, "{unit} does not use the service");

        // Killed, the service is back at once: systemd keeps its sockets. Without a credential people would have to enter
        // the master key again.
        house.machine.stop(&unit).expect("it stops");
        house.assert_no_crash(&unit);
    }
    // The agent's socket is there, and the service answers at it.
    let agent = "SSH_AUTH_SOCK=/run/outboard/agent.sock ssh-add -l";
    assert!(
        house.shell(agent).contains("site"),
        "root may use the key 'site'"
    );
    let exposure = house.shell("systemd-analyze security outboard.service --no-pager | tail -n 1");
    let level: f64 = exposure
        .split_whitespace()
        .find_map(|word| word.parse().ok())
        .unwrap_or_else(|| panic!("{exposure}"));
    assert!(level <= 1.5, "{exposure}");
    house.shell("outboard keys audit --check");
}

/// The master key comes from a credential: the service is killed, and serves again without people.
#[test]
fn a_credential_opens_the_service_at_every_start() {
    let Some(house) = House::new(&["nginx", "curl", "systemd-sysusers"]) else {
        return;
    };
    NGINX.prepare(&house);
    house.machine.restart(NGINX.unit).expect("it starts");
    let stock = NGINX.answer(&house);
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
         outboard service status || { journalctl --no-pager -u outboard; exit 1; } >&2\n\
         outboard enable --offer all\n\
         outboard keys adopt /etc/ssl/private/ssl-cert-snakeoil.key --user www-data",
    );
    house.machine.restart(NGINX.unit).expect("it starts");
    // Not tried again: no handshake may fail.
    let once = || {
        house.stock_shell(&format!(
            "{{ {}; }} || {{ journalctl --no-pager -n 20 -u outboard; tail -n 3 /var/log/nginx/error.log; exit 1; }} >&2",
            NGINX.ask
        ))
    };
    for signal in ["KILL", "TERM", "KILL"] {
        assert_eq!(NGINX.answer(&house), stock);
        house.shell(&format!(
            "systemctl kill --signal={signal} outboard.service"
        ));
        assert_eq!(once(), stock, "after {signal}");
    }
    house.shell("systemctl restart outboard.service");
    assert_eq!(once(), stock);
}
