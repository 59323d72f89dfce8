//! PostgreSQL with TLS under Outboard: a server that forks for every connection, and runs as a user
//! of its own.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use outboard_engine::Operation;
use outboard_programs::{Certificate, Launch, Offer, OpenSsl, Outboard, free_port};

use crate::stand::{Stand, assert_served, counts, installed, is_stock_alone, outboard};

/// User and group.
type Owner = (u32, u32);

#[test]
fn psql_connects_over_tls() {
    if !installed(&["initdb", "postgres", "psql"]) {
        return;
    }
    let stand = Stand::new();
    let home = stand.workplace.join("postgresql");
    fs::create_dir(&home).unwrap();
    let owner = owner(&home);
    let certificate =
        Certificate::generate(&stand.workplace, &stand.stock, "server", "rsa:3072").unwrap();
    fs::copy(&certificate.certificate, home.join("server.crt")).unwrap();
    let key = home.join("server.key");
    fs::copy(&certificate.key, &key).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    chown(&key, Some(owner.0), Some(owner.1)).unwrap();
    let server = servers_openssl(&stand, &home);
    let run = |program| {
        let launch = Launch::new(program).unwrap();
        launch
            .with(&server)
            .owned_by(owner.0, owner.1)
            .directory(&home)
    };

    let initdb = run("initdb").args(["-A", "trust", "-U", "test", "--no-sync", "-D", "data"]);
    initdb.succeed().unwrap();
    let port = free_port().unwrap();
    let log = stand.workplace.join("postgresql.log");
    let mut settings = vec![format!("port={port}")];
    settings.push(format!("unix_socket_directories={}", home.display()));
    for setting in [
        "listen_addresses=127.0.0.1",
        "fsync=off",
        "ssl=on",
        "ssl_cert_file=../server.crt",
        "ssl_key_file=../server.key",
    ] {
        settings.push(setting.to_owned());
    }
    let settings = settings.iter().flat_map(|setting| ["-c", setting]);
    let mut postgres = run("postgres")
        .args(["-D", "data"])
        .args(settings)
        .start(&log)
        .unwrap();
    postgres.wait_for_port(port).unwrap();
    for _ in 0..3 {
        let question = "select ssl, version, repeat('x', 3000000) from pg_stat_ssl \
                        where pid = pg_backend_pid()";
        let answer = Launch::new("psql")
            .unwrap()
            .with(&stand.outboard)
            .env("PGSSLROOTCERT", &certificate.certificate)
            .env("PGSSLMODE", "verify-full")
            .env("PGHOSTADDR", "127.0.0.1")
            .args([
                "-h",
                "localhost",
                "-p",
                &port.to_string(),
                "-U",
                "test",
                "-d",
                "postgres",
            ])
            .args(["-At", "-c", question])
            .succeed()
            .unwrap();
        let expected = format!("t|TLSv1.3|{}\n", "x".repeat(3_000_000));
        assert!(answer.output == expected, "{}", &answer.output[..100]);
    }
    let stopped = postgres.stop().unwrap();
    assert!(
        stopped.status.success(),
        "{}",
        fs::read_to_string(&log).unwrap()
    );
    assert_served(
        &counts(&server),
        &[Operation::Rsa3072Sign, Operation::Aes256GcmSeal],
    );
    stand.assert_served(&[Operation::Aes256GcmOpen]);
}

/// The module and the ledger where the server's user may reach them.
fn servers_openssl(stand: &Stand, home: &Path) -> OpenSsl {
    if is_stock_alone() {
        return stand.stock.clone();
    }
    let built = outboard(Offer::All);
    let module = home.join("outboard.so");
    fs::copy(&built.module, &module).unwrap();
    let reachable = Outboard { module, ..built };
    OpenSsl::outboard(&stand.workplace, &reachable, "postgresql/server").unwrap()
}

/// PostgreSQL refuses to run as root: then it runs as the user that its package makes. The directory
/// becomes that user's.
fn owner(directory: &Path) -> Owner {
    let metadata = directory.metadata().unwrap();
    if metadata.uid() != 0 {
        return (metadata.uid(), metadata.gid());
    }
    let number = |option| {
        let id = Launch::new("id")
            .unwrap()
            .args([option, "postgres"])
            .succeed()
            .unwrap();
        id.output.trim().parse().unwrap()
    };
    let owner = (number("-u"), number("-g"));
    chown(directory, Some(owner.0), Some(owner.1)).unwrap();
    owner
}
