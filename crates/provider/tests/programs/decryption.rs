//! Whole programs that decrypt with an RSA key of the card service.

use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

use outboard_programs::{HaProxyMode, HaProxyOptions, Launch, Nginx, OpenSsl};

use crate::clients::{assert_all_answered, load};
use crate::service::Site;

/// TLS 1.2 without forward secrecy: the client encrypts a secret for the server's key.
const CIPHER: &str = "AES128-GCM-SHA256";

fn site(programs: &[&str]) -> Option<Site> {
    Site::new(programs, "rsa:2048")
}

#[test]
fn nginx_serves_clients_without_forward_secrecy() {
    let Some(site) = site(&["nginx", "openssl"]) else {
        return;
    };
    let (_service, asked) = site.serve();
    let certificates = [&site.certificate];
    let nginx = Nginx::start(&site.workplace, site.nginx(&site.outboard, &certificates)).unwrap();
    let request = site.workplace.write("request", "GET / HTTP/1.0\r\n\r\n");
    let request = request.unwrap();
    for turn in 1..=3 {
        let client = site.plain.command().unwrap();
        let client = client.args(["s_client", "-tls1_2", "-cipher", CIPHER, "-ign_eof"]);
        let client = client
            .arg("-connect")
            .arg(format!("127.0.0.1:{}", nginx.port));
        let client = client.input(std::fs::File::open(&request).unwrap());
        let page = client.succeed().unwrap().output;
        assert!(page.contains("Cipher is AES128-GCM-SHA256"), "{page}");
        assert!(page.contains("200 OK"), "{page}");
        assert_eq!(asked.load(SeqCst), turn);
    }
    let log = nginx.log();
    assert!(!log.contains("[alert]") && !log.contains("[crit]"), "{log}");
}

/// A job pauses while the service decrypts, as it does for a signature.
#[test]
fn haproxy_waits_for_many_secrets_at_once() {
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let Some(site) = site(&["haproxy", "h2load"]) else {
        return;
    };
    let (service, asked) = site.serve();
    let options = HaProxyOptions {
        openssl: &site.outboard,
        certificates: &[&site.certificate],
        mode: HaProxyMode::Http,
        asynchronous: true,
        threads: 1,
        resumption: false,
        core: None,
        settings: "",
        bind: "ssl-max-ver TLSv1.2 ciphers AES128-GCM-SHA256",
    };
    let haproxy = options.start_as_packaged(&site.workplace).unwrap();
    let load = load(&site.plain, haproxy.port, 32, 640);
    let load = load.arg(format!("--ciphers={CIPHER}")).succeed().unwrap();
    assert_all_answered(&load.output, 640);
    assert_eq!(asked.load(SeqCst), 640);
    let connections = service.accepted();
    assert!(
        connections > 1,
        "{connections} connection of the only thread"
    );
    haproxy.stop().unwrap();
}

#[test]
fn the_openssl_command_decrypts() {
    let Some(site) = site(&["openssl"]) else {
        return;
    };
    let (_service, asked) = site.serve();
    let run = |openssl: &OpenSsl, arguments: &str| {
        let command = openssl.command().unwrap();
        let command = command.args(arguments.split_whitespace());
        command.directory(site.workplace.path()).succeed().unwrap()
    };
    let text = "a message\n";
    site.workplace.write("message", text).unwrap();
    let (certificate, reference) = (&site.certificate.certificate, &site.certificate.key);
    let (certificate, reference) = (certificate.display(), reference.display());
    let mut turns = 0;
    for padding in [
        "",
        "-pkeyopt rsa_padding_mode:pkcs1",
        "-pkeyopt rsa_padding_mode:oaep",
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256",
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1 \
         -pkeyopt rsa_oaep_label:6c6162656c",
    ] {
        let encrypt = format!("pkeyutl -encrypt -certin -inkey {certificate} {padding}");
        run(
            &site.plain,
            &format!("{encrypt} -in message -out encrypted"),
        );
        let decrypt = format!("pkeyutl -decrypt -inkey {reference} {padding} -in encrypted");
        assert_eq!(run(&site.outboard, &decrypt).output, text, "{padding}");
        turns += 1;
        assert_eq!(asked.load(SeqCst), turns, "{padding}");
    }
    for options in [
        "",
        "-keyopt rsa_padding_mode:oaep",
        "-keyopt rsa_padding_mode:oaep -keyopt rsa_oaep_md:sha256",
    ] {
        let encrypt = "cms -encrypt -binary -aes128 -in message -out encrypted.cms";
        run(
            &site.plain,
            &format!("{encrypt} -recip {certificate} {options}"),
        );
        let decrypt = format!("cms -decrypt -in encrypted.cms -inkey {reference}");
        for recipient in [format!("-recip {certificate}"), String::new()] {
            let decrypted = run(&site.outboard, &format!("{decrypt} {recipient}"));
            assert_eq!(decrypted.output, text, "{options} {recipient}");
            turns += 1;
            assert_eq!(asked.load(SeqCst), turns, "{options} {recipient}");
        }
    }
}

#[test]
fn python_serves_clients_without_forward_secrecy() {
    let Some(site) = site(&["python3"]) else {
        return;
    };
    let (_service, asked) = site.serve();
    let script = "import ssl, sys\n\
        def context(side):\n\
        \x20 context = ssl.SSLContext(side)\n\
        \x20 context.maximum_version = ssl.TLSVersion.TLSv1_2\n\
        \x20 context.set_ciphers('AES128-GCM-SHA256')\n\
        \x20 return context\n\
        server = context(ssl.PROTOCOL_TLS_SERVER)\n\
        server.load_cert_chain(sys.argv[1], sys.argv[2])\n\
        client = context(ssl.PROTOCOL_TLS_CLIENT)\n\
        client.load_verify_locations(sys.argv[1])\n\
        one, other = ssl.MemoryBIO(), ssl.MemoryBIO()\n\
        ends = [server.wrap_bio(one, other, server_side=True),\n\
        \x20 client.wrap_bio(other, one, server_hostname='localhost')]\n\
        done = set()\n\
        while len(done) < 2:\n\
        \x20 for end in ends:\n\
        \x20   try: end.do_handshake(); done.add(end)\n\
        \x20   except ssl.SSLWantReadError: pass\n\
        print(ends[0].cipher()[0])";
    let python = Launch::at(Path::new("/usr/bin/python3")).with(&site.outboard);
    let python = python.args(["-c", script]);
    let python = python
        .arg(&site.certificate.certificate)
        .arg(&site.certificate.key);
    assert_eq!(python.succeed().unwrap().output.trim(), CIPHER);
    assert_eq!(asked.load(SeqCst), 1);
}
