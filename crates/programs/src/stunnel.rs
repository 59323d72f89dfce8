//! A real stunnel of one's own: TLS before a service that speaks plainly.

use crate::server::{Server, Site};
use crate::{Certificate, Error, Launch, OpenSsl, Workplace};

/// How a stunnel is to run.
#[derive(Clone, Copy, Debug)]
pub struct StunnelOptions<'a> {
    /// What its libcrypto reads.
    pub openssl: &'a OpenSsl,
    /// What it shows to clients.
    pub certificate: &'a Certificate,
    /// The port on 127.0.0.1 of the service behind it.
    pub connect: u16,
    /// Whether connections may be resumed; otherwise each is a full handshake.
    pub resumption: bool,
    /// The core that all its threads are held to.
    pub core: Option<usize>,
    /// Lines for the end of the service's section.
    pub settings: &'a str,
}

impl StunnelOptions<'_> {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// If stunnel is missing or does not come up.
    pub fn start(&self, workplace: &Workplace) -> Result<Server, Error> {
        let site = Site::new(workplace, "stunnel")?;
        let resumption = if self.resumption {
            ""
        } else {
            "options = NO_TICKET\nsessionResume = no\n"
        };
        let text = format!(
            "foreground = yes\npid =\nsyslog = no\ndebug = warning\n\
             [service]\naccept = 127.0.0.1:{port}\nconnect = 127.0.0.1:{connect}\n\
             cert = {certificate}\nkey = {key}\n{resumption}{settings}\n",
            port = site.port,
            connect = self.connect,
            certificate = self.certificate.certificate.display(),
            key = self.certificate.key.display(),
            settings = self.settings,
        );
        let configuration = workplace.write(&site.file("stunnel.conf"), text)?;
        let launch = Launch::new("stunnel")?
            .arg(&configuration)
            .with(self.openssl)
            .on(self.core);
        site.serve(launch, None)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn passes_on_what_comes_through_tls() {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let certificate = Certificate::generate(&workplace, &stock, "rsa", "rsa:2048").unwrap();
        let behind = TcpListener::bind("127.0.0.1:0").unwrap();
        let options = StunnelOptions {
            openssl: &stock,
            certificate: &certificate,
            connect: behind.local_addr().unwrap().port(),
            resumption: false,
            core: None,
            settings: "",
        };
        let stunnel = options.start(&workplace).unwrap();
        std::thread::spawn(move || {
            for connection in behind.incoming() {
                let mut connection = connection.unwrap();
                // Who only asks whether the port answers says nothing.
                if connection.read(&mut [0; 1000]).is_ok_and(|read| read > 0) {
                    connection
                        .write_all(b"HTTP/1.0 200 OK\r\n\r\nplain\n")
                        .unwrap();
                }
            }
        });
        assert_eq!(
            certificate.fetch(&stock, &stunnel.url("")).unwrap(),
            "plain\n"
        );
        assert!(!stunnel.cpu().is_zero());
        stunnel.stop().unwrap();
    }
}
