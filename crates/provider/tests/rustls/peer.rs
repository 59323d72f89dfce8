//! A client or a server of TLS 1.3 that has one group, and tells which it used.
//!
//!     rustls-peer client GROUP ADDRESS
//!     rustls-peer server GROUP CERTIFICATE KEY      prints its port, and answers one client

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, ServerConfig, ServerConnection,
    SignatureScheme, Stream,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["client", group, address] => client(provider(group)?, address),
        ["server", group, certificate, key] => server(provider(group)?, certificate, key),
        _ => Err("usage: rustls-peer client|server GROUP ...".into()),
    }
}

fn provider(group: &str) -> Outcome<Arc<CryptoProvider>> {
    let group = match group {
        "X25519MLKEM768" => kx_group::X25519MLKEM768,
        "SecP256r1MLKEM768" => kx_group::SECP256R1MLKEM768,
        _ => return Err("rustls does not have this group".into()),
    };
    Ok(Arc::new(CryptoProvider {
        kx_groups: vec![group],
        ..default_provider()
    }))
}

fn client(provider: Arc<CryptoProvider>, address: &str) -> Outcome<()> {
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost")?;
    let mut connection = ClientConnection::new(Arc::new(config), name)?;
    let mut socket = TcpStream::connect(address)?;
    let mut stream = Stream::new(&mut connection, &mut socket);
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    let group = connection.negotiated_key_exchange_group().ok_or("no group")?;
    println!("{:?}\n{page}", group.name());
    Ok(())
}

fn server(provider: Arc<CryptoProvider>, certificate: &str, key: &str) -> Outcome<()> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    let (mut socket, _) = listener.accept()?;
    let mut connection = ServerConnection::new(Arc::new(config))?;
    let mut stream = Stream::new(&mut connection, &mut socket);
    let mut request = [0; 4096];
    let _ = stream.read(&mut request)?;
    stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n")?;
    stream.conn.send_close_notify();
    stream.flush()?;
    let group = connection.negotiated_key_exchange_group().ok_or("no group")?;
    println!("{:?}", group.name());
    Ok(())
}

/// Takes every certificate, and checks the signature of the handshake with it.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 was not offered".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
