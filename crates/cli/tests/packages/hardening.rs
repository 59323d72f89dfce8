//! What a unit's hardening takes from Outboard: the tables of docs/hardening.md, row by row, with nginx as it is packaged.

use crate::house::House;
use crate::servers::{APACHE, HAPROXY, NGINX, POSTGRESQL, SSH};
use std::path::Path;

/// A row of a table: the lines of a unit's drop-in, and what the document says of them.
struct Row {
    setting: String,
    /// What is lost.
    lost: String,
    /// What doctor says of it; empty where it has nothing to say.
    said: String,
    /// What to do: a setting that is to be added brings all of it back.
    remedy: String,
}

/// The rows of the table below the heading.
fn table(heading: &str) -> Vec<Row> {
    let rows = cells(heading).into_iter().map(|row| {
        let mut cells = row.into_iter();
        let mut cell = || cells.next().unwrap_or_default();
        Row {
            setting: cell(),
            lost: cell(),
            said: cell(),
            remedy: cell(),
        }
    });
    rows.collect()
}

/// The cells of each row.
fn cells(heading: &str) -> Vec<Vec<String>> {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hardening.md");
    let text = std::fs::read_to_string(document).expect("it is in the repository");
    let (_, section) = text
        .split_once(&format!("## {heading}\n"))
        .unwrap_or_else(|| panic!("no section {heading:?}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let rows: Vec<Vec<String>> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(cells)
        .collect();
    assert!(!rows.is_empty(), "no rows below {heading:?}");
    rows
}

/// The settings of a cell, each between backquotes.
fn settings(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

struct Stand {
    house: House,
    modules: String,
}

impl Stand {
    fn new() -> Option<Self> {
        let house = House::new(&["nginx", "curl"])?;
        NGINX.prepare(&house);
        house.enable();
        let modules =
            house.shell("openssl version -m | sed -n 's/^MODULESDIR: \"\\(.*\\)\"$/\\1/p'");
        Some(Self {
            modules: modules.trim().to_owned(),
            house,
        })
    }

    /// nginx with these settings, started anew: whether it answers.
    fn answers_with(&self, settings: &[&str]) -> bool {
        let lines = settings.join("\n").replace("MODULESDIR", &self.modules);
        let machine = &self.house.machine;
        machine
            .write(
                "/etc/systemd/system/nginx.service.d/try.conf",
                format!("[Service]\n{lines}\n"),
            )
            .expect("it is the machine's");
        self.house.shell(
            "systemctl stop nginx; systemctl reset-failed nginx || true; systemctl daemon-reload",
        );
        self.house.forget();
        machine.start("nginx").is_ok() && self.house.asks(NGINX.ask)
    }

    fn is_counted(&self) -> bool {
        let key = ("nginx".to_owned(), "rsa-2048-sign".to_owned());
        self.house.served().contains_key(&key)
    }

    fn is_loaded(&self) -> bool {
        self.house
            .asks("grep -q 'r-xp.*/outboard.so' /proc/$(systemctl show -P MainPID nginx)/maps")
    }

    /// What doctor says of the system, and of the service's process.
    fn doctor(&self) -> String {
        self.house.stock_shell(
            "export -n OPENSSL_CONF; outboard doctor || true\n\
             outboard doctor --pid $(systemctl show -P MainPID nginx) 2>&1 || true",
        )
    }
}

/// systemd removes what the user of such a service has in /dev/shm, our ledger among it: docs/hardening.md says so.
#[test]
fn the_ledger_of_a_dynamic_user_goes_with_the_service() {
    let Some(stand) = Stand::new() else {
        return;
    };
    let ledgers = |setting: &str| {
        let command = "openssl genpkey -algorithm X25519 -out /dev/null; ls /dev/shm";
        let unit = format!(
            "[Service]\nType=oneshot\n{setting}\nExecStart=sh -ec '{command}'\n\
             StandardOutput=truncate:/root/listed\n"
        );
        let House { machine, .. } = &stand.house;
        machine
            .write("/etc/systemd/system/try.service", unit)
            .expect("it is the machine's");
        stand.house.shell("systemctl daemon-reload");
        machine.start("try").expect("it runs");
        (
            stand.house.shell("cat /root/listed"),
            stand.house.shell("ls /dev/shm"),
        )
    };
    // Programs of root, systemd's own among them, may have made one meanwhile.
    let of_user = |listed: &str| {
        let mut ledgers = listed.lines().filter(|name| *name != "outboard.0");
        ledgers.next().map(str::to_owned)
    };
    for setting in ["DynamicUser=yes", "User=nobody\nRemoveIPC=yes"] {
        let (within, after) = ledgers(setting);
        assert!(of_user(&within).is_some(), "{setting}: {within}");
        assert_eq!(of_user(&after), None, "{setting}");
    }
    let (within, after) = ledgers("User=nobody");
    assert!(of_user(&within).is_some() && of_user(&after) == of_user(&within));
}

#[test]
fn what_hardening_takes_away_is_as_documented() {
    let Some(stand) = Stand::new() else {
        return;
    };
    let mut wrong = Vec::new();
    let mut expect = |is_so: bool, row: &Row, what: &str| {
        if !is_so {
            wrong.push(format!("{}: {what}\n{}", row.setting, stand.doctor()));
        }
    };
    let nothing = table("What takes nothing away");
    for row in &nothing {
        for setting in settings(&row.setting) {
            let answers = stand.answers_with(&setting.split("; ").collect::<Vec<_>>());
            expect(answers && stand.is_counted(), row, "answers and is counted");
        }
        expect(
            !stand.doctor().contains("nginx.service counts"),
            row,
            "nothing to say",
        );
    }
    for row in table("What is lost") {
        for setting in settings(&row.setting) {
            let answers = stand.answers_with(&setting.split("; ").collect::<Vec<_>>());
            let (is_loaded, is_counted) = (stand.is_loaded(), stand.is_counted());
            let (expected, so) = match row.lost.as_str() {
                "the counts" => (
                    "answers, is loaded, is not counted",
                    answers && is_loaded && !is_counted,
                ),
                "Outboard" => ("answers without Outboard", answers && !is_loaded),
                "the service" => ("is killed", !answers),
                other => panic!("what is lost is {other:?}"),
            };
            expect(so, &row, expected);
            expect(stand.doctor().contains(&row.said), &row, "said by doctor");
            if row.remedy.starts_with("add ") {
                for added in self::settings(&row.remedy) {
                    let both = [setting, added].map(|setting| setting.split("; "));
                    let answers =
                        stand.answers_with(&both.into_iter().flatten().collect::<Vec<_>>());
                    expect(answers && stand.is_counted(), &row, "the remedy works");
                }
            }
        }
    }
    // Without any of it, all is there again.
    assert!(stand.answers_with(&[]) && stand.is_counted());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table of five servers and the settings that people set first.
#[test]
fn each_server_answers_and_is_counted_as_documented() {
    let programs = [
        "a2enmod", "nginx", "haproxy", "sshd", "ssh", "postgres", "psql", "curl",
    ];
    let Some(house) = House::new(&programs) else {
        return;
    };
    let cluster = house.shell("echo postgresql@$(ls /etc/postgresql | head -n1)-main");
    let rows = cells("Each server");
    let mut wrong = Vec::new();
    for (column, server) in [NGINX, HAPROXY, APACHE, POSTGRESQL, SSH].iter().enumerate() {
        server.prepare(&house);
        let unit = match server.unit {
            "postgresql@*-main" => cluster.trim(),
            unit => unit,
        };
        let answers = || {
            let _ = house.shell(&format!(
                "systemctl stop {unit}; systemctl reset-failed {unit} || true"
            ));
            house.forget();
            let asked = format!(
                "for try in $(seq 30); do {{ {} && exit 0; }} || sleep 0.1; done; exit 1",
                server.ask
            );
            house.machine.start(unit).is_ok() && house.asks(&asked)
        };
        for row in &rows {
            let lines = settings(&row[0]).concat().replace("; ", "\n");
            let drop_in = format!("/etc/systemd/system/{unit}.service.d/try.conf");
            house
                .machine
                .write(&drop_in, format!("[Service]\n{lines}\n"))
                .expect("it is the machine's");
            house.shell("systemctl daemon-reload");
            house.enable();
            let is_counted = |operation: &&str| {
                let key = (server.program.to_owned(), (*operation).to_owned());
                house.served().contains_key(&key)
            };
            let found = match answers() {
                true if server.operations.iter().all(is_counted) => "counted",
                true => "answers",
                false => {
                    house.disable();
                    match answers() {
                        true => "fails",
                        false => "stock fails",
                    }
                }
            };
            if row[column + 1] != found {
                wrong.push(format!("{unit}, {lines}: {found}"));
            }
        }
        let _ = house.machine.stop(unit);
        house.shell(&format!(
            "rm -r /etc/systemd/system/{unit}.service.d; systemctl daemon-reload"
        ));
        house.disable();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
