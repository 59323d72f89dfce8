//! Six servers as Debian configures them: what they answer under stock they answer under Outboard, which counts it.

use crate::house::House;

/// A server, and how it is asked.
pub(crate) struct Packaged {
    pub(crate) unit: &'static str,
    /// What is changed of its configuration, as its documentation says.
    prepare: &'static str,
    /// Asks it as a client does that checks the certificate; prints what does not change from time to time.
    pub(crate) ask: &'static str,
    /// The program's name in the ledger.
    pub(crate) program: &'static str,
    /// What Outboard does of it.
    pub(crate) operations: &'static [&'static str],
}

const FETCH: &str =
    "curl -sSf --cacert /etc/ssl/certs/ssl-cert-snakeoil.pem https://localhost/ | sha256sum";

const TLS: &[&str] = &["rsa-2048-sign", "x25519-derive"];

pub(crate) const NGINX: Packaged = Packaged {
    unit: "nginx",
    // The lines are there: they are comments.
    prepare: "sed -i 's/# listen/listen/; s/# include snippets/include snippets/' /etc/nginx/sites-available/default",
    ask: FETCH,
    program: "nginx",
    operations: TLS,
};

pub(crate) const HAPROXY: Packaged = Packaged {
    unit: "haproxy",
    prepare: "printf '\nfrontend tls\n\tbind :443 ssl crt site.pem\n\
              \thttp-request return status 200 content-type text/plain string ok\n' >>/etc/haproxy/haproxy.cfg",
    ask: FETCH,
    program: "haproxy",
    operations: TLS,
};

pub(crate) const APACHE: Packaged = Packaged {
    unit: "apache2",
    prepare: "a2enmod -q ssl; a2ensite -q default-ssl",
    ask: FETCH,
    program: "apache2",
    operations: TLS,
};

pub(crate) const STUNNEL: Packaged = Packaged {
    unit: "stunnel@site",
    prepare: "printf 'foreground = yes\n[site]\naccept = 443\nexec = /bin/echo\nexecArgs = echo ok\n\
              cert = /etc/ssl/private/site.pem\n' >/etc/stunnel/site.conf",
    ask: "openssl s_client -quiet -verify_return_error -CAfile /etc/ssl/certs/ssl-cert-snakeoil.pem \
          -connect localhost:443 2>/dev/null </dev/null",
    program: "stunnel4",
    operations: TLS,
};

pub(crate) const SSH: Packaged = Packaged {
    unit: "ssh",
    prepare: "useradd --create-home visitor; install -d -o visitor /home/visitor/.ssh\n\
              ssh-keygen -q -N '' -t ed25519 -f /root/visitor\n\
              install -o visitor -m 600 /root/visitor.pub /home/visitor/.ssh/authorized_keys\n\
              test -e /etc/ssh/ssh_host_ed25519_key || ssh-keygen -A",
    // OpenSSH 9.2 asks OpenSSL's providers for ciphers alone, and prefers one that is not OpenSSL's.
    ask: "ssh -i /root/visitor -o BatchMode=yes -o StrictHostKeyChecking=no -c aes128-gcm@openssh.com \
          visitor@localhost id -un 2>/dev/null",
    program: "sshd",
    operations: &["aes-128-gcm-seal", "aes-128-gcm-open"],
};

pub(crate) const POSTGRESQL: Packaged = Packaged {
    unit: "postgresql@*-main",
    prepare: "systemctl start 'postgresql@'$(ls /etc/postgresql)-main\n\
              runuser -u postgres -- psql -qc \"create role visitor login password 'visitor'\"",
    ask: "PGPASSWORD=visitor PGSSLMODE=verify-full PGSSLROOTCERT=/etc/ssl/certs/ssl-cert-snakeoil.pem \
          psql -h localhost -U visitor -d postgres -Atc 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'",
    program: "postgres",
    operations: &["rsa-2048-sign", "p256-derive"],
};

impl Packaged {
    pub(crate) fn prepare(&self, house: &House) {
        house.stock_shell(self.prepare);
    }

    /// What it answers, once it does: a unit of a simple type has started before its server listens.
    pub(crate) fn answer(&self, house: &House) -> String {
        let Self { unit, ask, .. } = self;
        house.stock_shell(&format!(
            "for try in $(seq 100); do {{ {ask} && exit 0; }} || sleep 0.1; done\n\
             journalctl --no-pager -n 30 -u '{unit}' >&2; exit 1"
        ))
    }
}

#[test]
fn as_packaged_they_answer_as_with_stock_and_are_counted() {
    let programs = [
        "a2enmod",
        "nginx",
        "haproxy",
        "stunnel",
        "sshd",
        "ssh",
        "ssh-keygen",
        "postgres",
        "psql",
        "curl",
    ];
    let Some(house) = House::new(&programs) else {
        return;
    };
    let cluster = house.shell("echo postgresql@$(ls /etc/postgresql | head -n1)-main");
    for server in [NGINX, HAPROXY, APACHE, STUNNEL, SSH, POSTGRESQL] {
        server.prepare(&house);
        let unit = match server.unit {
            "postgresql@*-main" => cluster.trim(),
            unit => unit,
        };
        let restart = || house.machine.restart(unit).expect("it starts");
        restart();
        let stock = server.answer(&house);
        house.enable();
        house.forget();
        restart();
        assert_eq!(server.answer(&house), stock, "{unit}");
        let served = house.served();
        for operation in server.operations {
            let key = (server.program.to_owned(), (*operation).to_owned());
            assert!(
                served.contains_key(&key),
                "{unit}: no {operation} in {served:?}"
            );
        }
        // As it is packaged, nothing of a unit's hardening takes anything away, and doctor has nothing to say of it.
        let doctor = house.shell("outboard doctor");
        for said in [
            format!("{unit}.service counts"),
            format!("filter of {unit}.service"),
        ] {
            assert!(!doctor.contains(&said), "{doctor}");
        }
        house.machine.stop(unit).expect("it stops");
        house.disable();
        house.assert_no_crash(unit);
    }
}
