//! A real HAProxy of one's own, with or without OpenSSL's asynchronous mode.

use std::path::Path;

use crate::server::{Server, Site};
use crate::{Certificate, Error, Launch, OpenSsl, Workplace};

/// How an HAProxy is to run.
#[derive(Clone, Copy, Debug)]
pub struct HaProxyOptions<'a> {
    /// What its libcrypto reads.
    pub openssl: &'a OpenSsl,
    /// What it shows to clients; several (of different key types) can be served at once.
    pub certificates: &'a [&'a Certificate],
    /// What it does behind TLS.
    pub mode: HaProxyMode<'a>,
    /// Whether operations run in OpenSSL's ASYNC jobs (`ssl-mode-async`).
    pub asynchronous: bool,
    /// How many threads serve.
    pub threads: u32,
    /// Whether connections may be resumed; otherwise each is a full handshake.
    pub resumption: bool,
    /// The core that all its threads are held to.
    pub core: Option<usize>,
    /// Lines for the end of the section `global`.
    pub settings: &'a str,
    /// More words for the `bind` line, such as `ca-file FILE verify required`.
    pub bind: &'a str,
}

/// What a proxy does with what comes through TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaProxyMode<'a> {
    /// Answers every request with `ok`.
    Http,
    /// Answers every request with what that file holds (16 KiB at most).
    File(&'a Path),
    /// Passes bytes on to 127.0.0.1 at that port.
    Tcp(u16),
}

impl HaProxyOptions<'_> {
    /// Starts it and waits until it answers. It reloads without losing connections.
    ///
    /// # Errors
    /// If HAProxy is missing or does not come up.
    pub fn start(&self, workplace: &Workplace) -> Result<Server, Error> {
        let site = Site::new(workplace, "haproxy")?;
        let certificates = self.bundles(workplace, &site)?;
        let text = self.configuration(&site, &certificates);
        let configuration = workplace.write(&site.file("haproxy.cfg"), text)?;
        let launch = Launch::new("haproxy")?
            // A master that reloads (-W), in the foreground (-db).
            .args(["-W", "-db", "-f"])
            .arg(&configuration)
            .directory(&site.directory)
            .with(self.openssl)
            .on(self.core);
        site.serve(launch, Some(libc::SIGUSR2))
    }

    /// As [`start`](Self::start), but as the package starts it: by its unit's command line, with its own
    /// configuration (chroot, user, what it says of TLS), to which only this is added. Only root may.
    ///
    /// # Errors
    /// As `start`'s; if the package's configuration is missing, or no longer says what this is to be like.
    pub fn start_as_packaged(&self, workplace: &Workplace) -> Result<Server, Error> {
        let site = Site::new(workplace, "haproxy")?;
        let certificates = self.bundles(workplace, &site)?;
        let packaged = Path::new("/etc/haproxy/haproxy.cfg");
        let text = std::fs::read_to_string(packaged).map_err(Error::file("read", packaged))?;
        let sockets = site.directory.display().to_string();
        let text = text.replace("/run/haproxy", &sockets);
        for line in [
            "\tchroot /var/lib/haproxy\n",
            "\tuser haproxy\n",
            "\tdaemon\n",
        ] {
            if !text.contains(line) {
                return Err(Error::Unexpected {
                    program: "haproxy's package".to_owned(),
                    reason: format!("its configuration does not say '{}'", line.trim()),
                    output: text,
                });
            }
        }
        let asynchronous = if self.asynchronous {
            "ssl-mode-async"
        } else {
            ""
        };
        let resumption = if self.resumption {
            ""
        } else {
            "tune.ssl.cachesize 0"
        };
        let ours = format!(
            "\tdaemon\n\tmaxconn 6000\n\tnbthread {}\n\t{asynchronous}\n\t{resumption}\n\t{}\n",
            self.threads, self.settings,
        );
        let text = text.replace("\tdaemon\n", &ours);
        let text = format!(
            "{text}\nlisten tls\n\tbind 127.0.0.1:{}  ssl{certificates} {}\n\t\
             http-request return status 200 content-type text/plain string \"ok\\n\"\n",
            site.port, self.bind,
        );
        let configuration = workplace.write(&site.file("haproxy.cfg"), text)?;
        let launch = Launch::new("haproxy")?
            .args(["-Ws", "-f"])
            .arg(&configuration)
            .arg("-p")
            .arg(site.directory.join("haproxy.pid"))
            .arg("-S")
            .arg(site.directory.join("master.sock"))
            .with(self.openssl)
            .on(self.core);
        site.serve(launch, Some(libc::SIGUSR2))
    }

    /// The words of a `bind` line that name the certificates.
    fn bundles(&self, workplace: &Workplace, site: &Site) -> Result<String, Error> {
        let mut certificates = String::new();
        for (number, certificate) in self.certificates.iter().enumerate() {
            let bundle = bundle(certificate)?;
            let file = workplace.write_secret(&site.file(&format!("{number}.pem")), bundle)?;
            certificates += &format!(" crt {}", file.display());
        }
        Ok(certificates)
    }

    fn configuration(&self, site: &Site, certificates: &str) -> String {
        let port = site.port;
        let Self { threads, bind, .. } = *self;
        let asynchronous = if self.asynchronous {
            "ssl-mode-async\n"
        } else {
            ""
        };
        let (resumption, tickets) = if self.resumption {
            ("", "")
        } else {
            (
                "tune.ssl.cachesize 0\nssl-default-bind-options no-tls-tickets\n",
                " no-tls-tickets",
            )
        };
        let (mode, service) = match self.mode {
            HaProxyMode::Http => (
                "http",
                "http-request return status 200 content-type text/plain string \"ok\\n\"\n"
                    .to_owned(),
            ),
            HaProxyMode::File(file) => (
                "http",
                format!(
                    "http-request return status 200 content-type text/plain file {}\n",
                    file.display()
                ),
            ),
            HaProxyMode::Tcp(port) => ("tcp", format!("server behind 127.0.0.1:{port}\n")),
        };
        format!(
            "global\n\
             # A paused handshake holds one descriptor more than HAProxy reckons with: it counts engines,\n\
             # and a provider is none. So maxconn is 1.5 times what is to be served.\n\
             maxconn 6000\n\
             nbthread {threads}\n\
             {asynchronous}{resumption}\
             {settings}\n\
             defaults\n\
             mode {mode}\n\
             timeout client 60s\ntimeout server 60s\ntimeout connect 10s\n\
             listen tls\n\
             bind 127.0.0.1:{port} ssl{certificates}{tickets} {bind}\n\
             maxconn 4000\n\
             {service}",
            settings = self.settings,
        )
    }
}

/// Certificate and key in one file, as HAProxy wants them.
fn bundle(certificate: &Certificate) -> Result<Vec<u8>, Error> {
    let mut bundle = Vec::new();
    for path in [&certificate.certificate, &certificate.key] {
        bundle.extend(std::fs::read(path).map_err(Error::file("read", path))?);
    }
    Ok(bundle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_reloads() {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let certificate = Certificate::generate(&workplace, &stock, "rsa", "rsa:2048").unwrap();
        let options = HaProxyOptions {
            openssl: &stock,
            certificates: &[&certificate],
            mode: HaProxyMode::Http,
            asynchronous: true,
            threads: 1,
            resumption: false,
            core: None,
            settings: "",
            bind: "",
        };
        let mut haproxy = options.start(&workplace).unwrap();
        assert_eq!(certificate.fetch(&stock, &haproxy.url("")).unwrap(), "ok\n");
        haproxy.reload().unwrap();
        assert_eq!(certificate.fetch(&stock, &haproxy.url("")).unwrap(), "ok\n");
        assert!(!haproxy.cpu().is_zero());
        haproxy.stop().unwrap();
    }
}
