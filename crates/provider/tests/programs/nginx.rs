//! nginx under Outboard: every certificate, many connections, reloads while it is under load.

use std::fs;
use std::time::Duration;

use outboard_engine::Operation;
use outboard_programs::{Certificate, Launch, Nginx, NginxOptions};

use crate::clients::{assert_all_answered, load};
use crate::stand::{Stand, installed, is_stock_alone, served, site};

const CERTIFICATES: [(&str, &str, Operation); 7] = [
    ("rsa-2048", "rsa:2048", Operation::Rsa2048Sign),
    ("rsa-3072", "rsa:3072", Operation::Rsa3072Sign),
    ("rsa-4096", "rsa:4096", Operation::Rsa4096Sign),
    (
        "p256",
        "ec -pkeyopt ec_paramgen_curve:P-256",
        Operation::P256Sign,
    ),
    (
        "p384",
        "ec -pkeyopt ec_paramgen_curve:P-384",
        Operation::P384Sign,
    ),
    (
        "p521",
        "ec -pkeyopt ec_paramgen_curve:P-521",
        Operation::P521Sign,
    ),
    ("ed25519", "ed25519", Operation::Ed25519Sign),
];

fn options<'a>(stand: &'a Stand, certificates: &'a [&'a Certificate]) -> NginxOptions<'a> {
    NginxOptions {
        openssl: &stand.outboard,
        certificates,
        files: None,
        core: None,
        settings: "",
    }
}

#[test]
fn every_certificate_is_served_and_counted() {
    if !installed(&["nginx", "h2load", "curl"]) {
        return;
    }
    let stand = Stand::new();
    for (name, new_key, operation) in CERTIFICATES {
        let certificate =
            Certificate::generate(&stand.workplace, &stand.outboard, name, new_key).unwrap();
        let nginx = Nginx::start(&stand.workplace, options(&stand, &[&certificate])).unwrap();
        let before = served(&stand.counts(), operation);
        for version in ["1.2", "1.3"] {
            let curl = Launch::new("curl").unwrap().with(&stand.outboard).args([
                "-sSf",
                &format!("--tlsv{version}"),
                "--tls-max",
                version,
                "--cacert",
            ]);
            let page = curl
                .arg(&certificate.certificate)
                .arg(nginx.url(""))
                .succeed();
            assert_eq!(page.unwrap().output, "ok\n", "{name}, TLS {version}");
        }
        let load = load(&stand.stock, nginx.port, 8, 40).succeed().unwrap();
        assert_all_answered(&load.output, 40);
        if !is_stock_alone() {
            // One signature for each handshake, neither more nor fewer.
            assert_eq!(served(&stand.counts(), operation) - before, 42, "{name}");
        }
        assert!(!nginx.log().contains("[alert]"), "{}", nginx.log());
        assert!(!nginx.log().contains("[crit]"), "{}", nginx.log());
        assert!(nginx.stop().unwrap().status.success());
    }
}

#[test]
fn two_certificates_at_once() {
    if !installed(&["nginx", "curl"]) {
        return;
    }
    let stand = Stand::new();
    let made = |name, new_key| {
        Certificate::generate(&stand.workplace, &stand.stock, name, new_key).unwrap()
    };
    let (rsa, ec) = (made("rsa", "rsa:3072"), made("ec", CERTIFICATES[4].1));
    let nginx = Nginx::start(&stand.workplace, options(&stand, &[&rsa, &ec])).unwrap();
    for (certificate, cipher) in [
        (&rsa, "ECDHE-RSA-AES128-GCM-SHA256"),
        (&ec, "ECDHE-ECDSA-AES256-GCM-SHA384"),
    ] {
        let curl = Launch::new("curl").unwrap().with(&stand.stock);
        let curl = curl.args(["-sSf", "--tls-max", "1.2", "--ciphers", cipher, "--cacert"]);
        let page = curl
            .arg(&certificate.certificate)
            .arg(nginx.url(""))
            .succeed();
        assert_eq!(page.unwrap().output, "ok\n");
    }
    stand.assert_served(&[Operation::Rsa3072Sign, Operation::P384Sign]);
}

#[test]
fn a_reload_under_load_loses_no_request() {
    let Some((stand, certificate)) = site(&["nginx", "h2load"], CERTIFICATES[4].1) else {
        return;
    };
    let mut nginx = Nginx::start(&stand.workplace, options(&stand, &[&certificate])).unwrap();
    let load = load(&stand.stock, nginx.port, 8, 3000)
        .start_quietly()
        .unwrap();
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(150));
        nginx.reload().unwrap();
    }
    let load = load.finish(Duration::from_secs(120)).unwrap();
    assert_all_answered(&load.output, 3000);
    stand.assert_served(&[Operation::P384Sign]);
    if !is_stock_alone() {
        // The workers that the reloads ended have left their counts behind.
        assert!(served(&stand.counts(), Operation::P384Sign) >= 3000);
    }
}

#[test]
fn large_files_come_whole() {
    let Some((stand, certificate)) = site(&["nginx", "curl"], CERTIFICATES[3].1) else {
        return;
    };
    let files = stand.workplace.join("files");
    fs::create_dir(&files).unwrap();
    let large = stand
        .workplace
        .write_noise("files/large", 64 << 20)
        .unwrap();
    let certificates = [&certificate];
    let nginx_options = NginxOptions {
        files: Some(&files),
        ..options(&stand, &certificates)
    };
    let nginx = Nginx::start(&stand.workplace, nginx_options).unwrap();
    for suite in [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
    ] {
        let copy = stand.workplace.join("copy");
        Launch::new("curl")
            .unwrap()
            .with(&stand.outboard)
            .args(["-sSf", "--tls13-ciphers", suite, "--cacert"])
            .arg(&certificate.certificate)
            .arg("--output")
            .arg(&copy)
            .arg(nginx.url("large"))
            .succeed()
            .unwrap();
        assert!(
            fs::read(&copy).unwrap() == fs::read(&large).unwrap(),
            "{suite}"
        );
    }
    stand.assert_served(&[
        Operation::Aes128GcmSeal,
        Operation::Aes128GcmOpen,
        Operation::Aes256GcmSeal,
        Operation::Aes256GcmOpen,
    ]);
}
