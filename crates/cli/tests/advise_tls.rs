//! `outboard advise tls`, and what real servers make of its lines.

mod common;

use common::{document, module, outboard, says, stderr, stdout};
use outboard_openssl_versions::Version;
use outboard_programs::{
    ApacheOptions, ApacheWorkers, Certificate, HaProxyMode, HaProxyOptions, Launch, Nginx,
    NginxOptions, OpenSsl, Workplace,
};
use serde_json::Value;
use std::process::{Command, Stdio};

/// As `--json` prints it: AES-128-GCM is the cheapest, which OpenSSL itself does not put first.
const COSTS: &str = r#"{
  "schema": "outboard-advise-tls", "version": 1,
  "measured": {
    "openssl": "OpenSSL 3.0.22",
    "costs": [
      {"kind": "certificate", "name": "P-256", "stock_seconds": 0.0004, "outboard_seconds": null, "ratio": null, "client_seconds": 0.001, "pairs": 1},
      {"kind": "certificate", "name": "RSA-3072", "stock_seconds": 0.002, "outboard_seconds": null, "ratio": null, "client_seconds": 0.001, "pairs": 1},
      {"kind": "group", "name": "X25519", "stock_seconds": 0.0004, "outboard_seconds": null, "ratio": null, "client_seconds": 0.001, "pairs": 1},
      {"kind": "group", "name": "P-384", "stock_seconds": 0.0002, "outboard_seconds": null, "ratio": null, "client_seconds": 0.001, "pairs": 1},
      {"kind": "suite", "name": "TLS_AES_128_GCM_SHA256", "stock_seconds": 0.5, "outboard_seconds": 0.4, "ratio": 1.2, "client_seconds": 1.0, "pairs": 1},
      {"kind": "suite", "name": "TLS_AES_256_GCM_SHA384", "stock_seconds": 0.6, "outboard_seconds": 0.5, "ratio": 1.2, "client_seconds": 1.0, "pairs": 1},
      {"kind": "suite", "name": "TLS_CHACHA20_POLY1305_SHA256", "stock_seconds": 0.9, "outboard_seconds": 0.9, "ratio": 1.0, "client_seconds": 1.0, "pairs": 1}
    ]
  }
}"#;

const LEVELS: [&str; 3] = ["modern", "compatible", "fips"];

struct Stand {
    workplace: Workplace,
    stock: OpenSsl,
    certificate: Certificate,
}

impl Stand {
    fn new() -> Self {
        let workplace = Workplace::new().expect("a temporary directory");
        let stock = OpenSsl::stock(&workplace).expect("it can be written");
        let new_key = "ec -pkeyopt ec_paramgen_curve:P-256";
        let certificate = Certificate::generate(&workplace, &stock, "p256", new_key);
        workplace.write("costs.json", COSTS).expect("it is ours");
        Self {
            certificate: certificate.expect("openssl makes one"),
            workplace,
            stock,
        }
    }

    fn advise(&self, arguments: &[&str]) -> assert_cmd::assert::Assert {
        let mut command = outboard();
        command.args(["advise", "tls", "--stock", "--costs"]);
        command.arg(self.workplace.join("costs.json"));
        command.args(arguments).assert()
    }

    /// The lines for that server.
    fn snippet(&self, server: &str, level: &str) -> String {
        let advice = self
            .advise(&["--json", "--for", server, "--level", level])
            .success();
        let document = document(&advice, "outboard-advise-tls");
        let text = document["snippets"][0]["text"].as_str();
        text.expect("there is one").to_owned()
    }

    /// What a client of OpenSSL's own preferences agrees on with the server at `port`.
    fn negotiated(&self, port: u16, arguments: &[&str]) -> String {
        let client = self.stock.command().expect("openssl is installed");
        let said = client
            .args(["s_client", "-brief", "-connect"])
            .arg(format!("127.0.0.1:{port}"))
            .args(arguments)
            .finish()
            .expect("it ends when its input does");
        format!("{}{}", said.output, said.errors)
    }

    /// Fails unless the server prefers what is advised.
    fn check(&self, port: u16) {
        let said = self.negotiated(port, &[]);
        says(&said, "Ciphersuite: TLS_AES_128_GCM_SHA256");
        let said = self.negotiated(port, &["-tls1_2"]);
        says(&said, "Ciphersuite: ECDHE-ECDSA-AES128-GCM-SHA256");
        // Only what the list has.
        let said = self.negotiated(port, &["-groups", "P-521"]);
        assert!(!said.contains("Ciphersuite"), "{said}");
    }
}

#[test]
fn nginx_takes_its_lines() {
    let stand = Stand::new();
    for level in LEVELS {
        let directory = stand.workplace.path().display();
        let (certificate, key) = (
            stand.certificate.certificate.display(),
            stand.certificate.key.display(),
        );
        let snippet = stand.snippet("nginx", level);
        // Debian's own nginx.conf has these two in its http block.
        let text = format!(
            "pid {directory}/nginx.pid;\nerror_log {directory}/error.log;\nevents {{ }}\n\
             http {{\nssl_protocols TLSv1.2;\nssl_prefer_server_ciphers on;\n\
             server {{ listen 127.0.0.1:1 ssl; ssl_certificate {certificate}; ssl_certificate_key {key};\n\
             {snippet}}}\n}}\n"
        );
        let configuration = stand
            .workplace
            .write("nginx.conf", text)
            .expect("it is ours");
        let tried = Launch::new("nginx")
            .expect("it is installed")
            .args(["-t", "-p"])
            .arg(stand.workplace.path())
            .arg("-e")
            .arg(stand.workplace.join("error.log"))
            .arg("-c")
            .arg(configuration)
            .finish()
            .expect("it ends");
        assert!(tried.status.success(), "{level}: {snippet}{}", tried.errors);
    }
}

#[test]
fn nginx_prefers_what_its_lines_say() {
    let stand = Stand::new();
    let settings = stand.snippet("nginx", "modern");
    let options = NginxOptions {
        openssl: &stand.stock,
        certificates: &[&stand.certificate],
        files: None,
        core: None,
        settings: &settings,
    };
    let nginx = Nginx::start(&stand.workplace, options).expect("it takes the lines");
    stand.check(nginx.port);
}

#[test]
fn apache_takes_its_lines() {
    let stand = Stand::new();
    for level in LEVELS {
        let settings = stand.snippet("apache", level);
        let options = ApacheOptions {
            openssl: &stand.stock,
            certificates: &[&stand.certificate],
            files: None,
            workers: ApacheWorkers::Threads(2),
            resumption: false,
            core: None,
            settings: &settings,
        };
        let apache = options.start(&stand.workplace).expect("it takes the lines");
        stand.check(apache.port);
    }
}

#[test]
fn haproxy_takes_its_lines() {
    let stand = Stand::new();
    for level in LEVELS {
        let settings = stand.snippet("haproxy", level);
        let options = HaProxyOptions {
            openssl: &stand.stock,
            certificates: &[&stand.certificate],
            mode: HaProxyMode::Http,
            asynchronous: false,
            threads: 1,
            resumption: false,
            core: None,
            settings: &settings,
            bind: "",
        };
        let haproxy = options.start(&stand.workplace).expect("it takes the lines");
        stand.check(haproxy.port);
    }
}

#[test]
fn the_advice_is_told_with_its_reasons() {
    let stand = Stand::new();
    let shown = stand.advise(&[]).success();
    let text = stdout(&shown);
    says(
        &text,
        "Certificate: P-256. For very old clients without elliptic curves, add a second certificate with RSA-3072",
    );
    says(&text, "ssl_ecdh_curve P-384:X25519;");
    says(
        &text,
        "ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256:",
    );
    says(&text, "SSLCipherSuite TLSv1.3 TLS_AES_128_GCM_SHA256:");
    says(
        &text,
        "Too close to tell apart, so in the order of preference: \
         TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384.",
    );
    let fips = stdout(
        &stand
            .advise(&["--level", "fips", "--for", "nginx"])
            .success(),
    );
    says(&fips, "ssl_ecdh_curve P-384;");
    says(&fips, "not approved (FIPS 140-3");
    assert!(!fips.contains("PrioritizeChaCha"), "{fips}");

    stand
        .workplace
        .write("costs.json", "{}")
        .expect("it is ours");
    says(
        &stderr(&stand.advise(&[]).code(1)),
        "(the file must be the output of 'outboard advise tls --json')",
    );
}

/// On a terminal of so many columns. Rows only: the servers' lines are for them, not for people.
#[test]
fn reasons_stand_below_where_a_terminal_is_narrow() {
    let stand = Stand::new();
    let row = |columns: &str| {
        let shown = Command::new("script")
            .args([
                "-qec",
                "stty cols $WIDTH; exec \"$OUTBOARD\" advise tls --stock --costs \"$COSTS\"",
                "/dev/null",
            ])
            .env("WIDTH", columns)
            .env("OUTBOARD", assert_cmd::cargo::cargo_bin("outboard"))
            .env("COSTS", stand.workplace.join("costs.json"))
            .env("NO_COLOR", "1")
            .env_remove("OPENSSL_CONF")
            .stdin(Stdio::null())
            .output()
            .expect("it is installed");
        let text = String::from_utf8(shown.stdout).expect("text");
        let row = text.lines().find(|line| line.starts_with("RSA-3072"));
        row.unwrap_or_else(|| panic!("no row: {text}")).to_owned()
    };
    says(&row("200"), "128 bits of strength; for the oldest clients");
    let narrow = row("50");
    assert!(
        !narrow.contains("strength") && narrow.trim_end().chars().count() <= 50,
        "{narrow}"
    );
}

#[test]
fn names_that_nothing_here_has_are_refused() {
    let refusal = outboard()
        .args(["advise", "tls", "--stock", "--only", "nosuch,P-384"])
        .assert()
        .code(2);
    let said = stderr(&refusal);
    says(&said, "no algorithm nosuch to measure (it has ");
    says(&said, "TLS_AES_128_GCM_SHA256");
    assert_eq!(stdout(&refusal), "");
}

/// OpenSSL 3.5 is the first with post-quantum groups. The handshakes are real; and HAProxy, which needs no engines and so
/// runs on this build, takes its lines.
#[test]
fn a_newer_openssl_puts_a_post_quantum_group_first() {
    let newer = Version::V3_5.installation().expect("OpenSSL builds");
    let number = Version::V3_5.number();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", newer.programs.display());
    let measured = outboard()
        .args(["advise", "tls", "--stock", "--quick", "--json"])
        .args([
            "--only",
            "P-256,X25519,X25519MLKEM768,SecP256r1MLKEM768,TLS_AES_128_GCM_SHA256",
        ])
        .env("PATH", path)
        .env("LD_LIBRARY_PATH", &newer.libraries)
        .assert()
        .success();
    let document = document(&measured, "outboard-advise-tls");
    says(
        document["measured"]["openssl"].as_str().expect("a text"),
        &format!("OpenSSL {number}"),
    );
    let groups = document["advice"]["groups"].as_array().expect("a list");
    let groups: Vec<&str> = groups.iter().filter_map(Value::as_str).collect();
    assert_eq!(groups.len(), 4, "{groups:?}");
    for (at, group) in groups.iter().enumerate() {
        assert_eq!(group.contains("MLKEM"), at < 2, "{groups:?}");
    }
    let costs = document["measured"]["costs"].as_array().expect("a list");
    assert!(
        costs
            .iter()
            .all(|cost| cost["stock_seconds"].as_f64() > Some(1e-6))
    );
    let list = groups.join(":");
    let snippets = document["snippets"].as_array().expect("a list");
    let snippet = |at: usize| snippets[at]["text"].as_str().expect("a text");
    says(snippet(0), &format!("ssl_ecdh_curve {list};\n"));
    says(snippet(1), &format!("SSLOpenSSLConfCmd Groups {list}\n"));
    says(snippet(2), &format!("ssl-default-bind-curves {list}\n"));

    let haproxy = || {
        let haproxy = Launch::new("haproxy").expect("it is installed");
        haproxy.env("LD_LIBRARY_PATH", &newer.libraries)
    };
    let version = haproxy().arg("-vv").finish().expect("it ends").output;
    if !version.contains(&format!("Running on OpenSSL version : OpenSSL {number}")) {
        eprintln!("skipped: this HAProxy does not run on OpenSSL {number}");
        return;
    }
    let stand = Stand::new();
    let pem = [&stand.certificate.certificate, &stand.certificate.key]
        .map(|file| std::fs::read_to_string(file).expect("it was made"))
        .concat();
    let pem = stand
        .workplace
        .write_secret("pem", pem)
        .expect("it is ours");
    let tried = |lines: &str| {
        let text = format!(
            "global\n{lines}\ndefaults\nmode http\n\
             timeout client 1s\ntimeout server 1s\ntimeout connect 1s\n\
             listen tls\nbind 127.0.0.1:1 ssl crt {}\n",
            pem.display()
        );
        let file = stand.workplace.write("haproxy.cfg", text).expect("ours");
        let tried = haproxy().args(["-c", "-f"]).arg(file).finish();
        tried.expect("it ends")
    };
    let taken = tried(snippet(2));
    assert!(taken.status.success(), "{}{}", snippet(2), taken.errors);
    let refused = tried(&snippet(2).replace("MLKEM768", "MLKEM769"));
    assert!(!refused.status.success(), "HAProxy takes what there is not");
}

/// Real handshakes and downloads, stock and with Outboard.
#[test]
fn what_is_asked_for_is_measured() {
    let measured = outboard()
        .args(["advise", "tls", "--quick", "--json", "--module"])
        .arg(module())
        .args(["--only", "RSA-2048,P-384,TLS_AES_128_GCM_SHA256"])
        .assert()
        .success();
    let document = document(&measured, "outboard-advise-tls");
    let costs = document["measured"]["costs"].as_array().expect("a list");
    // P-384 is the name of a certificate and of a group.
    assert_eq!(costs.len(), 4, "{costs:?}");
    for cost in costs {
        let seconds = |name: &str| cost[name].as_f64().unwrap_or_default();
        assert!(seconds("stock_seconds") > 1e-6, "{cost}");
        assert!(seconds("outboard_seconds") > 1e-6, "{cost}");
        assert!(seconds("client_seconds") > 1e-6, "{cost}");
    }
    assert_eq!(
        document["advice"]["suites"],
        Value::from(vec!["TLS_AES_128_GCM_SHA256"])
    );
}

/// A group that Outboard would add is measured, and kept out of the lines for servers.
#[test]
fn groups_that_outboard_would_add_are_measured() {
    let measured = outboard()
        .args(["advise", "tls", "--quick", "--json", "--module"])
        .arg(module())
        .args(["--only", "X25519,X25519MLKEM768,TLS_AES_128_GCM_SHA256"])
        .assert()
        .success();
    let document = document(&measured, "outboard-advise-tls");
    let measured = &document["measured"];
    let has_own = measured["costs"].as_array().expect("a list").len() == 3;
    if has_own {
        eprintln!("skipped: this OpenSSL has the group itself");
        return;
    }
    let added = measured["post_quantum"].as_array().expect("a list");
    assert_eq!(added.len(), 1, "{added:?}");
    assert_eq!(added[0]["name"], "X25519MLKEM768");
    for name in ["outboard_seconds", "client_seconds"] {
        assert!(added[0][name].as_f64() > Some(1e-6), "{added:?}");
    }
    assert_eq!(document["advice"]["groups"], Value::from(vec!["X25519"]));
    let snippets = document["snippets"].to_string();
    assert!(!snippets.contains("MLKEM"), "{snippets}");
    says(
        &document["notes"].to_string(),
        "a handshake with X25519MLKEM768 takes",
    );

    // The same from the document.
    let stand = Stand::new();
    let file = stand.workplace.write("costs.json", document.to_string());
    file.expect("it is ours");
    let text = stdout(&stand.advise(&["--for", "nginx"]).success());
    says(&text, "only with 'outboard enable --post-quantum'");
    says(&text, "a handshake with X25519MLKEM768 takes");
}
