//! A real Apache httpd of one's own: event or prefork MPM, mod_ssl.

use std::path::Path;

use crate::server::{Server, Site};
use crate::sshd::is_root;
use crate::{Certificate, Error, Launch, OpenSsl, Workplace};

/// How an Apache is to run.
#[derive(Clone, Copy, Debug)]
pub struct ApacheOptions<'a> {
    /// What its libcrypto reads.
    pub openssl: &'a OpenSsl,
    /// What it shows to clients; several (of different key types) can be served at once.
    pub certificates: &'a [&'a Certificate],
    /// The directory whose files it serves; otherwise `/` is `ok`.
    pub files: Option<&'a Path>,
    /// What serves.
    pub workers: ApacheWorkers,
    /// Whether connections may be resumed; otherwise each is a full handshake.
    pub resumption: bool,
    /// The core that its processes are held to.
    pub core: Option<usize>,
    /// Lines for the end of the configuration.
    pub settings: &'a str,
}

/// What serves the connections of an Apache, and how many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApacheWorkers {
    /// Threads of one process (event MPM).
    Threads(u32),
    /// Processes with one connection at a time each (prefork MPM).
    Processes(u32),
}

impl ApacheOptions<'_> {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// If Apache is missing or does not come up.
    pub fn start(&self, workplace: &Workplace) -> Result<Server, Error> {
        let site = Site::new(workplace, "apache")?;
        let pages = site.directory.join("pages");
        std::fs::create_dir(&pages).map_err(Error::file("make", &pages))?;
        workplace.write(&site.file("pages/index.html"), "ok\n")?;
        let text = self.configuration(&site, self.files.unwrap_or(&pages));
        let configuration = workplace.write(&site.file("apache.conf"), text)?;
        let launch = Launch::new("apache2")?
            .arg("-DFOREGROUND")
            .arg("-f")
            .arg(&configuration)
            .with(self.openssl)
            .on(self.core);
        site.serve(launch, Some(libc::SIGUSR1))
    }

    fn configuration(&self, site: &Site, files: &Path) -> String {
        let directory = site.directory.display();
        let files = files.display();
        let port = site.port;
        let (mpm, workers) = self.workers.configuration();
        let modules: String = std::iter::once(&mpm)
            .chain(&MODULES)
            .map(|name| format!("LoadModule {name}_module {MODULES_DIRECTORY}/mod_{name}.so\n"))
            .collect();
        let user = if is_root() {
            "User www-data\nGroup www-data\n"
        } else {
            ""
        };
        let certificates: String = self
            .certificates
            .iter()
            .map(|certificate| {
                format!(
                    "SSLCertificateFile {}\nSSLCertificateKeyFile {}\n",
                    certificate.certificate.display(),
                    certificate.key.display()
                )
            })
            .collect();
        let resumption = if self.resumption {
            format!("SSLSessionCache shmcb:{directory}/sessions(1048576)\n")
        } else {
            "SSLSessionCache none\nSSLSessionTickets off\n".to_owned()
        };
        format!(
            "ServerName localhost\nServerRoot {directory}\nDefaultRuntimeDir {directory}\n\
             PidFile {directory}/apache.pid\nMutex file:{directory}\n\
             ErrorLog {directory}/log\nLogLevel warn\n\
             Listen 127.0.0.1:{port}\n\
             {modules}{user}\
             {workers}\
             SSLEngine on\n{resumption}{certificates}\
             DocumentRoot {files}\nDirectoryIndex index.html\n\
             {settings}\n",
            settings = self.settings,
        )
    }
}

impl ApacheWorkers {
    /// The module, and the lines of the configuration.
    fn configuration(self) -> (&'static str, String) {
        match self {
            Self::Threads(threads) => (
                "mpm_event",
                format!(
                    "# Two more processes than serve, so that a graceful restart has room.\n\
                     StartServers 1\nServerLimit 3\nThreadLimit {threads}\nThreadsPerChild {threads}\n\
                     MaxRequestWorkers {threads}\nMinSpareThreads 1\nMaxSpareThreads {threads}\n"
                ),
            ),
            // As many as there ever are, so that none starts or ends while connections come and go.
            Self::Processes(processes) => (
                "mpm_prefork",
                format!(
                    "StartServers {processes}\nServerLimit {processes}\nMaxRequestWorkers {processes}\n\
                     MinSpareServers {processes}\nMaxSpareServers {processes}\n"
                ),
            ),
        }
    }
}

/// Lines of [`ApacheOptions::settings`] with which an Apache is the front of a server that answers on 127.0.0.1:`port` without TLS.
/// Idle connections of clients stay for a minute.
pub fn front_of(port: u16) -> String {
    format!(
        "LoadModule proxy_module {MODULES_DIRECTORY}/mod_proxy.so\n\
         LoadModule proxy_http_module {MODULES_DIRECTORY}/mod_proxy_http.so\n\
         ProxyPass / http://127.0.0.1:{port}/\n\
         KeepAliveTimeout 60\nMaxKeepAliveRequests 0\n"
    )
}

const MODULES_DIRECTORY: &str = "/usr/lib/apache2/modules";
const MODULES: [&str; 4] = ["authz_core", "dir", "socache_shmcb", "ssl"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_reloads() {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let certificate = Certificate::generate(&workplace, &stock, "rsa", "rsa:2048").unwrap();
        for workers in [ApacheWorkers::Threads(8), ApacheWorkers::Processes(8)] {
            let options = ApacheOptions {
                openssl: &stock,
                certificates: &[&certificate],
                files: None,
                workers,
                resumption: false,
                core: None,
                settings: "",
            };
            let mut apache = options.start(&workplace).unwrap();
            assert_eq!(certificate.fetch(&stock, &apache.url("")).unwrap(), "ok\n");
            apache.reload().unwrap();
            assert_eq!(certificate.fetch(&stock, &apache.url("")).unwrap(), "ok\n");
            assert!(!apache.cpu().is_zero());
            apache.stop().unwrap();
        }
    }
}
