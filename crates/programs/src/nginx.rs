//! A real nginx of one's own: own directory, own port, own certificate.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::sshd::is_root;
use crate::workplace::free_port;
use crate::{
    Error, Finished, Launch, OpenSsl, PATIENCE, Process, Workplace, cpu_time_of, descendants,
};

/// A certificate for `localhost` that signed itself, and its key.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// PEM file of the certificate.
    pub certificate: PathBuf,
    /// PEM file of the private key.
    pub key: PathBuf,
}

impl Certificate {
    /// Makes one with `openssl req -newkey ARGUMENTS`: `rsa:2048`, or
    /// `ec -pkeyopt ec_paramgen_curve:P-384`.
    ///
    /// # Errors
    /// If `openssl` is missing or refuses.
    pub fn generate(
        workplace: &Workplace,
        openssl: &OpenSsl,
        name: &str,
        new_key: &str,
    ) -> Result<Self, Error> {
        let made = Self {
            certificate: workplace.join(format!("{name}.crt")),
            key: workplace.join(format!("{name}.key")),
        };
        openssl
            .command()?
            .args("req -x509 -nodes -days 7 -subj /CN=localhost".split(' '))
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
            .arg("-newkey")
            .args(new_key.split(' '))
            .arg("-keyout")
            .arg(&made.key)
            .arg("-out")
            .arg(&made.certificate)
            .succeed()?;
        Ok(made)
    }

    /// What `curl` gets from `url`, whose server has to show this certificate.
    ///
    /// # Errors
    /// If `curl` is missing or fails.
    pub fn fetch(&self, openssl: &OpenSsl, url: &str) -> Result<String, Error> {
        let curl = Launch::new("curl")?
            .args(["-sSf", "--cacert"])
            .arg(&self.certificate)
            .arg(url)
            .with(openssl)
            .succeed()?;
        Ok(curl.output)
    }
}

/// How an nginx is to run.
#[derive(Clone, Copy, Debug)]
pub struct NginxOptions<'a> {
    /// What its libcrypto reads.
    pub openssl: &'a OpenSsl,
    /// What it shows to clients; several (of different key types) can be served at once.
    pub certificates: &'a [&'a Certificate],
    /// The directory whose files it serves; otherwise every answer is `ok`.
    pub files: Option<&'a Path>,
    /// The core that its worker is held to.
    pub core: Option<usize>,
    /// Lines for the end of the TLS server's block.
    pub settings: &'a str,
}

/// An nginx with one worker that serves TLS, without resumption: every connection is a full
/// handshake.
#[derive(Debug)]
pub struct Nginx {
    process: Process,
    log: PathBuf,
    /// Where it answers TLS.
    pub port: u16,
    status_port: u16,
}

impl Nginx {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// If nginx is missing or does not come up.
    pub fn start(workplace: &Workplace, options: NginxOptions<'_>) -> Result<Self, Error> {
        Self::start_workers(workplace, options, 1)
    }

    /// The same, with so many workers.
    ///
    /// # Errors
    /// If nginx is missing or does not come up.
    pub fn start_workers(
        workplace: &Workplace,
        options: NginxOptions<'_>,
        workers: usize,
    ) -> Result<Self, Error> {
        let (port, status_port) = (free_port()?, free_port()?);
        let directory = workplace.join(format!("nginx.{port}"));
        std::fs::create_dir(&directory).map_err(Error::file("make", &directory))?;
        let log = directory.join("error.log");
        let configuration = workplace.write(
            &format!("nginx.{port}/nginx.conf"),
            nginx_conf(&directory, port, status_port, options, workers),
        )?;
        let mut process = Launch::new("nginx")?
            .arg("-p")
            .arg(&directory)
            // Said here as well: before it reads its configuration it would write to the system's.
            .arg("-e")
            .arg(&log)
            .arg("-c")
            .arg(&configuration)
            .with(options.openssl)
            .on(options.core)
            .start(&log)?;
        process.wait_for_port(port)?;
        process.wait_for_port(status_port)?;
        Ok(Self {
            process,
            log,
            port,
            status_port,
        })
    }

    /// `https://localhost:PORT/PATH`.
    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}/{path}", self.port)
    }

    /// The worker's CPU time so far.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if there is no worker.
    pub fn worker_cpu(&self) -> Result<Duration, Error> {
        self.workers()
            .last()
            .and_then(|&worker| cpu_time_of(worker))
            .ok_or_else(|| self.unexpected("a running worker", String::new()))
    }

    /// The CPU time so far of all workers.
    pub fn cpu(&self) -> Duration {
        self.workers().into_iter().filter_map(cpu_time_of).sum()
    }

    /// The workers' processes; two for a moment after a reload.
    pub fn workers(&self) -> Vec<u32> {
        descendants(self.process.id())
    }

    /// How many connections it has accepted so far (`stub_status`), this one not counted.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if it does not say so.
    pub fn accepted(&self) -> Result<u64, Error> {
        let page = self.status_page().unwrap_or_default();
        page.lines()
            .skip_while(|line| !line.starts_with("server accepts"))
            .nth(1)
            .and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
            .map(|accepted| accepted.saturating_sub(1))
            .ok_or_else(|| self.unexpected("the number of accepted connections", page))
    }

    /// Makes it read its configuration anew, and waits until the old worker is gone.
    ///
    /// # Errors
    /// [`Error::TimedOut`] after [`PATIENCE`](crate::PATIENCE).
    pub fn reload(&mut self) -> Result<(), Error> {
        let before = self.workers();
        let limit = PATIENCE;
        let start = Instant::now();
        self.process.signal(libc::SIGHUP);
        while self.workers().is_empty()
            || self.workers().iter().any(|worker| before.contains(worker))
        {
            if start.elapsed() > limit {
                return Err(Error::TimedOut {
                    program: "nginx".into(),
                    doing: "to reload",
                    limit,
                    errors: crate::process::read_lossy(&self.log),
                });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
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

    fn status_page(&self) -> std::io::Result<String> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.status_port))?;
        connection.set_read_timeout(Some(Duration::from_secs(5)))?;
        connection.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
        let mut page = String::new();
        connection.read_to_string(&mut page)?;
        Ok(page)
    }

    fn unexpected(&self, reason: &str, output: String) -> Error {
        Error::Unexpected {
            program: "nginx".into(),
            reason: format!("{reason} was expected"),
            output,
        }
    }
}

fn nginx_conf(
    directory: &Path,
    port: u16,
    status_port: u16,
    options: NginxOptions<'_>,
    workers: usize,
) -> String {
    let directory = directory.display();
    let user = if is_root() { "user www-data;\n" } else { "" };
    let mut certificates = String::new();
    for certificate in options.certificates {
        let (file, key) = (certificate.certificate.display(), certificate.key.display());
        // Writing to a String cannot fail.
        let _ = writeln!(
            certificates,
            "ssl_certificate {file}; ssl_certificate_key {key};"
        );
    }
    let location = match options.files {
        Some(files) => format!("root {};", files.display()),
        None => "return 200 \"ok\\n\";".into(),
    };
    let settings = options.settings;
    format!(
        "daemon off;\n{user}worker_processes {workers};\n\
         pid {directory}/nginx.pid;\nerror_log {directory}/error.log notice;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n\
         access_log off;\n\
         client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;\n\
         fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi;\n\
         scgi_temp_path {directory}/scgi;\n\
         # Both off: no connection is resumed, each is a full handshake. The server's own settings\n\
         # come after these, and may say otherwise.\n\
         ssl_session_tickets off; ssl_session_cache off;\n\
         server {{ listen 127.0.0.1:{status_port}; location / {{ stub_status; }} }}\n\
         server {{\n\
         listen 127.0.0.1:{port} ssl;\n\
         {certificates}\
         ssl_protocols TLSv1.2 TLSv1.3;\n\
         location / {{ {location} }}\n\
         {settings}\n}}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_counts_and_reloads() {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let new_key = "ec -pkeyopt ec_paramgen_curve:P-256";
        let certificate = Certificate::generate(&workplace, &stock, "p256", new_key).unwrap();
        let options = NginxOptions {
            openssl: &stock,
            certificates: &[&certificate],
            files: None,
            core: None,
            settings: "",
        };
        let mut nginx = Nginx::start(&workplace, options).unwrap();
        let before = nginx.accepted().unwrap();
        let answer = Launch::new("curl")
            .unwrap()
            .args(["-sS", "--cacert"])
            .arg(&certificate.certificate)
            .arg(nginx.url(""))
            .succeed()
            .unwrap();
        assert_eq!(answer.output, "ok\n");
        // curl's connection, and the one that asked before.
        assert_eq!(nginx.accepted().unwrap() - before, 2);
        assert!(!nginx.worker_cpu().unwrap().is_zero());
        nginx.reload().unwrap();
        assert!(nginx.stop().unwrap().status.success());
    }
}
