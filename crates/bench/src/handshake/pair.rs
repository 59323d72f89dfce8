//! A server and its client in memory, in a process of their own: libssl and libcrypto, and no network.
//!
//! The process is this program again, with libssl preloaded behind the stopwatch, and calls what it finds there. It makes
//! as many connections as a line of its input says, and answers each line with one of its own.

mod libssl;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use outboard_programs::{Certificate, OpenSsl, hold_to};

use super::{Case, Setting};
use crate::Failure;
use crate::workloads::tls::client::Version;
use libssl::{Contexts, Settings};

/// What the process is told.
#[derive(Clone, Debug, clap::Args)]
pub struct PairArguments {
    certificate: PathBuf,
    key: PathBuf,
    #[arg(long)]
    tls12: bool,
    #[arg(long)]
    resumed: bool,
    #[arg(long)]
    core: Option<usize>,
}

/// The process.
///
/// # Errors
/// If libssl is not there, or a connection fails.
pub fn pair(arguments: &PairArguments) -> Result<ExitCode, Failure> {
    arguments.core.map_or(Ok(()), hold_to)?;
    let mut contexts = Contexts::new(&Settings {
        certificate: &arguments.certificate,
        key: &arguments.key,
        tls12: arguments.tls12,
        resumed: arguments.resumed,
    })?;
    for line in std::io::stdin().lines() {
        for _ in 0..line?.trim().parse::<u64>()? {
            contexts.connect()?;
        }
        println!("done");
    }
    Ok(ExitCode::SUCCESS)
}

/// The process, as seen by who started it. It ends with its input.
pub(super) struct Pair {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Pair {
    pub(super) fn start(
        setting: &Setting,
        case: Case,
        openssl: &OpenSsl,
        certificate: &Certificate,
    ) -> Result<Self, Failure> {
        let mut preload = setting.stopwatch.clone().into_os_string();
        preload.push(" libssl.so.3 libcrypto.so.3");
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("pair")
            .args([&certificate.certificate, &certificate.key])
            .args((case.version == Version::Tls12).then_some("--tls12"))
            .args(case.resumed.then_some("--resumed"))
            .args(setting.cores.server.map(|core| format!("--core={core}")))
            .env("OPENSSL_CONF", openssl.configuration())
            .envs(openssl.variables())
            .env("LD_PRELOAD", preload)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = |what| format!("the pair in memory has no {what}");
        Ok(Self {
            input: Some(child.stdin.take().ok_or_else(|| pipe("input"))?),
            output: BufReader::new(child.stdout.take().ok_or_else(|| pipe("output"))?),
            child,
        })
    }

    pub(super) fn connect(&mut self, connections: u64) -> Result<(), Failure> {
        let input = self.input.as_mut().ok_or("the pair in memory has ended")?;
        writeln!(input, "{connections}")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        match answer.as_str() {
            "done\n" => Ok(()),
            _ => Err("the pair in memory failed (its reason is above)".into()),
        }
    }

    pub(super) fn stop(mut self) -> Result<(), Failure> {
        drop(self.input.take());
        match self.child.wait()?.success() {
            true => Ok(()),
            false => Err("the pair in memory failed at its end".into()),
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // Without its input it ends; if it does not, because it hangs, it is killed.
        if self.input.take().is_some() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
