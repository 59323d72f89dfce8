//! OpenSSH: the cost of a transfer and of a login at each side, by cipher and MAC.
//!
//! ```text
//! cipher         what OpenSSH calls it, what the engine calls it, what can be expected of the ledger
//! transfers      scp, sftp, rsync of 200 MB: real, user, sys, throughput, sshd
//! download       sshd's share of a core while a line that is not the fastest is full
//! logins         many at once: CPU of a handshake at each side
//! cryptography   its share of a transfer's CPU time, as perf samples it
//! ```

mod cipher;
mod cryptography;
mod download;
pub(super) mod logins;
mod transfers;

use std::path::PathBuf;

use outboard_programs::{Launch, OpenSsl, Sshd, SshdOptions, Workplace};

use crate::Failure;
use crate::suite::{Options, Session, Step, Workload};
use cipher::Suite;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ssh;

/// What Debian's sshd knows but does not offer by itself: the published ciphers and MACs.
const SETTINGS: &str = "Ciphers +3des-cbc,aes128-cbc,aes192-cbc\nMACs +hmac-md5\n";

impl Workload for Ssh {
    fn name(&self) -> &'static str {
        "ssh"
    }

    fn summary(&self) -> &'static str {
        "scp, sftp and rsync of 200 MB, and logins, by cipher and MAC"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["rsync", "scp", "sftp", "ssh", "ssh-keygen", "sshd"]
    }

    fn space(&self, options: &Options) -> u64 {
        2 * bytes(options)
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let mut steps = transfers::plan(options);
        steps.extend(download::plan(options));
        steps.extend(logins::plan(options));
        steps.extend(cryptography::plan(options));
        steps
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        super::versions::record(session, &["rsync", "ssh"])?;
        let size = bytes(session.options());
        session.workplace.write_noise("file", size)?;
        transfers::run(session)?;
        download::run(session)?;
        logins::run(session)?;
        cryptography::run(session)
    }
}

/// The size of the file, in bytes: that of the published transfers, or less.
fn bytes(options: &Options) -> u64 {
    options.pick(205_468_776, 51_367_194, 1_000_000)
}

/// An sshd that accepts every algorithm of the workload, with the keys of a workplace and further settings.
///
/// Its users have an empty home. bash reads `.bashrc` for every command that comes through sshd, and that work must not be
/// measured.
pub(super) fn sshd(
    session: &Session<'_>,
    workplace: &Workplace,
    openssl: &OpenSsl,
    settings: &str,
) -> Result<Sshd, Failure> {
    let home = workplace.path().display();
    let options = SshdOptions {
        openssl,
        core: session.cores.server,
        settings: &format!("{SETTINGS}SetEnv HOME={home}\n{settings}"),
    };
    Ok(Sshd::start(workplace, options)?)
}

/// The file that is sent or fetched.
fn file(session: &Session<'_>) -> PathBuf {
    session.workplace.join("file")
}

/// The copy. It is in memory like the file itself. It is not on a disk, and not /dev/null, because a privileged copy would
/// change the mode of /dev/null.
fn copy(session: &Session<'_>) -> PathBuf {
    session.workplace.join("copy")
}

/// The server's name of a path.
fn remote(path: &std::path::Path) -> String {
    format!("{}:{}", Sshd::HOST, path.display())
}

/// Checks that the copy is complete, and removes it, so that the next check cannot see an old copy.
fn check(session: &Session<'_>) -> Result<(), Failure> {
    let copy = copy(session);
    let length = copy.metadata()?.len();
    if length != bytes(session.options()) {
        return Err(format!("the copy has {length} bytes").into());
    }
    Ok(std::fs::remove_file(copy)?)
}

/// `scp` or `sftp` with its options for cipher and MAC.
fn client(
    session: &Session<'_>,
    sshd: &Sshd,
    program: &str,
    suite: &Suite,
    openssl: &OpenSsl,
) -> Result<Launch, Failure> {
    Ok(sshd
        .client(program)?
        .with(openssl)
        .on(session.cores.client)
        .arg("-q")
        .args(suite.options()))
}
