//! A real card service of one's own: its own directory, its own store.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::tree::processes_told;
use crate::{Certificate, Error, Finished, Launch, PATIENCE, Process, Workplace, cpu_time_of};

/// The socket of its front.
const AGENT: &str = "agent.sock";

/// A card service, `outboardd`, with its front for ssh clients.
#[derive(Debug)]
pub struct CardService {
    process: Process,
    front: Process,
    command: PathBuf,
    directory: PathBuf,
    ledger: PathBuf,
}

impl CardService {
    /// Starts one and waits until it answers: the program `daemon`, steered by the command `outboard`. The threads of both
    /// processes are held to that core.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn start(
        workplace: &Workplace,
        daemon: &Path,
        command: &Path,
        core: Option<usize>,
    ) -> Result<Self, Error> {
        let directory = workplace.join("card-service");
        std::fs::create_dir_all(&directory).map_err(Error::file("make", &directory))?;
        let ledger = directory.join("ledger");
        // Another one's, in the same workplace.
        let _ = std::fs::remove_file(&ledger);
        let process = Launch::at(daemon)
            .arg("--directory")
            .arg(&directory)
            .arg("--ledger")
            .arg(&ledger)
            .on(core)
            .start(&directory.join("log"))?;
        let mut front = Launch::at(daemon)
            .args(["--agent", "--directory"])
            .arg(&directory)
            .on(core)
            .start(&directory.join("front-log"))?;
        let agent = directory.join(AGENT);
        front.wait_until("to answer", || UnixStream::connect(&agent).is_ok())?;
        let service = Self {
            process,
            front,
            command: command.to_owned(),
            directory,
            ledger,
        };
        let since = Instant::now();
        while let Err(error) = service.command(&["service", "status"]) {
            if since.elapsed() > PATIENCE {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(service)
    }

    /// The setting `service` of programs that are to use its keys.
    pub fn setting(&self) -> String {
        format!("service = {}\n", self.directory.display())
    }

    /// Where its sockets are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Takes a certificate's key over, and lets those users use it. The certificate comes back with a reference in the
    /// key's place.
    ///
    /// # Errors
    /// If the service refuses.
    pub fn adopt(
        &self,
        certificate: &Certificate,
        name: &str,
        users: &[&str],
    ) -> Result<Certificate, Error> {
        let reference = certificate.key.with_extension("reference");
        let copied = std::fs::copy(&certificate.key, &reference);
        copied.map_err(Error::file("write", &reference))?;
        self.adopt_file(&reference, name, users)?;
        Ok(Certificate {
            certificate: certificate.certificate.clone(),
            key: reference,
        })
    }

    /// Takes the key in a file over, and lets those users use it. The file then has a reference; where its public half lies
    /// beside it, as sshd has it, it is gone.
    ///
    /// # Errors
    /// If the service refuses.
    pub fn adopt_file(&self, file: &Path, name: &str, users: &[&str]) -> Result<(), Error> {
        let file = file.display().to_string();
        let mut words = vec!["keys", "adopt", &file, "--name", name, "--destroy"];
        for user in users {
            words.extend(["--user", user]);
        }
        self.command(&words)?;
        Ok(())
    }

    /// Gives a key its certificate: programs that reach it through PKCS #11 find the certificate beside it.
    ///
    /// # Errors
    /// If the service refuses.
    pub fn certify(&self, name: &str, certificate: &Certificate) -> Result<(), Error> {
        let file = &certificate.certificate;
        let chain = File::open(file).map_err(Error::file("read", file))?;
        let certify = self.asking(&["keys", "certify", name]).input(chain);
        certify.succeed()?;
        Ok(())
    }

    /// Where it counts.
    pub fn ledger(&self) -> &Path {
        &self.ledger
    }

    /// The socket that ssh and sshd ask as their agent.
    pub fn agent(&self) -> PathBuf {
        self.directory.join(AGENT)
    }

    /// Its CPU time so far: that of every process that was told its directory.
    pub fn cpu(&self) -> Duration {
        let processes = processes_told(&self.directory);
        processes.into_iter().filter_map(cpu_time_of).sum()
    }

    /// Stops it. Its keys are gone; what it counted stays.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub fn stop(self) -> Result<Finished, Error> {
        self.front.stop()?;
        let finished = self.process.stop()?;
        let store = self.directory.join("store");
        std::fs::remove_dir_all(&store).map_err(Error::file("remove", &store))?;
        Ok(finished)
    }

    /// Runs the command `outboard` with those words, for this service.
    ///
    /// # Errors
    /// If it fails.
    pub fn command(&self, words: &[&str]) -> Result<Finished, Error> {
        self.asking(words).succeed()
    }

    /// The command `outboard`, told where the service is.
    fn asking(&self, words: &[&str]) -> Launch {
        let command = Launch::at(&self.command).args(words);
        command.arg("--directory").arg(&self.directory)
    }
}
