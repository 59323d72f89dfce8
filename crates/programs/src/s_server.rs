//! `openssl s_server`: one connection at a time, its status page as the answer.

use crate::server::{Server, Site};
use crate::{Certificate, Error, Launch, OpenSsl, Workplace};

/// How an `openssl s_server` is to run.
#[derive(Clone, Copy, Debug)]
pub struct SServerOptions<'a> {
    /// What its libcrypto reads.
    pub openssl: &'a OpenSsl,
    /// What it shows to clients.
    pub certificate: &'a Certificate,
    /// Whether operations run in OpenSSL's ASYNC jobs (`-async`).
    pub asynchronous: bool,
    /// More arguments.
    pub settings: &'a [&'a str],
}

impl SServerOptions<'_> {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// If `openssl` is missing or does not come up.
    pub fn start(&self, workplace: &Workplace) -> Result<Server, Error> {
        self.start_with(workplace, self.openssl.command()?)
    }

    /// The same with another `openssl` than the system's.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn start_with(&self, workplace: &Workplace, program: Launch) -> Result<Server, Error> {
        let site = Site::new(workplace, "s_server")?;
        let mut launch = program
            .with(self.openssl)
            .args(["s_server", "-quiet", "-www", "-accept"])
            .arg(format!("127.0.0.1:{}", site.port))
            .arg("-cert")
            .arg(&self.certificate.certificate)
            .arg("-key")
            .arg(&self.certificate.key)
            .args(self.settings);
        if self.asynchronous {
            launch = launch.arg("-async");
        }
        site.serve(launch, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let certificate = Certificate::generate(&workplace, &stock, "rsa", "rsa:2048").unwrap();
        let options = SServerOptions {
            openssl: &stock,
            certificate: &certificate,
            asynchronous: true,
            settings: &[],
        };
        let server = options.start(&workplace).unwrap();
        let page = certificate.fetch(&stock, &server.url("")).unwrap();
        assert!(page.contains("New, TLSv1.3"), "{page}");
    }
}
