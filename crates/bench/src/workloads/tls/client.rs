//! A TLS client that is a load generator: many connections at once, full or resumed, with or without
//! a certificate of its own.
//!
//! Debian has no program that does all of it: `h2load` and `wrk` neither resume nor authenticate,
//! `ab` does not resume, and `openssl s_time` holds one connection at a time and counts in seconds.
//! So it is made of rustls, which costs less CPU than most servers do, and which the system's
//! libcrypto and its configuration cannot touch: only the server differs between two contenders.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, SupportedKxGroup, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, HandshakeKind,
    SignatureScheme, StreamOwned,
};

use outboard_programs::Certificate;

use crate::Failure;

/// How long a server may keep silent.
const PATIENCE: Duration = Duration::from_secs(20);

/// Version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// TLS 1.2, key exchange by ECDHE.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

/// What encrypts the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cipher {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

/// How a client connects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientOptions<'a> {
    /// What the server must show.
    pub(crate) server: &'a Certificate,
    pub(crate) version: Version,
    pub(crate) cipher: Cipher,
    /// What it shows to the server if it is asked.
    pub(crate) identity: Option<&'a Certificate>,
    /// Whether it resumes the session before.
    pub(crate) resume: bool,
}

/// A client; its connections, one after another, share the sessions that they resume.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    configuration: Arc<ClientConfig>,
}

/// A connection whose handshake is complete.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: StreamOwned<ClientConnection, TcpStream>,
}

impl Client {
    /// Reads the certificates and makes ready.
    ///
    /// # Errors
    /// If a certificate cannot be read.
    pub(crate) fn new(options: &ClientOptions<'_>) -> Result<Self, Failure> {
        Self::with_groups(options, ring::ALL_KX_GROUPS.to_vec())
    }

    /// The same with these key exchanges, the share of the first of which it sends.
    ///
    /// # Errors
    /// If a certificate cannot be read.
    pub(crate) fn with_groups(
        options: &ClientOptions<'_>,
        groups: Vec<&'static dyn SupportedKxGroup>,
    ) -> Result<Self, Failure> {
        let provider = Arc::new(CryptoProvider {
            kx_groups: groups,
            cipher_suites: options.cipher.suites(options.version),
            ..ring::default_provider()
        });
        let version = match options.version {
            Version::Tls12 => &rustls::version::TLS12,
            Version::Tls13 => &rustls::version::TLS13,
        };
        let expected = CertificateDer::from_pem_file(&options.server.certificate)?;
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Pinned { expected, provider }));
        let mut configuration = match options.identity {
            Some(identity) => builder.with_client_auth_cert(
                vec![CertificateDer::from_pem_file(&identity.certificate)?],
                PrivateKeyDer::from_pem_file(&identity.key)?,
            )?,
            None => builder.with_no_client_auth(),
        };
        if !options.resume {
            configuration.resumption = Resumption::disabled();
        }
        Ok(Self {
            configuration: Arc::new(configuration),
        })
    }

    /// Connects to 127.0.0.1:`port` and shakes hands.
    ///
    /// # Errors
    /// If the server refuses, or keeps silent for twenty seconds.
    pub(crate) fn connect(&self, port: u16) -> io::Result<Connection> {
        let mut socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let name = ServerName::try_from("localhost").expect("a valid name");
        let mut tls = ClientConnection::new(Arc::clone(&self.configuration), name)
            .map_err(io::Error::other)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        Ok(Connection {
            stream: StreamOwned::new(tls, socket),
        })
    }
}

impl Connection {
    /// Whether the handshake resumed a session.
    pub(crate) fn resumed(&self) -> bool {
        self.stream.conn.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Sends a line.
    ///
    /// # Errors
    /// If the server has gone.
    pub(crate) fn send(&mut self, text: &[u8]) -> io::Result<()> {
        self.stream.write_all(text)?;
        self.stream.flush()
    }

    /// Receives exactly so many bytes.
    ///
    /// # Errors
    /// If the server has gone, or keeps silent for twenty seconds.
    pub(crate) fn receive(&mut self, answer: &mut [u8]) -> io::Result<()> {
        self.stream.read_exact(answer)
    }

    /// Receives what comes next; nothing if the server has closed the connection.
    ///
    /// # Errors
    /// As [`Connection::receive`].
    pub(crate) fn receive_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }

    /// Receives until the server closes the connection, with or without a farewell in TLS.
    ///
    /// # Errors
    /// As [`Connection::receive`].
    pub(crate) fn receive_all(&mut self) -> io::Result<Vec<u8>> {
        let mut answer = Vec::new();
        match self.stream.read_to_end(&mut answer) {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(error),
            _ => Ok(answer),
        }
    }
}

impl Version {
    /// As people write it, and as the results name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tls12 => "TLS 1.2",
            Self::Tls13 => "TLS 1.3",
        }
    }
}

impl Cipher {
    /// The engine's name of it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aes128Gcm => "aes-128-gcm",
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }

    fn suites(self, version: Version) -> Vec<rustls::SupportedCipherSuite> {
        use ring::cipher_suite as suite;
        match (version, self) {
            (Version::Tls13, Self::Aes128Gcm) => vec![suite::TLS13_AES_128_GCM_SHA256],
            (Version::Tls13, Self::Aes256Gcm) => vec![suite::TLS13_AES_256_GCM_SHA384],
            (Version::Tls13, Self::ChaCha20Poly1305) => {
                vec![suite::TLS13_CHACHA20_POLY1305_SHA256]
            }
            // The key of the certificate chooses between the two.
            (Version::Tls12, Self::Aes128Gcm) => vec![
                suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
                suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            ],
            (Version::Tls12, Self::Aes256Gcm) => vec![
                suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
                suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            ],
            (Version::Tls12, Self::ChaCha20Poly1305) => vec![
                suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
                suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
            ],
        }
    }
}

/// Trusts one certificate and no other; the server's signature is checked as always, so that a wrong
/// one is found.
#[derive(Debug)]
struct Pinned {
    expected: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *shown == self.expected {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::UnknownIssuer.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
