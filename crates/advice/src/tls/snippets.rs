//! The advice in the words of nginx, Apache and HAProxy.

use super::recommend::Advice;
use std::fmt;

/// A server that gets lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Server {
    /// nginx.
    Nginx,
    /// Apache httpd.
    Apache,
    /// HAProxy.
    Haproxy,
}

impl Server {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 3] = [Self::Nginx, Self::Apache, Self::Haproxy];

    /// Where the lines go.
    pub fn place(self) -> &'static str {
        match self {
            Self::Nginx => {
                "in each server { } with TLS, or in http { } in place of its present lines (1.19.4 or later)"
            }
            Self::Apache => "/etc/apache2/conf-available/outboard.conf, then: a2enconf outboard",
            Self::Haproxy => "in the section global of /etc/haproxy/haproxy.cfg",
        }
    }

    /// The lines.
    pub fn snippet(self, advice: &Advice) -> String {
        let groups = advice.groups.join(":");
        let suites = advice.suites.join(":");
        let ciphers = advice.ciphers.join(":");
        // A client that puts ChaCha20 first has no instructions for AES: it gets its wish.
        let has_chacha20 = suites.contains("CHACHA20");
        let when = |condition: bool, line: &'static str| if condition { line } else { "" };
        match self {
            Self::Nginx => format!(
                "ssl_protocols TLSv1.2 TLSv1.3;\n\
                 ssl_ecdh_curve {groups};\n\
                 ssl_ciphers {ciphers};\n\
                 ssl_conf_command Ciphersuites {suites};\n\
                 ssl_prefer_server_ciphers on;\n{}",
                when(has_chacha20, "ssl_conf_command Options PrioritizeChaCha;\n")
            ),
            Self::Apache => format!(
                "SSLProtocol -all +TLSv1.2 +TLSv1.3\n\
                 SSLOpenSSLConfCmd Groups {groups}\n\
                 SSLCipherSuite {ciphers}\n\
                 SSLCipherSuite TLSv1.3 {suites}\n\
                 SSLHonorCipherOrder on\n{}",
                when(has_chacha20, "SSLOpenSSLConfCmd Options PrioritizeChaCha\n")
            ),
            // HAProxy prefers its own order, and ChaCha20 where the client does, by itself.
            Self::Haproxy => format!(
                "ssl-default-bind-options ssl-min-ver TLSv1.2\n\
                 ssl-default-bind-curves {groups}\n\
                 ssl-default-bind-ciphers {ciphers}\n\
                 ssl-default-bind-ciphersuites {suites}\n"
            ),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Nginx => "nginx",
            Self::Apache => "Apache",
            Self::Haproxy => "HAProxy",
        })
    }
}
