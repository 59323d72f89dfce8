//! The trading application of `samples/trading`: a Java server (Debian's Tomcat, or Open Liberty) with a database.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::server::{Server, Site};
use crate::workplace::free_port;
use crate::{Certificate, Error, Finished, Launch, OpenSsl, PATIENCE, PostgreSql, Workplace};

/// How a server with the application is to run.
#[derive(Clone, Copy, Debug)]
pub struct TradingOptions<'a> {
    /// What the command `openssl` reads, which writes the key store.
    pub openssl: &'a OpenSsl,
    /// The database, which [`Trading::fill`] has filled.
    pub database: &'a PostgreSql,
    /// What the server shows to clients.
    pub certificate: &'a Certificate,
    /// Where the certificate's key is used.
    pub key: TradingKey<'a>,
    /// The directory of Open Liberty; otherwise the server is Tomcat.
    pub liberty: Option<&'a Path>,
    /// The core that its threads are held to.
    pub core: Option<usize>,
}

/// Where a Java server uses its key.
#[derive(Clone, Copy, Debug)]
pub enum TradingKey<'a> {
    /// In the process, with the JDK's own code.
    File,
    /// In the process, with the PKCS #11 module.
    Accelerator {
        /// The module's file.
        module: &'a Path,
        /// What the module reads in `OUTBOARD_PKCS11`.
        settings: &'a str,
    },
    /// In the process, with our provider for Java.
    Provider {
        /// `outboard.jar`.
        jar: &'a Path,
        /// What it reads in the property `outboard.settings`.
        settings: &'a str,
    },
    /// In the card service.
    Coprocessor {
        /// The module's file.
        module: &'a Path,
        /// What the module reads in `OUTBOARD_PKCS11`.
        settings: &'a str,
        /// The key's name in the service, which has its certificate, too.
        name: &'a str,
    },
}

/// A running server, killed when dropped.
#[derive(Debug)]
pub struct Trading {
    server: Server,
    http: u16,
}

/// A name, and the content of that file of the sample.
macro_rules! sample {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../samples/trading/", $name)),
        )
    };
}

/// The files of the sample, as a program needs them that is installed without it.
const FILES: [(&str, &str); 7] = [
    sample!("server.sh"),
    sample!("tomcat.xml"),
    sample!("liberty.xml"),
    sample!("schema.sql"),
    sample!("src/trading/Application.java"),
    sample!("src/trading/Market.java"),
    sample!("src/trading/Page.java"),
];

impl Trading {
    /// Makes the application's tables and their content.
    ///
    /// # Errors
    /// If psql is missing or fails.
    pub fn fill(
        database: &PostgreSql,
        openssl: &OpenSsl,
        workplace: &Workplace,
    ) -> Result<(), Error> {
        database
            .client("psql", openssl)?
            .args(["--quiet", "--set", "ON_ERROR_STOP=1", "--file"])
            .arg(sample_in(workplace)?.join("schema.sql"))
            .succeed()?;
        Ok(())
    }

    /// Where it answers TLS.
    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// Where it answers without TLS, for a web server in front.
    pub fn http(&self) -> u16 {
        self.http
    }

    /// CPU time so far: user and system, every thread.
    pub fn cpu(&self) -> Duration {
        self.server.cpu()
    }

    /// What it wrote to its log.
    pub fn log(&self) -> String {
        self.server.log()
    }

    /// Stops it.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub fn stop(self) -> Result<Finished, Error> {
        self.server.stop()
    }
}

impl TradingOptions<'_> {
    /// Compiles the application, starts a server and waits until the application answers.
    ///
    /// # Errors
    /// If Java or the server is missing, or does not come up.
    pub fn start(&self, workplace: &Workplace) -> Result<Trading, Error> {
        let site = Site::new(workplace, "trading")?;
        let http = free_port()?;
        let (place, alias) = match self.key {
            TradingKey::File => ("file", ALIAS),
            TradingKey::Accelerator { .. } => ("accelerator", ALIAS),
            TradingKey::Provider { .. } => ("provider", ALIAS),
            TradingKey::Coprocessor { name, .. } => ("coprocessor", name),
        };
        let mut launch = Launch::new("bash")?
            .arg(sample_in(workplace)?.join("server.sh"))
            .env("TRADING_DIRECTORY", &site.directory)
            .env("TRADING_DATABASE", self.database.jdbc())
            .env("TRADING_HTTPS", site.port.to_string())
            .env("TRADING_HTTP", http.to_string())
            .env("TRADING_KEY", place)
            .env("TRADING_ALIAS", alias)
            .env("TRADING_LIBERTY", self.liberty.unwrap_or(Path::new("")))
            .on(self.core);
        match self.key {
            TradingKey::File => {}
            TradingKey::Provider { jar, settings } => {
                launch = launch
                    .env("TRADING_JAR", jar)
                    .env("TRADING_SETTINGS", settings);
            }
            TradingKey::Accelerator { module, settings }
            | TradingKey::Coprocessor {
                module, settings, ..
            } => {
                launch = launch
                    .env("TRADING_MODULE", module)
                    .env("OUTBOARD_PKCS11", settings);
            }
        }
        if !matches!(self.key, TradingKey::Coprocessor { .. }) {
            let store = workplace.join(site.file("store.p12"));
            self.write_store(&store)?;
            launch = launch.env("TRADING_STORE", store);
        }
        let server = site.serve(launch, None)?;
        let trading = Trading { server, http };
        trading.wait_for_the_application()?;
        Ok(trading)
    }

    /// The key and the certificate as PKCS #12.
    fn write_store(&self, store: &Path) -> Result<(), Error> {
        self.openssl
            .command()?
            .args(["pkcs12", "-export", "-passout", "pass:changeit"])
            .args(["-name", ALIAS, "-inkey"])
            .arg(&self.certificate.key)
            .arg("-in")
            .arg(&self.certificate.certificate)
            .arg("-out")
            .arg(store)
            .succeed()?;
        Ok(())
    }
}

/// The name of the key in a key store of its own.
const ALIAS: &str = "trading";

impl Trading {
    /// Liberty listens before the application is there. A user who is not logged in is refused then.
    fn wait_for_the_application(&self) -> Result<(), Error> {
        let start = std::time::Instant::now();
        while !self.refuses_strangers() {
            if start.elapsed() > PATIENCE {
                return Err(Error::TimedOut {
                    program: "java".to_owned(),
                    doing: "to serve the application",
                    limit: PATIENCE,
                    errors: crate::process::tail(&self.log()),
                });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn refuses_strangers(&self) -> bool {
        let ask = || -> std::io::Result<Vec<u8>> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.http))?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            stream.write_all(
                b"GET /trade/home HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            )?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer)?;
            Ok(answer)
        };
        ask().is_ok_and(|answer| answer.starts_with(b"HTTP/1.1 403 "))
    }
}

/// The sample in a workplace; written when it is first asked for.
fn sample_in(workplace: &Workplace) -> Result<PathBuf, Error> {
    let directory = workplace.join("trading-sample");
    if !directory.exists() {
        let sources = directory.join("src/trading");
        fs::create_dir_all(&sources).map_err(Error::file("make", &sources))?;
        for (name, text) in FILES {
            workplace.write(&format!("trading-sample/{name}"), text)?;
        }
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PostgreSqlOptions, missing};

    #[test]
    fn serves_who_is_logged_in() {
        if !missing(&["curl", "initdb", "java", "javac", "postgres", "psql"]).is_empty() {
            return;
        }
        let workplace = Workplace::new().unwrap();
        let openssl = OpenSsl::stock(&workplace).unwrap();
        let certificate = Certificate::generate(&workplace, &openssl, "rsa", "rsa:2048").unwrap();
        let database = PostgreSqlOptions {
            openssl: &openssl,
            certificate: &certificate,
            core: None,
        };
        let database = database.start(&workplace).unwrap();
        Trading::fill(&database, &openssl, &workplace).unwrap();
        let options = TradingOptions {
            openssl: &openssl,
            database: &database,
            certificate: &certificate,
            key: TradingKey::File,
            liberty: None,
            core: None,
        };
        let server = options.start(&workplace).unwrap();
        let jar = workplace.join("cookies");
        let ask = |path: &str, fields: &[&str]| {
            let fields = fields.iter().flat_map(|field| ["--data-urlencode", field]);
            let curl = Launch::new("curl").unwrap().args(["-sS", "--cacert"]);
            let curl = curl.arg(&certificate.certificate).args(fields);
            let curl = curl.arg("-b").arg(&jar).arg("-c").arg(&jar);
            let page = curl.arg(format!("https://localhost:{}/trade/{path}", server.port()));
            page.succeed().unwrap().output
        };
        let says = |page: &str, text: &str| assert!(page.contains(text), "{page}");
        says(&ask("portfolio", &[]), "Log in");
        says(&ask("login", &["user=uid:7", "password=wrong"]), "is wrong");
        says(&ask("login", &["user=uid:7", "password=xxx"]), "User 7");
        says(
            &ask("buy", &["symbol=s:1", "quantity=4294967297"]),
            "from 1 to",
        );
        says(
            &ask("buy", &["symbol=s:1", "quantity=3"]),
            "<td>buy</td><td>s:1</td><td>3</td>",
        );
        // The sixth; the next number is not this user's.
        says(
            &ask("portfolio", &[]),
            "<td>2501</td><td>s:1</td><td>3</td>",
        );
        says(&ask("sell", &["holding=2"]), "no such holding");
        says(&ask("sell", &["holding=2501"]), "<td>sell</td>");
        assert!(!ask("portfolio", &[]).contains("2501"));
        says(
            &ask("account", &["name=<b>", "address=a", "email=\""]),
            "value=\"&lt;b&gt;\"",
        );
        says(&ask("quotes?symbols=s:3,s:4,x", &[]), "Company 4 ");
        let person = ["user=new", "password=p", "name=N", "address=a", "email=e"];
        says(&ask("register", &person), "Welcome, N");
        says(&ask("register", &person), "already a user");
        says(&ask("logout", &["x=y"]), "logged out");
        says(&ask("home", &[]), "Log in");
        assert!(!server.cpu().is_zero());
        server.stop().unwrap();
    }
}
