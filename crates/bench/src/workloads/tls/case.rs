//! Which handshakes are measured.

use super::Key;
use super::client::{Cipher, Version};
use super::front::Make;
use crate::suite::Options;

/// One way of shaking hands with one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) make: Make,
    pub(super) key: Key,
    pub(super) version: Version,
    pub(super) cipher: Cipher,
    /// Every connection resumes a session, except the first of each client.
    pub(super) resumed: bool,
    /// The client shows a certificate of its own (P-256), and the server checks it.
    pub(super) authentication: bool,
}

/// Whether a session is resumed, and whether the client shows a certificate.
const WAYS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

impl Case {
    /// What everything else is a variation of: a full TLS 1.3 handshake, without a client's
    /// certificate, AES-128-GCM.
    const fn new(make: Make, key: Key) -> Self {
        Self {
            make,
            key,
            version: Version::Tls13,
            cipher: Cipher::Aes128Gcm,
            resumed: false,
            authentication: false,
        }
    }

    /// Those to be measured. In full: with nginx every key, version, resumption and client's
    /// certificate with each other, and RSA-2048 with every cipher; with the other servers every
    /// key, and RSA-2048 with one thing varied at a time.
    pub(super) fn all(options: &Options) -> Vec<Self> {
        if options.all {
            return Self::every();
        }
        options.pick::<fn() -> Vec<Self>>(Self::full, Self::quick, Self::tiny)()
    }

    /// Every server with every key, version, resumption, client's certificate and cipher.
    fn every() -> Vec<Self> {
        let ciphers = [
            Cipher::Aes128Gcm,
            Cipher::Aes256Gcm,
            Cipher::ChaCha20Poly1305,
        ];
        [Make::Nginx, Make::HaProxy, Make::Apache]
            .into_iter()
            .flat_map(|make| Key::ALL.map(|key| Self::new(make, key)))
            .flat_map(|base| ciphers.map(|cipher| Self { cipher, ..base }))
            .flat_map(Self::ways)
            .collect()
    }

    fn full() -> Vec<Self> {
        let nginx = Key::ALL.map(|key| Self::new(Make::Nginx, key));
        let mut cases: Vec<Self> = nginx.into_iter().flat_map(Self::ways).collect();
        for cipher in [Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305] {
            cases.push(Self {
                cipher,
                ..Self::new(Make::Nginx, Key::RSA_2048)
            });
        }
        for make in [Make::HaProxy, Make::Apache] {
            cases.extend(Key::ALL.map(|key| Self::new(make, key)));
            cases.extend(Self::variations(Self::new(make, Key::RSA_2048)));
        }
        cases
    }

    fn quick() -> Vec<Self> {
        let nginx = |key| Self::new(Make::Nginx, key);
        let mut cases = vec![
            nginx(Key::RSA_2048),
            nginx(Key::RSA_4096),
            nginx(Key::P256),
            nginx(Key::P384),
        ];
        cases.extend(Self::variations(nginx(Key::RSA_2048)));
        cases.extend([Make::HaProxy, Make::Apache].map(|make| Self::new(make, Key::RSA_2048)));
        cases
    }

    fn tiny() -> Vec<Self> {
        vec![
            Self {
                resumed: true,
                version: Version::Tls12,
                ..Self::new(Make::Nginx, Key::P256)
            },
            Self {
                authentication: true,
                ..Self::new(Make::HaProxy, Key::P384)
            },
            // Proved though nothing of it is Outboard's.
            Self {
                resumed: true,
                version: Version::Tls12,
                cipher: Cipher::ChaCha20Poly1305,
                authentication: true,
                ..Self::new(Make::Apache, Key::P256)
            },
        ]
    }

    /// Every version, resumption and client's certificate with each other.
    fn ways(base: Self) -> impl Iterator<Item = Self> {
        let versions = [Version::Tls13, Version::Tls12].into_iter();
        versions.flat_map(move |version| {
            WAYS.map(|(resumed, authentication)| Self {
                version,
                resumed,
                authentication,
                ..base
            })
        })
    }

    /// One thing varied at a time.
    fn variations(base: Self) -> [Self; 3] {
        [
            Self {
                version: Version::Tls12,
                ..base
            },
            Self {
                resumed: true,
                ..base
            },
            Self {
                authentication: true,
                ..base
            },
        ]
    }

    /// For people: "nginx, RSA-2048, TLS 1.3, resumed".
    pub(super) fn name(&self) -> String {
        let mut name = format!(
            "{}, {}, {}, {}",
            self.make.name(),
            self.key.name,
            self.version.name(),
            self.cipher.name()
        );
        if self.resumed {
            name += ", resumed";
        }
        if self.authentication {
            name += ", client certificate";
        }
        name
    }

    /// The names of [`Case::labels`], in order; the last three as the published tables name them.
    pub(super) const COLUMNS: [&'static str; 6] = [
        "server",
        "key",
        "protocol",
        "cipher",
        "sid_cached_percent",
        "client_authentication",
    ];

    /// The labels that distinguish its rows.
    pub(super) fn labels(&self) -> [(&'static str, &'static str); 6] {
        let values = [
            self.make.name(),
            self.key.name,
            self.version.name(),
            self.cipher.name(),
            if self.resumed { "100" } else { "0" },
            if self.authentication { "yes" } else { "no" },
        ];
        std::array::from_fn(|column| (Self::COLUMNS[column], values[column]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Extent;

    #[test]
    fn no_case_twice() {
        let of = |extent, all| {
            Case::all(&Options {
                extent,
                all,
                only: Vec::new(),
                peers: Vec::new(),
            })
        };
        let every = of(Extent::Full, true);
        assert_eq!(every.len(), 3 * 5 * 3 * 2 * 4);
        for cases in [
            of(Extent::Full, false),
            of(Extent::Quick, false),
            every.clone(),
        ] {
            assert!(cases.iter().all(|case| every.contains(case)));
            for (index, case) in cases.iter().enumerate() {
                assert!(!cases[..index].contains(case), "{}", case.name());
            }
        }
    }
}
