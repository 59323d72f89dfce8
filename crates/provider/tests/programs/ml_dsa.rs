//! ML-DSA by the command `openssl`: files, certificates and CMS, of Outboard in the system's OpenSSL and of OpenSSL 3.5 and
//! 4.0, which read each other's.

use std::fs::{self, File};
use std::time::Duration;

use outboard_engine::Operation;
use outboard_openssl_versions::Version;
use outboard_programs::{Finished, Launch, Offer, OpenSsl, Workplace, free_port};

use crate::stand::{Stand, installed, is_stock_alone, outboard};

/// An `openssl` that finds its files in the workplace.
struct Tool<'a> {
    name: String,
    openssl: Box<dyn Fn() -> Launch + 'a>,
    workplace: &'a Workplace,
}

impl Tool<'_> {
    /// Words that contain a dot are files in the workplace.
    fn run(&self, line: &str) -> Finished {
        let words = line.split(' ').map(|word| match word.contains('.') {
            true => self.workplace.join(word).display().to_string(),
            false => word.to_owned(),
        });
        (self.openssl)().args(words).finish().unwrap()
    }

    fn succeed(&self, line: &str) -> String {
        let finished = self.run(line);
        let Finished { output, errors, .. } = &finished;
        assert!(
            finished.status.success(),
            "{} {line}\n{output}\n{errors}",
            self.name
        );
        finished.output
    }

    fn refuse(&self, line: &str) {
        let finished = self.run(line);
        assert!(
            !finished.status.success(),
            "{} {line}: {}",
            self.name,
            finished.output
        );
    }
}

fn tools(stand: &Stand) -> Vec<Tool<'_>> {
    let ours = Tool {
        name: "Outboard".into(),
        openssl: Box::new(|| stand.outboard.command().unwrap()),
        workplace: &stand.workplace,
    };
    let natives = Version::ALL.map(|version| native(stand, version));
    std::iter::once(ours).chain(natives).collect()
}

/// The `openssl` of a version that we build.
fn of(version: Version) -> Launch {
    let built = version.installation().unwrap();
    Launch::at(&built.programs.join("openssl")).env("LD_LIBRARY_PATH", built.libraries)
}

/// Without Outboard.
fn native(stand: &Stand, version: Version) -> Tool<'_> {
    Tool {
        name: version.number().into(),
        openssl: Box::new(move || of(version).env("OPENSSL_CONF", "/dev/null")),
        workplace: &stand.workplace,
    }
}

fn stand() -> Option<Stand> {
    if !installed(&["openssl"]) || is_stock_alone() {
        return None;
    }
    let mut stand = Stand::new();
    let settings = "post-quantum = yes\n";
    let provider = outboard(Offer::All);
    let openssl = OpenSsl::outboard_with(&stand.workplace, &provider, "ml-dsa", settings);
    stand.outboard = openssl.unwrap();
    stand.workplace.write("message.txt", "a message\n").unwrap();
    // What `openssl req` asks of a configuration.
    let request = "[req]\ndistinguished_name = name\nx509_extensions = ca\n[name]\n[ca]\nbasicConstraints = critical, CA:TRUE\n";
    stand.workplace.write("req.cnf", request).unwrap();
    Some(stand)
}

#[test]
fn keys_and_signatures_are_everyones() {
    let Some(stand) = stand() else {
        return;
    };
    let tools = tools(&stand);
    for (number, maker) in tools.iter().enumerate() {
        for set in ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"] {
            maker.succeed(&format!("genpkey -algorithm {set} -out key.pem"));
            maker.succeed("pkey -in key.pem -pubout -out public.pem");
            maker.succeed("pkeyutl -sign -rawin -inkey key.pem -in message.txt -out signature.bin");
            // OpenSSL 3.5 writes 15 bytes a line, 4.0 16.
            let shown =
                |by: &Tool<'_>, line| -> String { by.succeed(line).split_whitespace().collect() };
            for reader in &tools {
                for line in [
                    "pkey -in key.pem -noout -text",
                    "pkey -pubin -in public.pem -noout -text",
                ] {
                    let alike = shown(reader, line) == shown(maker, line);
                    assert!(
                        alike,
                        "{} shows keys of {} otherwise",
                        reader.name, maker.name
                    );
                }
                let verify =
                    "pkeyutl -verify -rawin -pubin -inkey public.pem -sigfile signature.bin -in";
                reader.succeed(&format!("{verify} message.txt"));
                reader.refuse(&format!("{verify} public.pem"));
            }
        }
        // The old way to sign a file; OpenSSL 3.5 has no such way for ML-DSA.
        if number == 0 {
            maker.succeed("dgst -sign key.pem -out signature.bin message.txt");
            maker.succeed("dgst -verify public.pem -signature signature.bin message.txt");
            maker.succeed("pkcs8 -topk8 -in key.pem -passout pass:secret -out encrypted.pem");
            for reader in &tools {
                reader.succeed("pkey -in encrypted.pem -passin pass:secret -noout -check");
            }
        }
    }
    stand.assert_served(&[Operation::MlDsa65Keygen, Operation::MlDsa65Sign]);
}

#[test]
fn certificates_are_everyones() {
    let Some(stand) = stand() else {
        return;
    };
    let tools = tools(&stand);
    for maker in &tools {
        maker.succeed("genpkey -algorithm ML-DSA-65 -out ca.key");
        maker
            .succeed("req -x509 -new -key ca.key -subj /CN=ca -days 7 -config req.cnf -out ca.crt");
        maker.succeed("genpkey -algorithm ML-DSA-44 -out leaf.key");
        maker.succeed("req -new -key leaf.key -subj /CN=leaf -config req.cnf -out leaf.csr");
        maker.succeed("x509 -req -in leaf.csr -CA ca.crt -CAkey ca.key -days 3 -out leaf.crt");
        maker.succeed("genpkey -algorithm ML-DSA-65 -out other.key");
        maker.succeed(
            "req -x509 -new -key other.key -subj /CN=ca -days 7 -config req.cnf -out other.crt",
        );
        for reader in &tools {
            reader.succeed("verify -CAfile ca.crt leaf.crt");
            reader.refuse("verify -CAfile other.crt leaf.crt");
            reader.succeed("req -in leaf.csr -config req.cnf -verify -noout");
            let shown = reader.succeed("x509 -in leaf.crt -noout -text");
            assert!(shown.contains("Signature Algorithm: ML-DSA-65"), "{shown}");
            assert!(shown.contains("Public Key Algorithm: ML-DSA-44"), "{shown}");
        }
    }
    stand.assert_served(&[Operation::MlDsa65Sign, Operation::MlDsa65Verify]);
}

/// OpenSSL 3.0 verifies CMS messages of ML-DSA. It cannot make them: it leaves the name of the signature empty.
#[test]
fn cms_messages_are_verified() {
    let Some(stand) = stand() else {
        return;
    };
    let tools = tools(&stand);
    let (ours, natives) = (&tools[0], &tools[1..]);
    ours.succeed("genpkey -algorithm ML-DSA-87 -out signer.key");
    ours.succeed(
        "req -x509 -new -key signer.key -subj /CN=signer -days 7 -config req.cnf -out signer.crt",
    );
    for native in natives {
        native.succeed(
            "cms -sign -md sha512 -nodetach -in message.txt -signer signer.crt -inkey signer.key -outform PEM -out cms.pem",
        );
        let read =
            ours.succeed("cms -verify -in cms.pem -inform PEM -CAfile signer.crt -purpose any");
        assert_eq!(read.trim(), "a message");
    }
    ours.refuse(
        "cms -sign -md sha512 -nodetach -in message.txt -signer signer.crt -inkey signer.key -outform PEM -out cms.pem",
    );
}

/// Certificates of TLS. libssl takes signatures from a provider from 3.2 on; from 3.5 on it has these itself.
#[test]
fn servers_and_clients_prove_themselves_from_3_2_on() {
    if !super::builds_peers() {
        return;
    }
    let Some(mut stand) = stand() else {
        return;
    };
    let with = |setting: &str| {
        let settings = format!("post-quantum = {setting}\n");
        let provider = outboard(Offer::All);
        OpenSsl::outboard_with(&stand.workplace, &provider, setting, &settings).unwrap()
    };
    let (certificates, without) = (with("certificates"), with("yes"));
    stand.outboard = certificates;
    for version in Version::BEFORE_POST_QUANTUM {
        let under = |name: &str, openssl: &OpenSsl| Tool {
            name: format!("{} with {name}", version.number()),
            openssl: {
                let openssl = openssl.clone();
                Box::new(move || of(version).with(&openssl))
            },
            workplace: &stand.workplace,
        };
        let ours = under("certificates", &stand.outboard);
        for native in Version::ALL.map(|version| native(&stand, version)) {
            for set in ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"] {
                ours.succeed(&format!("genpkey -algorithm {set} -out tls.key"));
                ours.succeed(
                    "req -x509 -new -key tls.key -subj /CN=tls -days 7 -config req.cnf -out tls.crt",
                );
                for (server, client) in [(&ours, &native), (&native, &ours), (&ours, &ours)] {
                    meet(server, client, set);
                }
            }
        }
        // libssl has a fault where there is such an algorithm: it is asked for by a setting of its own.
        let without = under("yes", &without);
        without.succeed("pkey -in tls.key -noout");
        without.refuse("s_server -naccept 1 -port 0 -cert tls.crt -key tls.key");
    }
    stand.assert_served(&[
        Operation::MlDsa44Sign,
        Operation::MlDsa87Sign,
        Operation::MlDsa44Verify,
        Operation::MlDsa87Verify,
    ]);
}

/// A handshake in which both show a certificate that the other one verifies.
fn meet(server: &Tool<'_>, client: &Tool<'_>, set: &str) {
    let what = format!("{} meets {}: {set}", client.name, server.name);
    let port = free_port().unwrap();
    let file = |name: &str| server.workplace.join(name);
    let mut serving = (server.openssl)()
        .args(["s_server", "-www", "-tls1_3", "-Verify", "1"])
        .args(["-verify_return_error", "-accept"])
        .arg(format!("127.0.0.1:{port}"))
        .arg("-cert")
        .arg(file("tls.crt"))
        .arg("-key")
        .arg(file("tls.key"))
        .arg("-CAfile")
        .arg(file("tls.crt"))
        .start(&file("s_server.log"))
        .unwrap();
    serving.wait_for_port(port).unwrap();
    let request = file("request");
    fs::write(&request, "GET / HTTP/1.0\r\n\r\n").unwrap();
    let met = (client.openssl)()
        .args(["s_client", "-ign_eof", "-verify_return_error", "-connect"])
        .arg(format!("127.0.0.1:{port}"))
        .arg("-cert")
        .arg(file("tls.crt"))
        .arg("-key")
        .arg(file("tls.key"))
        .arg("-CAfile")
        .arg(file("tls.crt"))
        .input(File::open(request).unwrap())
        .limit(Duration::from_secs(60))
        .finish()
        .unwrap();
    let Finished { output, errors, .. } = &met;
    let log = fs::read_to_string(file("s_server.log")).unwrap_or_default();
    // Before 3.5, `s_client` knows the object's name alone.
    let set = set.to_lowercase();
    let names = [set.replace('-', ""), format!("id-{set}")];
    let names = names.map(|name| format!("Peer signature type: {name}"));
    let told = names.iter().any(|name| output.contains(name));
    // The page comes after the server has verified the client.
    let served = ["Verify return code: 0", "HTTP/1.0 200"];
    let served = served.iter().all(|wanted| output.contains(wanted));
    assert!(told && served, "{what}\n{output}\n{errors}\n{log}");
}
