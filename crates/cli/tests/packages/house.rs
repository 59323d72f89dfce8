//! A machine with Outboard installed on it, and what every test asks of it.

use outboard_programs::{Error, Machine, Workplace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{are_installed, module, observer, token};

/// The machine, and where it is kept.
pub(crate) struct House {
    pub(crate) machine: Machine,
    built: PathBuf,
    // After the machine, which lies in it.
    _workplace: Workplace,
}

/// On the busiest machine, under the load of its own.
const PATIENCE: Duration = Duration::from_secs(600);

/// What the machine's own programs read that are to be stock.
const STOCK: &str = "OPENSSL_CONF=/dev/null";

impl House {
    /// With these programs, and Outboard as `make install` installs it; it is not enabled. None where there can be none.
    pub(crate) fn new(programs: &[&str]) -> Option<Self> {
        if let Some(obstacle) = Machine::obstacle() {
            eprintln!("passed over: {obstacle}");
            return None;
        }
        if !are_installed(programs) {
            return None;
        }
        let workplace = Workplace::new().expect("a directory");
        let machine = Machine::boot(&workplace).expect("it boots");
        let house = Self {
            built: PathBuf::from("/root/built"),
            machine,
            _workplace: workplace,
        };
        house.make_certificate();
        house.link_build();
        house.install();
        Some(house)
    }

    /// `make install`, in the machine, of what cargo built for the tests.
    pub(crate) fn install(&self) {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let make = self.machine.run("make").expect("nsenter is installed");
        make.arg("-C")
            .arg(repository)
            .args(["install", "CARGO=/nowhere/cargo", "STRIP="])
            .arg(format!("release={}", self.built.display()))
            .env("OPENSSL_CONF", "/dev/null")
            .limit(PATIENCE)
            .succeed()
            .expect("it is installed");
    }

    /// Under the names that the Makefile expects; which command `outboard-bench` is does not matter to it.
    fn link_build(&self) {
        let command = assert_cmd::cargo::cargo_bin("outboard");
        let files = [
            ("outboard", &command),
            ("outboard-bench", &command),
            ("outboardd", &command.with_file_name("outboardd")),
            ("liboutboard.so", &module()),
            ("liboutboard_pkcs11.so", &token()),
            ("liboutboard_observe.so", &observer()),
            ("liboutboard_stopwatch.so", &observer()),
            ("libcsulcca.so", &token()),
        ];
        let built = self.machine.path(&self.built);
        std::fs::create_dir_all(&built).expect("it is the machine's");
        for (name, file) in files {
            std::os::unix::fs::symlink(file, built.join(name)).expect("it is the machine's");
        }
    }

    /// Where the packages' configurations look for one. (Debian's ssl-cert makes it, without a name that clients accept.)
    fn make_certificate(&self) {
        self.shell(
            "cd /etc/ssl\n\
             printf '[req]\\ndistinguished_name=name\\n[name]\\n' >/tmp/req.cnf\n\
             OPENSSL_CONF=/tmp/req.cnf openssl req -x509 -newkey rsa:2048 -nodes -days 7 -subj /CN=localhost \
                 -addext subjectAltName=DNS:localhost -keyout private/ssl-cert-snakeoil.key \
                 -out certs/ssl-cert-snakeoil.pem 2>/dev/null\n\
             chown root:ssl-cert private/ssl-cert-snakeoil.key; chmod 640 private/ssl-cert-snakeoil.key\n\
             cat certs/ssl-cert-snakeoil.pem private/ssl-cert-snakeoil.key >private/site.pem\n\
             chmod 600 private/site.pem",
        );
    }

    /// Starts the card service as its document says. Its programs are there already, in the place of the package's.
    pub(crate) fn start_service(&self) {
        let start = recipe("service", "Start");
        let start = start
            .lines()
            .filter(|line| !line.starts_with("apt install"));
        let start: Vec<_> = start.collect();
        // Where an administrator may write.
        self.shell(&format!("cd /tmp\nsystemd-sysusers\n{}", start.join("\n")));
    }

    /// Every program of the machine that starts from now on.
    pub(crate) fn enable(&self) {
        self.shell("outboard enable --offer all");
    }

    /// Takes that back.
    pub(crate) fn disable(&self) {
        self.shell("outboard disable");
    }

    /// What a script prints.
    #[track_caller]
    pub(crate) fn shell(&self, script: &str) -> String {
        self.try_shell(script)
            .unwrap_or_else(|error| panic!("{script}\n{error}"))
    }

    /// The same, where it may fail.
    pub(crate) fn try_shell(&self, script: &str) -> Result<String, Error> {
        let bash = self.machine.run("bash")?;
        let run = bash.args(["-euo", "pipefail", "-c", script]);
        Ok(run.limit(PATIENCE).succeed()?.output)
    }

    /// What a script prints whose programs use stock.
    #[track_caller]
    pub(crate) fn stock_shell(&self, script: &str) -> String {
        self.shell(&format!("export {STOCK}\n{script}"))
    }

    /// Whether it says that.
    pub(crate) fn asks(&self, script: &str) -> bool {
        self.try_shell(&format!("export {STOCK}\n{script}")).is_ok()
    }

    /// What each program counted in ledgers that root sees: program and operation, and how often Outboard did it.
    pub(crate) fn served(&self) -> BTreeMap<(String, String), u64> {
        let text = self.stock_shell("outboard stats --all --json");
        let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let list = |value: &serde_json::Value, name: &str| {
            value[name].as_array().cloned().unwrap_or_default()
        };
        let mut served = BTreeMap::new();
        for process in list(&document, "ledgers")
            .iter()
            .flat_map(|ledger| list(ledger, "processes"))
        {
            for work in list(&process, "work") {
                let word =
                    |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
                if word(&work["path"]) != "stock" {
                    let key = (word(&process["program"]), word(&work["operation"]));
                    *served.entry(key).or_default() += work["operations"].as_u64().unwrap_or(0);
                }
            }
        }
        served
    }

    /// Forgets what was counted.
    pub(crate) fn forget(&self) {
        self.shell("rm -f /dev/shm/outboard.*");
    }

    /// Nothing of a unit died of a signal, says systemd, in all that it was started and reloaded.
    #[track_caller]
    pub(crate) fn assert_no_crash(&self, unit: &str) {
        let journal = self.shell(&format!("journalctl --no-pager -o cat -u {unit}"));
        for word in [
            "code=killed",
            "code=dumped",
            "exited on signal",
            "Segmentation",
        ] {
            assert!(!journal.contains(word), "{unit}: {word}\n{journal}");
        }
    }
}

/// What a document types below a heading, line by line.
pub(crate) fn recipe(document: &str, heading: &str) -> String {
    let block = block(document, heading, "console");
    let typed = block.lines().filter_map(|line| line.strip_prefix("# "));
    typed.map(|line| format!("{line}\n")).collect()
}

/// The first block of a language below a heading of a document.
pub(crate) fn block(document: &str, heading: &str, language: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/{document}.md"));
    let text = std::fs::read_to_string(file).expect("it is in the repository");
    let (_, section) = text
        .split_once(&format!("# {heading}\n"))
        .unwrap_or_else(|| panic!("no section {heading:?}"));
    let (_, block) = section
        .split_once(&format!("```{language}\n"))
        .expect("a block of lines");
    let (block, _) = block.split_once("```").expect("its end");
    block.to_owned()
}
