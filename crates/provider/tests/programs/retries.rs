//! HelloRetryRequest with the hybrid groups, and the order of groups: who is asked for another share is asked once, and the
//! lists of both sides decide as they do for other groups.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use outboard_openssl_versions::Version;
use outboard_programs::NginxOptions;

use crate::clients::hello;
use crate::post_quantum::{ask, assert_negotiated, configured, native, nginx_of, site};

const PATIENCE: Duration = Duration::from_secs(60);
const X25519: [u8; 2] = [0x00, 0x1d];
const P256: [u8; 2] = [0x00, 0x17];
const X25519_ML_KEM_768: [u8; 2] = [0x11, 0xec];
const SEC_P256_R1_ML_KEM_768: [u8; 2] = [0x11, 0xeb];

/// Types of records and of handshake messages, and a fatal alert (RFC 8446, 4, 5.1 and 6).
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const FATAL: u8 = 2;

/// What makes a ServerHello a HelloRetryRequest: its random (RFC 8446, 4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The next record that is none of middleboxes': type and content; none where the connection has ended.
fn record(connection: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    loop {
        let mut head = [0; 5];
        connection.read_exact(&mut head).ok()?;
        let mut content = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
        connection.read_exact(&mut content).ok()?;
        // change_cipher_spec
        if head[0] != 20 {
            return Some((head[0], content));
        }
    }
}

/// A request for a share of that group, as an answer to that hello.
fn retry_for(group: [u8; 2], hello: &[u8]) -> Vec<u8> {
    // Type, length, version, random, then the session that is echoed.
    let session = &hello[38..39 + usize::from(hello[38])];
    let extensions = [&[0, 43, 0, 2, 3, 4][..], &[0, 51, 0, 2, group[0], group[1]]].concat();
    let body = [
        &[3, 3][..],
        &RETRY,
        session,
        // TLS_AES_128_GCM_SHA256
        &[0x13, 0x01, 0],
        &(extensions.len() as u16).to_be_bytes(),
        &extensions,
    ]
    .concat();
    let length = (body.len() as u32).to_be_bytes();
    let message = [&[SERVER_HELLO][..], &length[1..], &body].concat();
    let length = (message.len() as u16).to_be_bytes();
    [&[HANDSHAKE, 3, 3][..], &length, &message].concat()
}

/// What a client answers to these requests, one after the other: for each, whether a hello came, or else an alert.
fn asked_for(list: &str, groups: &[[u8; 2]]) -> Option<Vec<bool>> {
    let (stand, _) = site(&["openssl"])?;
    let client = configured(&stand, "asked", list, None);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let client = client.command().unwrap();
    let client = client.args(["s_client", "-connect", &address]);
    let client = client.start_quietly().unwrap();
    let (mut connection, _) = listener.accept().unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    let (_, mut last) = record(&mut connection).unwrap();
    assert_eq!(last[0], CLIENT_HELLO);
    let mut answers = Vec::new();
    for &group in groups {
        connection.write_all(&retry_for(group, &last)).unwrap();
        let (kind, content) = record(&mut connection).expect("an alert comes before the end");
        match kind {
            HANDSHAKE => {
                assert_eq!(content[0], CLIENT_HELLO);
                last = content;
                answers.push(true);
            }
            _ => {
                assert_eq!((kind, content[0]), (ALERT, FATAL), "{content:?}");
                answers.push(false);
                break;
            }
        }
    }
    drop(connection);
    client.finish(PATIENCE).unwrap();
    Some(answers)
}

/// A client goes along once, with a group that it offered and sent no share of; else it ends the handshake.
#[test]
fn a_client_is_asked_once() {
    let list = "X25519MLKEM768:X25519:P-256";
    for (groups, expected) in [
        (&[X25519, P256][..], &[true, false][..]),
        (&[X25519, X25519], &[true, false]),
        // It sent that share.
        (&[X25519_ML_KEM_768], &[false]),
        // It did not offer that group.
        (&[SEC_P256_R1_ML_KEM_768], &[false]),
    ] {
        let Some(answers) = asked_for(list, groups) else {
            return;
        };
        assert_eq!(answers, expected, "{groups:?}");
    }
    // With --servers-only, a server may ask for a hybrid group.
    let answers = asked_for("X25519:X25519MLKEM768", &[X25519_ML_KEM_768, X25519]);
    assert_eq!(answers.as_deref(), Some(&[true, false][..]));
}

/// A server asks once: a client that sends the same share again gets an alert.
#[test]
fn a_server_asks_once() {
    let Some((stand, certificate)) = site(&["nginx", "curl", "openssl"]) else {
        return;
    };
    let settings = "ssl_ecdh_curve SecP384r1MLKEM1024;";
    let options = NginxOptions {
        openssl: &stand.outboard,
        certificates: &[&certificate],
        files: None,
        core: None,
        settings,
    };
    let nginx = nginx_of(&stand, options);
    let hello = hello(&stand.outboard);
    let mut connection = TcpStream::connect(("127.0.0.1", nginx.port)).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    connection.write_all(&hello).unwrap();
    let (kind, content) = record(&mut connection).unwrap();
    assert_eq!((kind, content[0]), (HANDSHAKE, SERVER_HELLO));
    assert_eq!(content[6..38], RETRY);
    connection.write_all(&hello).unwrap();
    let (kind, content) = record(&mut connection).expect("an alert comes before the end");
    assert_eq!((kind, content[0]), (ALERT, FATAL), "{content:?}");
    nginx.stop().unwrap();
}

/// OpenSSL before 3.5 as a server takes the client's share of a group that it has. Where there is none, its own list decides.
#[test]
fn the_order_of_groups_decides() {
    let Some((stand, certificate)) = site(&["nginx", "curl", "openssl"]) else {
        return;
    };
    let ours = "ssl_ecdh_curve SecP256r1MLKEM768:X25519MLKEM768:X25519;";
    for (preference, client, expected) in [
        ("off", "X25519MLKEM768:SecP256r1MLKEM768", "X25519MLKEM768"),
        (
            "off",
            "SecP256r1MLKEM768:X25519MLKEM768",
            "SecP256r1MLKEM768",
        ),
        // The share that is there wins: no further round trip.
        ("off", "*X25519:X25519MLKEM768", "X25519"),
        ("off", "X25519:*X25519MLKEM768", "X25519MLKEM768"),
        // No share that the server takes: it asks for the first of its own list that the client has.
        (
            "off",
            "*P-256:X25519MLKEM768:SecP256r1MLKEM768",
            "SecP256r1MLKEM768",
        ),
        (
            "on",
            "*P-256:X25519MLKEM768:SecP256r1MLKEM768",
            "SecP256r1MLKEM768",
        ),
    ] {
        let settings = format!("{ours} ssl_prefer_server_ciphers {preference};");
        let options = NginxOptions {
            openssl: &stand.outboard,
            certificates: &[&certificate],
            files: None,
            core: None,
            settings: &settings,
        };
        let nginx = nginx_of(&stand, options);
        for version in Version::ALL {
            let more = ["-groups", client];
            let asked = ask(native(version), &stand, &certificate, nginx.port, &more);
            let what = format!("{preference}, {client}, OpenSSL {}", version.number());
            match expected {
                "X25519" => assert!(
                    asked.output.contains("Peer Temp Key: X25519"),
                    "{what}\n{}",
                    asked.output
                ),
                group => assert_negotiated(&asked, group, &what),
            }
        }
        nginx.stop().unwrap();
    }
}
