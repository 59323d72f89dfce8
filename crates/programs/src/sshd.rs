//! A real sshd of one's own: own port, own host keys, own users' keys; the system's is not touched.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workplace::free_port;
use crate::{Error, Finished, Launch, OpenSsl, Process, Workplace};

/// How an sshd is to run.
#[derive(Clone, Copy, Debug)]
pub struct SshdOptions<'a> {
    /// What its libcrypto reads.
    pub openssl: &'a OpenSsl,
    /// The core it is held to.
    pub core: Option<usize>,
    /// Lines for the end of sshd_config.
    pub settings: &'a str,
}

/// An sshd that lets the current user in with the workplace's keys.
#[derive(Debug)]
pub struct Sshd {
    process: Process,
    client_configuration: PathBuf,
}

/// Kinds of keys as `ssh-keygen -t` names them; Debian makes a host key of each.
const KEY_KINDS: [&str; 3] = ["ed25519", "ecdsa", "rsa"];

/// Where sshd's unprivileged child is locked in; Debian's service makes it at boot.
const EMPTY_DIRECTORY: &str = "/run/sshd";

impl Sshd {
    /// The name by which the clients' configuration knows the server.
    pub const HOST: &'static str = "outboard-test";

    /// Starts it and waits until it answers. Keys are made on first use of the workplace.
    ///
    /// As root it needs `/run/sshd`, which Debian's own service makes: it is made if it is missing,
    /// and stays (it is empty, and in memory).
    ///
    /// # Errors
    /// If a program is missing or sshd does not come up.
    pub fn start(workplace: &Workplace, options: SshdOptions<'_>) -> Result<Self, Error> {
        make_keys(workplace)?;
        Self::make_its_directory()?;
        let port = free_port()?;
        let user = current_user()?;
        let configuration = workplace.write(
            &format!("sshd_config.{port}"),
            sshd_config(workplace, port, &user, options.settings),
        )?;
        let log = workplace.join(format!("sshd.{port}.log"));
        let mut process = Launch::new("sshd")?
            .args(["-D", "-e", "-f"])
            .arg(&configuration)
            .with(options.openssl)
            .on(options.core)
            .start(&log)?;
        process.wait_for_port(port)?;
        let client_configuration = workplace.write(
            &format!("ssh_config.{port}"),
            ssh_config(workplace, port, &user),
        )?;
        Ok(Self {
            process,
            client_configuration,
        })
    }

    /// Makes the directory without which sshd does not even read its configuration as root, if it is
    /// missing.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make_its_directory() -> Result<(), Error> {
        let empty = Path::new(EMPTY_DIRECTORY);
        if is_root() && !empty.exists() {
            fs::create_dir_all(empty).map_err(Error::file("make", empty))?;
        }
        Ok(())
    }

    /// A client (`ssh`, `scp`, `sftp`) that knows this server as [`Sshd::HOST`].
    ///
    /// # Errors
    /// [`Error::Missing`].
    pub fn client(&self, program: &str) -> Result<Launch, Error> {
        Ok(Launch::new(program)?
            .arg("-F")
            .arg(&self.client_configuration))
    }

    /// The configuration for other programs' ssh: `rsync -e "ssh -F …"`.
    pub fn client_configuration(&self) -> &Path {
        &self.client_configuration
    }

    /// The listening process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Waits until the last connection has ended, stops the server, and tells the CPU time of all of
    /// it, sessions included.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub fn stop(mut self) -> Result<Finished, Error> {
        self.process.wait_for_children()?;
        self.process.stop()
    }

    /// The private key of that kind (`ed25519`, `ecdsa`, `rsa`) that may log in.
    pub fn user_key(workplace: &Workplace, kind: &str) -> PathBuf {
        workplace.join(format!("user_{kind}"))
    }
}

fn make_keys(workplace: &Workplace) -> Result<(), Error> {
    let authorized = workplace.join("authorized_keys");
    if authorized.exists() {
        return Ok(());
    }
    let mut authorized_keys = String::new();
    let mut known_hosts = String::new();
    for kind in KEY_KINDS {
        let host = workplace.join(format!("host_{kind}"));
        let user = Sshd::user_key(workplace, kind);
        for path in [&host, &user] {
            Launch::new("ssh-keygen")?
                .args(["-q", "-N", "", "-t", kind, "-f"])
                .arg(path)
                .succeed()?;
        }
        authorized_keys += &read_public_key(&user)?;
        known_hosts += &format!("{} {}", Sshd::HOST, read_public_key(&host)?);
    }
    workplace.write("known_hosts", known_hosts)?;
    workplace.write("authorized_keys", authorized_keys)?;
    Ok(())
}

fn read_public_key(private: &Path) -> Result<String, Error> {
    let path = private.with_extension("pub");
    fs::read_to_string(&path).map_err(Error::file("read", &path))
}

fn sshd_config(workplace: &Workplace, port: u16, user: &str, settings: &str) -> String {
    let directory = workplace.path().display();
    let host_keys: String = KEY_KINDS
        .iter()
        .map(|kind| format!("HostKey {directory}/host_{kind}\n"))
        .collect();
    format!(
        "ListenAddress 127.0.0.1:{port}\n{host_keys}\
         AuthorizedKeysFile {directory}/authorized_keys\n\
         AllowUsers {user}\n\
         PidFile {directory}/sshd.{port}.pid\n\
         PermitRootLogin prohibit-password\n\
         PasswordAuthentication no\n\
         KbdInteractiveAuthentication no\n\
         UsePAM no\n\
         # The workplace lies below /tmp, which everybody may write to.\n\
         StrictModes no\n\
         UseDNS no\n\
         MaxStartups 100\n\
         Subsystem sftp /usr/lib/openssh/sftp-server\n\
         {settings}\n"
    )
}

fn ssh_config(workplace: &Workplace, port: u16, user: &str) -> String {
    let directory = workplace.path().display();
    format!(
        "Host {host}\n\
         HostName 127.0.0.1\n\
         HostKeyAlias {host}\n\
         Port {port}\n\
         User {user}\n\
         IdentityFile {directory}/user_ed25519\n\
         IdentitiesOnly yes\n\
         IdentityAgent none\n\
         UserKnownHostsFile {directory}/known_hosts\n\
         GlobalKnownHostsFile /dev/null\n\
         StrictHostKeyChecking yes\n\
         BatchMode yes\n\
         LogLevel ERROR\n",
        host = Sshd::HOST,
    )
}

pub(crate) fn is_root() -> bool {
    // SAFETY: geteuid only returns a number.
    unsafe { libc::geteuid() == 0 }
}

fn current_user() -> Result<String, Error> {
    let finished = Launch::new("id")?.arg("-un").succeed()?;
    Ok(finished.output.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_user_is_let_in() {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let options = SshdOptions {
            openssl: &stock,
            core: None,
            settings: "",
        };
        let sshd = Sshd::start(&workplace, options).unwrap();
        let said = sshd
            .client("ssh")
            .unwrap()
            .args([Sshd::HOST, "echo hello"])
            .succeed()
            .unwrap();
        assert_eq!(said.output, "hello\n");
        let stopped = sshd.stop().unwrap();
        assert!(!stopped.cpu.is_zero());
    }
}
