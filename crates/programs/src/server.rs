//! What the servers that are driven alike have in common: a port, a log, their processes' CPU time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::workplace::free_port;
use crate::{Error, Finished, Launch, PATIENCE, Process, Workplace, cpu_time_of, descendants};

/// A server on 127.0.0.1, killed with all its processes when dropped.
#[derive(Debug)]
pub struct Server {
    name: &'static str,
    process: Process,
    log: PathBuf,
    reload_signal: Option<i32>,
    /// Where it answers TLS.
    pub port: u16,
}

/// What a server's start is made of: a port that is free and a directory of its own.
pub(crate) struct Site {
    pub(crate) port: u16,
    pub(crate) directory: PathBuf,
    pub(crate) log: PathBuf,
    name: &'static str,
}

impl Site {
    pub(crate) fn new(workplace: &Workplace, name: &'static str) -> Result<Self, Error> {
        let port = free_port()?;
        let directory = workplace.join(format!("{name}.{port}"));
        std::fs::create_dir(&directory).map_err(Error::file("make", &directory))?;
        let log = directory.join("log");
        Ok(Self {
            port,
            directory,
            log,
            name,
        })
    }

    /// A name below the workplace for a file of the server's own.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}.{}/{name}", self.name, self.port)
    }

    /// Starts it and waits until it answers.
    pub(crate) fn serve(self, launch: Launch, reload_signal: Option<i32>) -> Result<Server, Error> {
        let mut process = launch.start(&self.log)?;
        process.wait_for_port(self.port)?;
        Ok(Server {
            name: self.name,
            process,
            log: self.log,
            reload_signal,
            port: self.port,
        })
    }
}

impl Server {
    /// `https://localhost:PORT/PATH`.
    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}/{path}", self.port)
    }

    /// The process that was started; its children are [`Server::workers`].
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.process.is_running()
    }

    /// CPU time so far of all its living processes: user and system, every thread.
    pub fn cpu(&self) -> Duration {
        std::iter::once(self.id())
            .chain(self.workers())
            .filter_map(cpu_time_of)
            .sum()
    }

    /// Its children, theirs, and so on.
    pub fn workers(&self) -> Vec<u32> {
        descendants(self.id())
    }

    /// Makes it read its configuration anew, and waits until other processes serve. The old ones end
    /// with their last connection, which is not waited for.
    ///
    /// # Errors
    /// [`Error::TimedOut`] after [`PATIENCE`](crate::PATIENCE).
    ///
    /// # Panics
    /// If it is a server that cannot: a mistake of ours.
    pub fn reload(&mut self) -> Result<(), Error> {
        let signal = self.reload_signal.expect("a server that reloads");
        let before = self.workers();
        let limit = PATIENCE;
        let start = Instant::now();
        self.process.signal(signal);
        while self.workers().iter().all(|worker| before.contains(worker)) {
            if start.elapsed() > limit || !self.is_running() {
                return Err(Error::TimedOut {
                    program: self.name.into(),
                    doing: "to reload",
                    limit,
                    errors: self.log(),
                });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.process.wait_for_port(self.port)
    }

    /// Sends a signal to the process that was started.
    pub fn signal(&mut self, signal: i32) {
        self.process.signal(signal);
    }

    /// What it wrote to its log.
    pub fn log(&self) -> String {
        crate::process::read_lossy(&self.log)
    }

    /// Stops it.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub fn stop(self) -> Result<Finished, Error> {
        self.process.stop()
    }
}
