//! A real PostgreSQL of one's own: a cluster made for it, TLS, and a password by SCRAM.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::tree::has_ended_child;
use crate::workplace::free_port;
use crate::{
    Certificate, Error, Finished, Launch, OpenSsl, Process, Workplace, cpu_time_of,
    cpu_time_of_ended_children, descendants,
};

/// How a PostgreSQL is to run.
#[derive(Clone, Copy, Debug)]
pub struct PostgreSqlOptions<'a> {
    /// What its libcrypto reads. It runs as the user `postgres` if we are root.
    pub openssl: &'a OpenSsl,
    /// What it shows to clients.
    pub certificate: &'a Certificate,
    /// The core that its processes are held to.
    pub core: Option<usize>,
}

/// A PostgreSQL on 127.0.0.1, killed with all its processes when dropped.
#[derive(Debug)]
pub struct PostgreSql {
    process: Process,
    certificate: PathBuf,
    /// Where it answers.
    pub port: u16,
}

/// The one user that may log in, and by which password.
const USER: &str = "test";
const PASSWORD: &str = "correct horse battery staple";

impl PostgreSqlOptions<'_> {
    /// Makes a cluster, starts a server on it and waits until it answers.
    ///
    /// # Errors
    /// If PostgreSQL is missing or does not come up.
    pub fn start(&self, workplace: &Workplace) -> Result<PostgreSql, Error> {
        let port = free_port()?;
        let home = workplace.join(format!("postgresql.{port}"));
        fs::create_dir(&home).map_err(Error::file("make", &home))?;
        let owner = owner(&home)?;
        own_copy(&self.certificate.certificate, &home, "server.crt", owner)?;
        own_copy(&self.certificate.key, &home, "server.key", owner)?;
        let password = workplace.write(&format!("postgresql.{port}.password"), PASSWORD)?;
        let run = |program| -> Result<Launch, Error> {
            let launch = Launch::new(program)?.owned_by(owner.0, owner.1);
            Ok(launch.directory(&home))
        };
        run("initdb")?
            .args(["-A", "scram-sha-256", "-U", USER, "--no-sync", "-D", "data"])
            .arg(format!("--pwfile={}", password.display()))
            .succeed()?;
        let mut settings = vec![
            format!("port={port}"),
            format!("unix_socket_directories={}", home.display()),
        ];
        settings.extend(
            [
                "listen_addresses=127.0.0.1",
                "fsync=off",
                "autovacuum=off",
                // In its own directory: what is killed leaves nothing in /dev/shm.
                "dynamic_shared_memory_type=mmap",
                "ssl=on",
                "ssl_cert_file=../server.crt",
                "ssl_key_file=../server.key",
            ]
            .map(str::to_owned),
        );
        let mut process = run("postgres")?
            .with(self.openssl)
            .on(self.core)
            .args(["-D", "data"])
            .args(settings.iter().flat_map(|setting| ["-c", setting]))
            .start(&workplace.join(format!("postgresql.{port}.log")))?;
        process.wait_for_port(port)?;
        // It answers before it lets anybody in; the last line of this file says when it does.
        let state = home.join("data/postmaster.pid");
        process.wait_until("to accept connections", || {
            fs::read_to_string(&state).is_ok_and(|text| {
                text.lines()
                    .nth(7)
                    .is_some_and(|line| line.trim() == "ready")
            })
        })?;
        Ok(PostgreSql {
            process,
            certificate: self.certificate.certificate.clone(),
            port,
        })
    }
}

impl PostgreSql {
    /// What psql answers to a statement over a connection of its own, which checks the certificate.
    ///
    /// # Errors
    /// If psql is missing or fails.
    pub fn query(&self, openssl: &OpenSsl, statement: &str) -> Result<Finished, Error> {
        self.client("psql", openssl)?
            .args(["-At", "-c", statement])
            .succeed()
    }

    /// A client (`psql`, `pgbench`) that logs in over TLS and checks the certificate.
    ///
    /// # Errors
    /// [`Error::Missing`].
    pub fn client(&self, program: &str, openssl: &OpenSsl) -> Result<Launch, Error> {
        Ok(Launch::new(program)?
            .with(openssl)
            .env("PGSSLROOTCERT", &self.certificate)
            .env("PGSSLMODE", "verify-full")
            .env("PGHOST", "localhost")
            .env("PGHOSTADDR", "127.0.0.1")
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", USER)
            .env("PGPASSWORD", PASSWORD)
            .env("PGDATABASE", "postgres"))
    }

    /// The database as JDBC names it, with the user and the password. Its connections are without TLS.
    pub fn jdbc(&self) -> String {
        let password = PASSWORD.replace(' ', "%20");
        let port = self.port;
        format!("jdbc:postgresql://127.0.0.1:{port}/postgres?user={USER}&password={password}")
    }

    /// Waits until every connection has ended; the CPU time so far of all processes, ended ones included.
    ///
    /// # Errors
    /// [`Error::TimedOut`] after [`PATIENCE`](crate::PATIENCE).
    pub fn cpu(&mut self) -> Result<Duration, Error> {
        let id = self.process.id();
        self.process.wait_until("to finish its connections", || {
            !descendants(id).into_iter().any(serves_a_connection) && !has_ended_child(id)
        })?;
        let living = std::iter::once(id).chain(descendants(id));
        let living: Duration = living.filter_map(cpu_time_of).sum();
        Ok(living + cpu_time_of_ended_children(id).unwrap_or_default())
    }

    /// The process that was started, which forks for each connection.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Stops it.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub fn stop(self) -> Result<Finished, Error> {
        self.process.stop()
    }
}

/// Such a process says in its title from where its client came: `postgres: test postgres 127.0.0.1(40000) idle`. One that is about
/// to end has no title any more.
fn serves_a_connection(process: u32) -> bool {
    let title = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    title.is_empty() || String::from_utf8_lossy(&title).contains(" 127.0.0.1(")
}

/// User and group.
type Owner = (u32, u32);

/// PostgreSQL refuses to run as root: then it runs as the user that its package makes. The directory
/// becomes that user's.
fn owner(directory: &Path) -> Result<Owner, Error> {
    let metadata = fs::metadata(directory).map_err(Error::file("examine", directory))?;
    if metadata.uid() != 0 {
        return Ok((metadata.uid(), metadata.gid()));
    }
    let number = |option| -> Result<u32, Error> {
        let id = Launch::new("id")?.args([option, "postgres"]).succeed()?;
        Ok(id.output.trim().parse().expect("id prints a number"))
    };
    let owner = (number("-u")?, number("-g")?);
    chown(directory, Some(owner.0), Some(owner.1)).map_err(Error::file("give away", directory))?;
    Ok(owner)
}

/// A copy that is its owner's alone.
fn own_copy(file: &Path, directory: &Path, name: &str, owner: Owner) -> Result<(), Error> {
    let copy = directory.join(name);
    fs::copy(file, &copy)
        .and_then(|_| fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)))
        .and_then(|()| chown(&copy, Some(owner.0), Some(owner.1)))
        .map_err(Error::file("copy to", &copy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::missing;

    #[test]
    fn answers_over_tls_to_who_knows_the_password() {
        if !missing(&["initdb", "postgres", "psql"]).is_empty() {
            return;
        }
        let workplace = Workplace::new().unwrap();
        let openssl = OpenSsl::stock(&workplace).unwrap();
        let certificate = Certificate::generate(&workplace, &openssl, "rsa", "rsa:2048").unwrap();
        let options = PostgreSqlOptions {
            openssl: &openssl,
            certificate: &certificate,
            core: None,
        };
        let mut server = options.start(&workplace).unwrap();
        let question = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
        assert_eq!(server.query(&openssl, question).unwrap().output, "t\n");
        let before = server.cpu().unwrap();
        // Much more than all else that the server does, and more than a step of the clock of ended processes.
        let work =
            "select sum(length(md5(number::text))) from generate_series(1, 500000) as number";
        server.query(&openssl, work).unwrap();
        let used = server.cpu().unwrap() - before;
        assert!(used > Duration::from_millis(50), "{used:?}");
        server.stop().unwrap();
    }
}
