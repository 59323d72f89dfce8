//! Three web servers behind one interface.

use std::path::Path;
use std::time::Duration;

use outboard_programs::{
    ApacheOptions, ApacheWorkers, Certificate, HaProxyMode, HaProxyOptions, Nginx, NginxOptions,
    OpenSsl, Server, Workplace,
};

use super::storm::FILE;
use crate::Failure;

/// The program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Make {
    /// Workers, each of which does one thing at a time.
    Nginx,
    /// One thread; with OpenSSL's ASYNC jobs it goes on with others while an operation runs.
    HaProxy,
    /// 64 threads in one process, each with one connection at a time.
    Apache,
    /// Apache with processes, each with one connection at a time.
    ApachePrefork,
}

/// How a server is to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrontOptions<'a> {
    pub(crate) openssl: &'a OpenSsl,
    pub(crate) certificate: &'a Certificate,
    /// The directory that it serves; HAProxy serves only [`FILE`] in it.
    pub(crate) files: &'a Path,
    pub(crate) resumption: bool,
    /// The certificate that every client must show.
    pub(crate) clients: Option<&'a Certificate>,
    /// HAProxy's `ssl-mode-async`; the others have nothing like it.
    pub(crate) asynchronous: bool,
    /// Processes of nginx and of [`Make::ApachePrefork`].
    pub(crate) workers: usize,
    pub(crate) core: Option<usize>,
}

/// A running server.
#[derive(Debug)]
pub(crate) enum Front {
    Nginx(Nginx),
    Other(Server),
}

impl Make {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::HaProxy => "HAProxy",
            Self::Apache => "Apache",
            Self::ApachePrefork => "Apache, prefork",
        }
    }

    /// Starts one and waits until it answers.
    pub(crate) fn start(
        self,
        workplace: &Workplace,
        options: FrontOptions<'_>,
    ) -> Result<Front, Failure> {
        let FrontOptions {
            openssl,
            resumption,
            core,
            ..
        } = options;
        let certificates = &[options.certificate];
        let clients = options
            .clients
            .map(|clients| clients.certificate.display().to_string());
        let clients = clients.as_deref();
        Ok(match self {
            Self::Nginx => {
                let mut settings = String::new();
                if resumption {
                    settings += "ssl_session_tickets on; ssl_session_cache shared:bench:8m;\n";
                }
                if let Some(clients) = clients {
                    settings += "ssl_verify_client on;\n";
                    settings += &format!("ssl_client_certificate {clients};\n");
                }
                Front::Nginx(Nginx::start_workers(
                    workplace,
                    NginxOptions {
                        openssl,
                        certificates,
                        files: Some(options.files),
                        core,
                        settings: &settings,
                    },
                    options.workers,
                )?)
            }
            Self::HaProxy => {
                let bind = clients.map(|clients| format!("ca-file {clients} verify required"));
                let options = HaProxyOptions {
                    openssl,
                    certificates,
                    mode: HaProxyMode::File(&options.files.join(FILE)),
                    asynchronous: options.asynchronous,
                    threads: 1,
                    resumption,
                    core,
                    settings: "",
                    bind: bind.as_deref().unwrap_or_default(),
                };
                Front::Other(options.start(workplace)?)
            }
            Self::Apache | Self::ApachePrefork => {
                let settings = clients.map(|clients| {
                    format!("SSLVerifyClient require\nSSLCACertificateFile {clients}\n")
                });
                let options = ApacheOptions {
                    openssl,
                    certificates,
                    files: Some(options.files),
                    workers: match self {
                        Self::ApachePrefork => {
                            ApacheWorkers::Processes(u32::try_from(options.workers)?)
                        }
                        _ => ApacheWorkers::Threads(64),
                    },
                    resumption,
                    core,
                    settings: settings.as_deref().unwrap_or_default(),
                };
                Front::Other(options.start(workplace)?)
            }
        })
    }
}

impl Front {
    /// Where it answers TLS.
    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Nginx(nginx) => nginx.port,
            Self::Other(server) => server.port,
        }
    }

    /// `https://localhost:PORT/PATH`.
    pub(crate) fn url(&self, path: &str) -> String {
        match self {
            Self::Nginx(nginx) => nginx.url(path),
            Self::Other(server) => server.url(path),
        }
    }

    /// The CPU time so far of the serving processes.
    pub(crate) fn cpu(&self) -> Duration {
        match self {
            Self::Nginx(nginx) => nginx.cpu(),
            Self::Other(server) => server.cpu(),
        }
    }

    /// Stops it.
    pub(crate) fn stop(self) -> Result<(), Failure> {
        match self {
            Self::Nginx(nginx) => nginx.stop()?,
            Self::Other(server) => server.stop()?,
        };
        Ok(())
    }
}
