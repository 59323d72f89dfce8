//! Keys of the card service in whole programs: wherever they read a key file, a reference stands in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use outboard_client::stand_in::Service;
use outboard_libcrypto::Key;
use outboard_programs::{
    ApacheOptions, ApacheWorkers, Certificate, HaProxyMode, HaProxyOptions, Launch, Nginx,
    NginxOptions, Offer, OpenSsl, SServerOptions, Workplace,
};

use crate::clients::{assert_all_answered, load};
use crate::held::{Held, serve, stock};
use crate::stand::{installed, is_stock_alone, outboard};

/// A site whose key is the service's.
pub(crate) struct Site {
    pub(crate) workplace: Workplace,
    /// Where the service's sockets are.
    directory: std::path::PathBuf,
    pub(crate) plain: OpenSsl,
    pub(crate) outboard: OpenSsl,
    keys: Arc<Vec<Held>>,
    /// Its key file holds a reference.
    pub(crate) certificate: Certificate,
    /// Its key file holds the key itself.
    pub(crate) open: Certificate,
}

impl Site {
    pub(crate) fn new(programs: &[&str], new_key: &str) -> Option<Self> {
        if is_stock_alone() || !installed(programs) {
            return None;
        }
        let workplace = Workplace::new().unwrap();
        let directory = workplace.join("run");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
        let plain = OpenSsl::stock(&workplace).unwrap();
        let settings = format!("service = {}\nservice-limit = 2\n", directory.display());
        let provider = outboard(Offer::Profile);
        let outboard =
            OpenSsl::outboard_with(&workplace, &provider, "outboard", &settings).unwrap();
        let open = Certificate::generate(&workplace, &plain, "site", new_key).unwrap();
        let held = Held::adopt(&stock(), "site", &fs::read(&open.key).unwrap());
        let key = workplace.write_secret("site.reference", held.reference());
        let certificate = Certificate {
            certificate: open.certificate.clone(),
            key: key.unwrap(),
        };
        Some(Self {
            directory,
            plain,
            outboard,
            keys: Arc::new(vec![held]),
            certificate,
            open,
            workplace,
        })
    }

    pub(crate) fn serve(&self) -> (Service, Arc<AtomicUsize>) {
        serve(&self.directory, Arc::clone(&self.keys))
    }

    pub(crate) fn fetch(&self, url: &str) -> Result<String, outboard_programs::Error> {
        self.certificate.fetch(&self.plain, url)
    }

    pub(crate) fn nginx<'a>(
        &'a self,
        openssl: &'a OpenSsl,
        certificates: &'a [&'a Certificate],
    ) -> NginxOptions<'a> {
        NginxOptions {
            openssl,
            certificates,
            files: None,
            core: None,
            settings: "",
        }
    }
}

const P256: &str = "ec -pkeyopt ec_paramgen_curve:P-256";

#[test]
fn nginx_serves_by_every_type_of_key() {
    for new_key in ["rsa:2048", P256, "ed25519"] {
        let Some(site) = Site::new(&["nginx", "curl"], new_key) else {
            return;
        };
        let (_service, asked) = site.serve();
        let certificates = [&site.certificate];
        let mut nginx =
            Nginx::start(&site.workplace, site.nginx(&site.outboard, &certificates)).unwrap();
        for turn in 1..=3 {
            assert_eq!(site.fetch(&nginx.url("")).unwrap(), "ok\n", "{new_key}");
            assert_eq!(asked.load(SeqCst), turn, "{new_key}");
        }
        nginx.reload().unwrap();
        assert_eq!(site.fetch(&nginx.url("")).unwrap(), "ok\n");
        let log = nginx.log();
        assert!(!log.contains("[alert]") && !log.contains("[crit]"), "{log}");
        assert!(nginx.stop().unwrap().status.success());
    }
}

#[test]
fn nginx_tells_of_a_dead_service_and_recovers() {
    let Some(site) = Site::new(&["nginx", "curl"], P256) else {
        return;
    };
    let (service, _) = site.serve();
    let certificates = [&site.certificate];
    let nginx = Nginx::start(&site.workplace, site.nginx(&site.outboard, &certificates)).unwrap();
    assert_eq!(site.fetch(&nginx.url("")).unwrap(), "ok\n");
    drop(service);
    assert!(site.fetch(&nginx.url("")).is_err());
    // The client may give up before nginx does.
    let since = Instant::now();
    let mut log = nginx.log();
    while !log.contains("key 'site'") && since.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(50));
        log = nginx.log();
    }
    assert!(
        log.contains("key 'site': the card service does not answer at")
            && log.contains("(run 'outboard service start --directory "),
        "{log}"
    );
    let (_service, _) = site.serve();
    assert_eq!(site.fetch(&nginx.url("")).unwrap(), "ok\n");
}

#[test]
fn nginx_refuses_another_key_s_certificate() {
    let Some(site) = Site::new(&["nginx"], P256) else {
        return;
    };
    let other = Certificate::generate(&site.workplace, &site.plain, "other", P256).unwrap();
    let mismatch = Certificate {
        certificate: other.certificate,
        key: site.certificate.key.clone(),
    };
    let certificates = [&mismatch];
    let started = Nginx::start(&site.workplace, site.nginx(&site.outboard, &certificates));
    let error = started.unwrap_err().to_string();
    assert!(error.contains("key values mismatch"), "{error}");
}

/// As its package starts it: in a chroot, as a user of its own, with certificate and key in one file.
#[test]
fn haproxy_serves_from_its_chroot() {
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    for new_key in ["rsa:2048", P256] {
        let Some(site) = Site::new(&["haproxy", "curl"], new_key) else {
            return;
        };
        let (service, asked) = site.serve();
        let options = HaProxyOptions {
            openssl: &site.outboard,
            certificates: &[&site.certificate],
            mode: HaProxyMode::Http,
            asynchronous: false,
            threads: 2,
            resumption: false,
            core: None,
            settings: "",
            bind: "",
        };
        let mut haproxy = options.start_as_packaged(&site.workplace).unwrap();
        for turn in 1..=3 {
            assert_eq!(site.fetch(&haproxy.url("")).unwrap(), "ok\n");
            assert_eq!(asked.load(SeqCst), turn);
        }
        drop(service);
        let (_service, asked) = site.serve();
        assert_eq!(site.fetch(&haproxy.url("")).unwrap(), "ok\n");
        assert_eq!(asked.load(SeqCst), 1);
        haproxy.reload().unwrap();
        assert_eq!(site.fetch(&haproxy.url("")).unwrap(), "ok\n");
        haproxy.stop().unwrap();
    }
}

/// One thread has many handshakes in progress: while the service works for one, it goes on with the others.
#[test]
fn haproxy_waits_for_many_answers_at_once() {
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    for new_key in ["rsa:2048", P256] {
        let Some(site) = Site::new(&["haproxy", "curl", "h2load"], new_key) else {
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
            bind: "",
        };
        let haproxy = options.start_as_packaged(&site.workplace).unwrap();
        let load = load(&site.plain, haproxy.port, 32, 640).succeed().unwrap();
        assert_all_answered(&load.output, 640);
        assert_eq!(asked.load(SeqCst), 640);
        let connections = service.accepted();
        assert!(
            connections > 1,
            "{connections} connection of the only thread"
        );
        haproxy.stop().unwrap();
    }
}

/// Many threads in one process.
#[test]
fn apache_serves_from_many_threads() {
    for new_key in ["rsa:2048", P256] {
        let Some(site) = Site::new(&["apache2", "curl", "h2load"], new_key) else {
            return;
        };
        let (_service, asked) = site.serve();
        let options = ApacheOptions {
            openssl: &site.outboard,
            certificates: &[&site.certificate],
            files: None,
            workers: ApacheWorkers::Threads(32),
            resumption: false,
            core: None,
            settings: "",
        };
        let apache = options.start(&site.workplace).unwrap();
        let before = asked.load(SeqCst);
        let load = load(&site.plain, apache.port, 32, 320).succeed().unwrap();
        assert_all_answered(&load.output, 320);
        assert_eq!(asked.load(SeqCst) - before, 320);
        apache.stop().unwrap();
    }
}

#[test]
fn the_openssl_command_uses_such_keys() {
    for new_key in ["rsa:2048", P256, "ed25519"] {
        let Some(site) = Site::new(&["openssl", "curl"], new_key) else {
            return;
        };
        let (_service, asked) = site.serve();
        let run = |arguments: &str| {
            let command = site.outboard.command().unwrap();
            let command = command.args(arguments.split(' ')).arg("-key");
            let command = command.arg(&site.certificate.key);
            command.directory(site.workplace.path()).succeed().unwrap()
        };
        let requested = run("req -new -subj /CN=localhost -out request.pem");
        assert!(!requested.errors.contains("rror"), "{}", requested.errors);
        let checked = site.plain.command().unwrap();
        let checked = checked.args(["req", "-verify", "-noout", "-in", "request.pem"]);
        checked.directory(site.workplace.path()).succeed().unwrap();
        run("req -x509 -days 3 -subj /CN=localhost -out signed.pem");
        let public = site.outboard.command().unwrap();
        let public = public.args(["pkey", "-pubout", "-in"]);
        let public = public.arg(&site.certificate.key).succeed().unwrap();
        let expected = site
            .plain
            .command()
            .unwrap()
            .args(["pkey", "-pubout", "-in"]);
        let expected = expected.arg(&site.open.key).succeed().unwrap();
        assert_eq!(public.output, expected.output);
        if new_key != "ed25519" {
            let signed = site
                .outboard
                .command()
                .unwrap()
                .args(["cms", "-sign", "-in"]);
            let signed = signed.arg(&site.certificate.certificate);
            let signed = signed.args(["-out", "signed.cms", "-signer"]);
            let signed = signed.arg(&site.certificate.certificate).arg("-inkey");
            let signed = signed.arg(&site.certificate.key);
            signed.directory(site.workplace.path()).succeed().unwrap();
        }
        let before = asked.load(SeqCst);
        assert!(before >= 2);
        let options = SServerOptions {
            openssl: &site.outboard,
            certificate: &site.certificate,
            asynchronous: false,
            settings: &[],
        };
        let server = options.start(&site.workplace).unwrap();
        let page = site.fetch(&server.url("")).unwrap();
        assert!(page.contains("New, TLSv1.3"), "{page}");
        assert_eq!(asked.load(SeqCst), before + 1);
    }
}

#[test]
fn the_openssl_command_opens_keys_by_name() {
    for new_key in ["rsa:2048", P256, "ed25519"] {
        let Some(site) = Site::new(&["openssl", "curl"], new_key) else {
            return;
        };
        let (_service, asked) = site.serve();
        let command = |openssl: &OpenSsl, arguments: &str| {
            let command = openssl.command().unwrap();
            let command = command.args(arguments.split(' '));
            command.directory(site.workplace.path())
        };
        let run = |arguments: &str| command(&site.outboard, arguments).succeed().unwrap();
        let own = site.open.key.display();
        let expected = command(&site.plain, &format!("pkey -pubout -in {own}"));
        let expected = expected.succeed().unwrap().output;
        assert_eq!(run("pkey -pubout -in outboard:site").output, expected);
        assert_eq!(
            run("pkey -pubin -pubout -in outboard:site").output,
            expected
        );
        let listed = run("storeutl -noout outboard:site").output;
        assert!(
            listed.contains("0: Pkey") && listed.contains("Total found: 1"),
            "{listed}"
        );
        let file = format!("storeutl -noout {own}");
        let stock = command(&site.plain, &file).succeed().unwrap();
        assert_eq!(run(&file).output, stock.output);
        run("req -new -subj /CN=localhost -key outboard:site -out request.pem");
        let verified = command(&site.plain, "req -verify -noout -in request.pem");
        verified.succeed().unwrap();
        run("x509 -req -in request.pem -signkey outboard:site -out signed.pem");
        for wrong in ["outboard:none", "outboard://site", "outboard:"] {
            let refused = command(&site.outboard, &format!("storeutl -noout {wrong}"));
            let refused = refused.finish().unwrap();
            assert!(!refused.status.success(), "{wrong}");
            assert!(
                refused.errors.contains("key 'none': there is no such key")
                    || refused.errors.contains("names no key of the card service"),
                "{}",
                refused.errors
            );
        }
        let before = asked.load(SeqCst);
        let certificate = Certificate {
            certificate: site.certificate.certificate.clone(),
            key: "outboard:site".into(),
        };
        let options = SServerOptions {
            openssl: &site.outboard,
            certificate: &certificate,
            asynchronous: false,
            settings: &[],
        };
        let server = options.start(&site.workplace).unwrap();
        let page = site.fetch(&server.url("")).unwrap();
        assert!(page.contains("New, TLSv1.3"), "{page}");
        assert_eq!(asked.load(SeqCst), before + 2, "found, and used");
    }
}

#[test]
fn clients_show_certificates_with_such_keys() {
    let Some(site) = Site::new(&["nginx", "curl", "python3"], "rsa:2048") else {
        return;
    };
    let (_service, asked) = site.serve();
    let settings = format!(
        "ssl_client_certificate {}; ssl_verify_client on;",
        site.open.certificate.display()
    );
    let certificates = [&site.open];
    let options = NginxOptions {
        settings: &settings,
        ..site.nginx(&site.plain, &certificates)
    };
    let nginx = Nginx::start(&site.workplace, options).unwrap();
    let curl = Launch::new("curl").unwrap().with(&site.outboard);
    let curl = curl
        .args(["-sSf", "--cacert"])
        .arg(&site.certificate.certificate);
    let curl = curl.arg("--cert").arg(&site.certificate.certificate);
    let curl = curl.arg("--key").arg(&site.certificate.key);
    assert_eq!(curl.arg(nginx.url("")).succeed().unwrap().output, "ok\n");
    assert_eq!(asked.load(SeqCst), 1);
    let script = "import ssl, sys, urllib.request\n\
                  context = ssl.create_default_context(cafile=sys.argv[1])\n\
                  context.load_cert_chain(sys.argv[1], sys.argv[2])\n\
                  print(urllib.request.urlopen(sys.argv[3], context=context).read().decode(), end='')";
    // The system's, which uses the system's OpenSSL.
    let python = Launch::at(Path::new("/usr/bin/python3")).with(&site.outboard);
    let python = python.args(["-c", script]);
    let python = python
        .arg(&site.certificate.certificate)
        .arg(&site.certificate.key);
    let page = python.arg(nginx.url("")).succeed().unwrap();
    assert_eq!(page.output, "ok\n");
    assert_eq!(asked.load(SeqCst), 2);
}

/// Where such a reader finds a key's numbers in a process, by name.
fn found(process: u32, key: &Key, names: &[&'static std::ffi::CStr]) -> Vec<String> {
    let numbers: Vec<_> = names
        .iter()
        .map(|name| (name, key.number(name).unwrap()))
        .collect();
    let mut found = Vec::new();
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let memory = fs::File::open(format!("/proc/{process}/mem")).unwrap();
    for line in maps.lines() {
        let (range, rest) = line.split_once(' ').unwrap();
        if !rest.starts_with("rw") && !rest.starts_with("r-") {
            continue;
        }
        let (from, to) = range.split_once('-').unwrap();
        let parse = |text| u64::from_str_radix(text, 16).unwrap();
        let mut bytes = vec![0; (parse(to) - parse(from)) as usize];
        let read = std::os::unix::fs::FileExt::read_at(&memory, &mut bytes, parse(from));
        bytes.truncate(read.unwrap_or(0));
        for (name, number) in &numbers {
            // Limbs in memory are the bytes backwards.
            let backwards: Vec<u8> = number.iter().rev().copied().collect();
            for (order, pattern) in [("forwards", &number[..]), ("backwards", &backwards)] {
                // A part is enough, and shorter than any other form of the whole.
                let pattern = &pattern[8..24];
                let first = pattern[0];
                let mut rest = &bytes[..];
                while let Some(at) = rest.iter().position(|&byte| byte == first) {
                    if rest[at..].starts_with(pattern) {
                        found.push(format!("{name:?} {order} in {line}"));
                        break;
                    }
                    rest = &rest[at + 1..];
                }
            }
        }
    }
    found
}

#[test]
fn no_number_of_the_key_is_in_a_serving_worker() {
    let rsa = &[
        c"d",
        c"rsa-factor1",
        c"rsa-factor2",
        c"rsa-exponent1",
        c"rsa-coefficient1",
    ][..];
    for (new_key, names) in [("rsa:2048", rsa), (P256, &[c"priv"][..])] {
        let Some(site) = Site::new(&["nginx", "curl"], new_key) else {
            return;
        };
        let (_service, _) = site.serve();
        let scan = |openssl: &OpenSsl, certificate: &Certificate| {
            let certificates = [certificate];
            let nginx = Nginx::start(&site.workplace, site.nginx(openssl, &certificates)).unwrap();
            assert_eq!(site.fetch(&nginx.url("")).unwrap(), "ok\n");
            found(nginx.workers()[0], &site.keys[0].key, names)
        };
        let stock = scan(&site.plain, &site.open);
        assert!(!stock.is_empty(), "the scan finds nothing under stock");
        let served = scan(&site.outboard, &site.certificate);
        assert!(served.is_empty(), "{served:#?}");
    }
}
