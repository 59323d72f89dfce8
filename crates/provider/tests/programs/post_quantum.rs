//! Post-quantum key exchange under Outboard in the system's OpenSSL: servers and clients, against OpenSSL 3.5 and 4.0, browsers
//! and other libraries; long hellos, old servers, and a system whose Outboard has gone.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use outboard_engine::Operation;
use outboard_openssl_versions::Version;
use outboard_programs::{
    ApacheOptions, ApacheWorkers, Certificate, Finished, HaProxyMode, HaProxyOptions, Launch,
    Nginx, NginxOptions, Offer, OpenSsl, SServerOptions, Server, StunnelOptions,
};

use crate::clients::{echo, hello};
use crate::stand::{Stand, installed, is_stock_alone, outboard};

const GROUPS: [&str; 3] = ["X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"];
const OPERATIONS: [Operation; 2] = [
    Operation::MlKem768Encapsulate,
    Operation::MlKem1024Encapsulate,
];
const LIST: &str =
    "X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:X25519:P-256:X448:P-521:P-384";
const P256: &str = "ec -pkeyopt ec_paramgen_curve:P-256";

/// As `outboard enable --post-quantum` has it, with that module.
pub(crate) fn configured(stand: &Stand, name: &str, list: &str, module: Option<&str>) -> OpenSsl {
    let mut provider = outboard(Offer::All);
    if let Some(module) = module {
        provider.module = PathBuf::from(module);
    }
    let settings = format!(
        "post-quantum = yes\n[openssl_init]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n[tls]\nGroups = {list}\n"
    );
    OpenSsl::outboard_with(&stand.workplace, &provider, name, &settings).unwrap()
}

/// A stand with post-quantum groups, and a certificate; none where a program is missing.
pub(crate) fn site(programs: &[&str]) -> Option<(Stand, Certificate)> {
    if !installed(programs) || is_stock_alone() {
        return None;
    }
    let mut stand = Stand::new();
    stand.outboard = configured(&stand, "post-quantum", LIST, None);
    let certificate = Certificate::generate(&stand.workplace, &stand.stock, "server", P256);
    Some((stand, certificate.unwrap()))
}

/// The `openssl` of a version that we build.
pub(crate) fn native(version: Version) -> Launch {
    let built = version.installation().unwrap();
    Launch::at(&built.programs.join("openssl"))
        .env("LD_LIBRARY_PATH", built.libraries)
        .env("OPENSSL_CONF", "/dev/null")
}

/// A client of that OpenSSL asks for the page.
pub(crate) fn ask(
    client: Launch,
    stand: &Stand,
    certificate: &Certificate,
    port: u16,
    more: &[&str],
) -> Finished {
    let request = "GET / HTTP/1.0\r\n\r\n";
    let request = stand.workplace.write("request", request).unwrap();
    client
        .args(["s_client", "-ign_eof", "-verify_return_error", "-CAfile"])
        .arg(&certificate.certificate)
        .args(["-connect", &format!("127.0.0.1:{port}")])
        .args(more)
        .input(File::open(request).unwrap())
        .limit(Duration::from_secs(60))
        .finish()
        .unwrap()
}

pub(crate) fn assert_negotiated(finished: &Finished, group: &str, what: &str) {
    let line = format!("Negotiated TLS1.3 group: {group}");
    assert!(
        finished.output.contains(&line),
        "{what}: no '{line}'\n{}\n{}",
        finished.output,
        finished.errors
    );
}

/// What every server must do: the groups by default with new clients, each group on demand, what it did before with old
/// ones, and a hello that comes in two packets.
fn assert_serves(stand: &Stand, certificate: &Certificate, port: u16, what: &str) {
    for version in Version::ALL {
        let what = format!("{what}, OpenSSL {}", version.number());
        let by_default = ask(native(version), stand, certificate, port, &[]);
        assert_negotiated(&by_default, "X25519MLKEM768", &what);
        for group in GROUPS {
            let asked = ask(
                native(version),
                stand,
                certificate,
                port,
                &["-groups", group],
            );
            assert_negotiated(&asked, group, &what);
        }
        // A share that the server does not want first: it asks for another (HelloRetryRequest).
        let retried = ask(
            native(version),
            stand,
            certificate,
            port,
            &["-groups", "*brainpoolP256r1tls13:SecP256r1MLKEM768"],
        );
        assert_negotiated(&retried, "SecP256r1MLKEM768", &what);
    }
    for (client, more) in [
        (&stand.outboard, vec![]),
        (&stand.outboard, vec!["-groups", "SecP384r1MLKEM1024"]),
        (&stand.stock, vec![]),
        (&stand.stock, vec!["-groups", "P-256"]),
        (&stand.stock, vec!["-tls1_2"]),
    ] {
        let client = client.command().unwrap();
        let finished = ask(client, stand, certificate, port, &more);
        let errors = &finished.errors;
        assert!(
            finished.output.contains("Verify return code: 0"),
            "{what} {more:?}: {errors}"
        );
    }
    in_two_packets(&hello(&stand.outboard), port, what);
}

/// A client hello of 1.5 KB reaches the server in two pieces.
fn in_two_packets(hello: &[u8], port: u16, what: &str) {
    assert!(hello.len() > 1400, "{}", hello.len());
    for at in [3, 700, hello.len() - 1] {
        let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
        connection.set_nodelay(true).unwrap();
        connection
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        connection.write_all(&hello[..at]).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        connection.write_all(&hello[at..]).unwrap();
        let mut answer = [0; 6];
        connection.read_exact(&mut answer).unwrap();
        // A handshake record with a ServerHello.
        assert_eq!((answer[0], answer[5]), (22, 2), "{what}, cut at {at}");
    }
}

fn nginx(stand: &Stand, openssl: &OpenSsl, certificate: &Certificate, settings: &str) -> Nginx {
    let options = NginxOptions {
        openssl,
        certificates: &[certificate],
        files: None,
        core: None,
        settings,
    };
    nginx_of(stand, options)
}

pub(crate) fn nginx_of(stand: &Stand, options: NginxOptions<'_>) -> Nginx {
    Nginx::start(&stand.workplace, options).unwrap()
}

#[test]
fn nginx_serves_the_groups() {
    let Some((stand, certificate)) = site(&["nginx", "curl", "openssl"]) else {
        return;
    };
    let settings = "add_header X-Curve $ssl_curve always;";
    let nginx = nginx(&stand, &stand.outboard, &certificate, settings);
    assert_serves(&stand, &certificate, nginx.port, "nginx");
    // A client of the system's own, and how nginx tells which group it was.
    let curl = Launch::new("curl").unwrap().with(&stand.outboard);
    let curl = curl
        .args(["-sSfi", "--cacert"])
        .arg(&certificate.certificate);
    let page = curl.arg(nginx.url("")).succeed().unwrap().output;
    assert!(page.to_lowercase().contains("x-curve: 0x11ec"), "{page}");
    stand.assert_served(&OPERATIONS);
    stand.assert_served(&[Operation::MlKem768Keygen, Operation::MlKem768Decapsulate]);
    assert!(!nginx.log().contains("[alert]"), "{}", nginx.log());
    nginx.stop().unwrap();
}

#[test]
fn haproxy_serves_the_groups() {
    let Some((stand, certificate)) = site(&["haproxy", "openssl"]) else {
        return;
    };
    for asynchronous in [false, true] {
        let options = HaProxyOptions {
            openssl: &stand.outboard,
            certificates: &[&certificate],
            mode: HaProxyMode::Http,
            asynchronous,
            threads: 1,
            resumption: false,
            core: None,
            settings: "",
            bind: "",
        };
        let haproxy = options.start(&stand.workplace).unwrap();
        assert_serves(&stand, &certificate, haproxy.port, "HAProxy");
        haproxy.stop().unwrap();
    }
    stand.assert_served(&OPERATIONS);
}

#[test]
fn apache_serves_the_groups() {
    let Some((stand, certificate)) = site(&["apache2", "openssl"]) else {
        return;
    };
    let options = ApacheOptions {
        openssl: &stand.outboard,
        certificates: &[&certificate],
        files: None,
        workers: ApacheWorkers::Threads(8),
        resumption: false,
        core: None,
        settings: "",
    };
    let apache = options.start(&stand.workplace).unwrap();
    assert_serves(&stand, &certificate, apache.port, "Apache");
    stand.assert_served(&OPERATIONS);
    apache.stop().unwrap();
}

/// stunnel names groups itself, unless it is told others.
#[test]
fn stunnel_serves_the_groups_that_it_is_told() {
    let Some((stand, certificate)) = site(&["stunnel", "openssl"]) else {
        return;
    };
    let options = StunnelOptions {
        openssl: &stand.outboard,
        certificate: &certificate,
        connect: echo(),
        resumption: false,
        core: None,
        settings: &format!("curves = {LIST}"),
    };
    let stunnel = options.start(&stand.workplace).unwrap();
    let hello = hello(&stand.outboard);
    in_two_packets(&hello, stunnel.port, "stunnel");
    for version in Version::ALL {
        let client = native(version).args([
            "s_client",
            "-connect",
            &format!("127.0.0.1:{}", stunnel.port),
        ]);
        let finished = client.finish().unwrap();
        assert_negotiated(&finished, "X25519MLKEM768", "stunnel");
    }
    stand.assert_served(&[Operation::MlKem768Encapsulate]);
    stunnel.stop().unwrap();
}

/// Clients of the system under Outboard, and the server of an OpenSSL that has the groups itself.
#[test]
fn clients_use_the_groups() {
    let Some((stand, certificate)) = site(&["curl", "openssl"]) else {
        return;
    };
    for version in Version::ALL {
        for group in GROUPS {
            // A server that takes nothing else: who gets the page used the group.
            let server = serve(&stand, &certificate, version, group);
            let list = format!("{group}:X25519");
            let client = configured(&stand, "client", &list, None);
            let page = certificate.fetch(&client, &server.url("")).unwrap();
            assert!(page.contains("TLSv1.3"), "{page}");
            let refused = certificate.fetch(&stand.stock, &server.url(""));
            assert!(refused.is_err(), "a client without the groups cannot");
            server.stop().unwrap();
        }
        // An old server answers with a HelloRetryRequest, and the client goes on with what it knows.
        let server = serve(&stand, &certificate, version, "X25519");
        let page = certificate.fetch(&stand.outboard, &server.url("")).unwrap();
        assert!(page.contains("TLSv1.3"), "{page}");
        // With --servers-only, the first share is the old one.
        let list = "X25519:X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:P-256";
        let second = configured(&stand, "second", list, None);
        assert!(hello(&second).len() < 600 && hello(&stand.outboard).len() > 1400);
        certificate.fetch(&second, &server.url("")).unwrap();
        server.stop().unwrap();
    }
}

fn serve(stand: &Stand, certificate: &Certificate, version: Version, groups: &str) -> Server {
    let built = version.installation().unwrap();
    let settings = ["-groups", groups];
    let options = SServerOptions {
        openssl: &stand.stock,
        certificate,
        asynchronous: false,
        settings: &settings,
    };
    let program = built.programs.join("openssl");
    options
        .start_with(
            &stand.workplace,
            Launch::at(&program).env("LD_LIBRARY_PATH", built.libraries),
        )
        .unwrap()
}

/// The module has gone, and openssl.cnf still names it and the groups: programs start, and have the groups that they had.
#[test]
fn programs_start_when_outboard_has_gone() {
    let Some((stand, certificate)) = site(&["nginx", "haproxy", "curl", "openssl"]) else {
        return;
    };
    let gone = configured(&stand, "gone", LIST, Some("/nowhere/outboard.so"));
    let text = std::fs::read_to_string(gone.configuration()).unwrap();
    let text = text.replace("config_diagnostics = 1\n", "");
    std::fs::write(gone.configuration(), text).unwrap();
    for settings in ["", "ssl_ecdh_curve X25519:prime256v1;"] {
        let nginx = nginx(&stand, &gone, &certificate, settings);
        for client in [&stand.stock, &gone] {
            let page = certificate.fetch(client, &nginx.url("")).unwrap();
            assert_eq!(page, "ok\n", "{settings}");
        }
        let native = ask(native(Version::V3_5), &stand, &certificate, nginx.port, &[]);
        assert!(
            native.output.contains("Peer Temp Key: X25519"),
            "{}",
            native.output
        );
        nginx.stop().unwrap();
    }
    let options = HaProxyOptions {
        openssl: &gone,
        certificates: &[&certificate],
        mode: HaProxyMode::Http,
        asynchronous: false,
        threads: 1,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    let haproxy = options.start(&stand.workplace).unwrap();
    certificate.fetch(&gone, &haproxy.url("")).unwrap();
    haproxy.stop().unwrap();
}

/// A browser and nginx, which takes nothing but the group.
#[test]
fn chromium_uses_the_group() {
    let Some((stand, certificate)) = site(&["nginx", "chromium", "curl", "openssl"]) else {
        return;
    };
    let nginx = nginx(
        &stand,
        &stand.outboard,
        &certificate,
        "ssl_ecdh_curve X25519MLKEM768;",
    );
    let home = stand.workplace.join("chromium");
    std::fs::create_dir(&home).unwrap();
    let chromium = Launch::new("chromium")
        .unwrap()
        .env("HOME", &home)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args(["--ignore-certificate-errors", "--dump-dom"])
        .arg(format!("--user-data-dir={}", home.display()))
        .arg(nginx.url(""))
        .limit(Duration::from_secs(120));
    let finished = chromium.finish().unwrap();
    assert!(
        finished.output.contains("ok"),
        "{}\n{}",
        finished.output,
        finished.errors
    );
    stand.assert_served(&[Operation::MlKem768Encapsulate]);
    nginx.stop().unwrap();
}

/// Go's own TLS, which has the group since Go 1.24.
#[test]
fn go_uses_the_group() {
    let version = Command::new("go").args(["env", "GOVERSION"]).output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let minor = version.as_ref().ok().and_then(|version| {
        let minor = version.strip_prefix("go1.")?.split('.').next()?;
        minor.parse::<u32>().ok()
    });
    if minor.is_none_or(|minor| minor < 24) {
        let found = version.unwrap_or_else(|_| "none".into());
        eprintln!("passed over: Go 1.24 or later is needed (go.dev/dl), and here is {found}");
        assert!(
            std::env::var_os("OUTBOARD_TEST_ALL").is_none(),
            "OUTBOARD_TEST_ALL is set, and Go is missing"
        );
        return;
    }
    let Some((stand, certificate)) = site(&["nginx", "curl", "openssl"]) else {
        return;
    };
    let nginx = nginx(
        &stand,
        &stand.outboard,
        &certificate,
        "ssl_ecdh_curve X25519MLKEM768;",
    );
    let source = stand.workplace.write("client.go", GO_CLIENT).unwrap();
    let built = stand.workplace.join("client");
    let build = Command::new("go")
        .args(["build", "-o"])
        .args([&built, &source])
        .env("GOFLAGS", "-mod=mod")
        .env("GOTOOLCHAIN", "local")
        .output()
        .unwrap();
    assert!(
        build.status.success(),
        "{}",
        String::from_utf8_lossy(&build.stderr)
    );
    let client = Launch::at(&built).arg(nginx.url(""));
    let finished = client.succeed().unwrap();
    assert_eq!(finished.output, "ok\n");
    nginx.stop().unwrap();
}

const GO_CLIENT: &str = r#"package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
)

func main() {
	config := &tls.Config{InsecureSkipVerify: true}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	response, err := client.Get(os.Args[1])
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	io.Copy(os.Stdout, response.Body)
}
"#;
