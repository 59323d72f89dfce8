//! A temporary sshd on loopback that accepts everything, and clients that ask for one thing.

use outboard_programs::{Cores, Finished, Launch, OpenSsl, Sshd, SshdOptions, Workplace};
use std::fs::{self, File};
use std::path::Path;

use super::algorithm::Kind;
use super::installed::Lists;
use crate::Error;

/// Where transfers and logins are measured.
pub(super) struct Stand {
    workplace: Workplace,
    openssl: OpenSsl,
    cores: Cores,
    settings: String,
}

/// Seconds in user mode, where the cryptography runs. What the kernel does with packets and pipes is
/// the same whatever the algorithm, and varies more than they differ.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seconds {
    pub(super) client: f64,
    pub(super) server: f64,
    /// The client's with the kernel's.
    pub(super) client_cpu: f64,
}

/// The algorithms that client and server agreed on.
#[derive(Debug, serde::Serialize)]
pub struct Negotiated {
    /// The cipher.
    pub cipher: String,
    /// The MAC; none where the cipher authenticates by itself.
    pub mac: Option<String>,
    /// The key exchange.
    pub key_exchange: String,
}

/// A setting of the client: a keyword of ssh_config and its value.
pub(super) type Wish<'a> = (&'a str, &'a str);

/// The file that is sent, and an empty one.
const FILE: &str = "file";
const EMPTY: &str = "empty";

/// Host keys that Debian does not make by itself: `ssh-keygen -t ecdsa -b BITS`.
const MORE_ECDSA: [&str; 2] = ["384", "521"];

impl Seconds {
    /// The time of a client and of its server. Stops the server.
    fn of(client: &Finished, server: Sshd) -> Result<Self, Error> {
        Ok(Self {
            client: client.user.as_secs_f64(),
            server: server.stop()?.user.as_secs_f64(),
            client_cpu: client.cpu.as_secs_f64(),
        })
    }
}

impl Negotiated {
    /// From what `ssh -v` says, of what the client sends.
    fn of(talk: &str) -> Option<Self> {
        let after = |label: &str| {
            let start = talk.find(label)? + label.len();
            Some(talk[start..].split_whitespace())
        };
        let mut sent = after("kex: client->server cipher: ")?;
        let cipher = sent.next()?.to_owned();
        let mac = sent.skip_while(|word| *word != "MAC:").nth(1)?;
        Some(Self {
            cipher,
            mac: (mac != "<implicit>").then(|| mac.to_owned()),
            key_exchange: after("kex: algorithm: ")?.next()?.to_owned(),
        })
    }
}

impl Stand {
    /// In `workplace`, with programs that read `openssl`, a server that accepts all of `offered`, and
    /// a file of `bytes`.
    pub(super) fn new(
        workplace: Workplace,
        openssl: OpenSsl,
        offered: &Lists,
        bytes: u64,
    ) -> Result<Self, Error> {
        workplace.write_noise(FILE, bytes)?;
        workplace.write(EMPTY, "")?;
        let stand = Self {
            settings: settings(&workplace, offered),
            workplace,
            openssl,
            cores: Cores::choose(),
        };
        make_more_keys(&stand.workplace)?;
        // The first start makes the rest of the keys, and the list of those that clients know.
        let plain = stand.server("", &stand.openssl)?;
        plain.stop()?;
        let known = stand.workplace.join("known_hosts");
        let mut text = fs::read_to_string(&known)?;
        for bits in MORE_ECDSA {
            let key = stand.workplace.join(format!("host_ecdsa_{bits}.pub"));
            text += &format!("{} {}", Sshd::HOST, fs::read_to_string(key)?);
        }
        fs::write(&known, text)?;
        Ok(stand)
    }

    /// Sends the file through ssh, each time to a new server. When that server has ended, its CPU time is known to the
    /// microsecond. The receiver discards the data, because new memory can cost the kernel more than the encryption.
    pub(super) fn transfer(&self, wishes: &[Wish<'_>]) -> Result<Seconds, Error> {
        self.send(FILE, wishes)
    }

    /// Sends nothing. This is the cost of a transfer without its bytes.
    pub(super) fn empty_transfer(&self, wishes: &[Wish<'_>]) -> Result<Seconds, Error> {
        self.send(EMPTY, wishes)
    }

    /// Copies the file by scp under that libcrypto at both ends.
    pub(super) fn copy(&self, wishes: &[Wish<'_>], openssl: &OpenSsl) -> Result<Seconds, Error> {
        let server = self.server(&self.settings, openssl)?;
        let file = self.workplace.join(FILE);
        let copy = self.workplace.join("copy");
        let client = self
            .client(&server, "scp", wishes, openssl)?
            .arg("-q")
            .arg(&file)
            .arg(format!("{}:{}", Sshd::HOST, copy.display()))
            .limit(PATIENCE)
            .succeed()?;
        let length = |path: &Path| path.metadata().map(|metadata| metadata.len());
        if length(&copy)? != length(&file)? {
            return Err("scp succeeded, but its copy has another length".into());
        }
        fs::remove_file(&copy)?;
        Seconds::of(&client, server)
    }

    /// Logs in so many times, one after another; what one login costs.
    pub(super) fn logins(&self, number: u32, wishes: &[Wish<'_>]) -> Result<Seconds, Error> {
        let server = self.server(&self.settings, &self.openssl)?;
        let mut spent = Seconds::default();
        for _ in 0..number {
            let client = self.client(&server, "ssh", wishes, &self.openssl)?;
            let client = client.args([Sshd::HOST, "true"]).succeed()?;
            spent.client += client.user.as_secs_f64();
            spent.client_cpu += client.cpu.as_secs_f64();
        }
        spent.server = server.stop()?.user.as_secs_f64();
        Ok(spent)
    }

    /// The output of a client's login with -v.
    pub(super) fn talk(&self) -> Result<Finished, Error> {
        let server = self.server(&self.settings, &self.openssl)?;
        let client = self.client(&server, "ssh", &[], &self.openssl)?;
        Ok(client.args(["-vv", Sshd::HOST, "true"]).succeed()?)
    }

    /// Logs in once under that libcrypto, to see what client and server agree on.
    pub(super) fn negotiated(
        &self,
        wishes: &[Wish<'_>],
        openssl: &OpenSsl,
    ) -> Result<Negotiated, Error> {
        let server = self.server(&self.settings, openssl)?;
        let client = self.client(&server, "ssh", wishes, openssl)?;
        let talk = client.args(["-v", Sshd::HOST, "true"]).succeed()?.errors;
        Negotiated::of(&talk)
            .ok_or_else(|| "the output of ssh -v does not show the agreed algorithms".into())
    }

    fn send(&self, file: &str, wishes: &[Wish<'_>]) -> Result<Seconds, Error> {
        let server = self.server(&self.settings, &self.openssl)?;
        let client = self
            .client(&server, "ssh", wishes, &self.openssl)?
            .args([Sshd::HOST, "exec cat >/dev/null"])
            .input(File::open(self.workplace.join(file))?)
            .limit(PATIENCE)
            .succeed()?;
        Seconds::of(&client, server)
    }

    fn server(&self, settings: &str, openssl: &OpenSsl) -> Result<Sshd, Error> {
        let options = SshdOptions {
            openssl,
            core: self.cores.server,
            settings,
        };
        Ok(Sshd::start(&self.workplace, options)?)
    }

    fn client(
        &self,
        server: &Sshd,
        program: &str,
        wishes: &[Wish<'_>],
        openssl: &OpenSsl,
    ) -> Result<Launch, Error> {
        let mut client = server.client(program)?.with(openssl).on(self.cores.client);
        for (keyword, value) in wishes {
            client = client.args(["-o", &format!("{keyword}={value}")]);
        }
        Ok(client)
    }
}

/// 3DES takes most of a minute for a gibibyte, and the machine may be busy.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(600);

fn settings(workplace: &Workplace, offered: &Lists) -> String {
    let mut settings = String::new();
    for kind in Kind::ORDERED {
        if let Some(names) = offered.get(&kind).filter(|names| !names.is_empty()) {
            settings += &format!("{} {}\n", kind.keyword(), names.join(","));
        }
    }
    // A bash that sshd starts reads ~/.bashrc, which can cost ten times as much as the login; not so
    // one that takes itself for the child of another.
    settings += "SetEnv SHLVL=2\n";
    for bits in MORE_ECDSA {
        let directory = workplace.path().display();
        settings += &format!("HostKey {directory}/host_ecdsa_{bits}\n");
    }
    settings
}

fn make_more_keys(workplace: &Workplace) -> Result<(), Error> {
    for bits in MORE_ECDSA {
        Launch::new("ssh-keygen")?
            .args(["-q", "-N", "", "-t", "ecdsa", "-b", bits, "-f"])
            .arg(workplace.join(format!("host_ecdsa_{bits}")))
            .succeed()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_agreed_on_is_read_from_ssh() {
        let talk = "debug1: kex: algorithm: curve25519-sha256\r\n\
                    debug1: kex: server->client cipher: aes256-ctr MAC: hmac-sha1 compression: none\r\n\
                    debug1: kex: client->server cipher: aes128-ctr MAC: umac-64@openssh.com compression: none\r\n";
        let agreed = Negotiated::of(talk).expect("all is told");
        assert_eq!(agreed.cipher, "aes128-ctr");
        assert_eq!(agreed.mac.as_deref(), Some("umac-64@openssh.com"));
        assert_eq!(agreed.key_exchange, "curve25519-sha256");
        let implicit = talk.replace("umac-64@openssh.com", "<implicit>");
        assert_eq!(Negotiated::of(&implicit).expect("all is told").mac, None);
        assert!(Negotiated::of("debug1: kex: algorithm: x").is_none());
    }
}
