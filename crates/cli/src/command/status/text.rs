//! The report for people. The first line follows the rules for a Nagios plugin. The rest explains it.

use super::{Report, Service};
use crate::command::doctor;
use crate::command::service::{last, master_key};
use crate::table::{Align, Table};
use outboard_ledger_report::{Served, seconds};
use outboard_processes::restart_lines;
use outboard_wording::{count, printable};

/// The number of programs that fit on a screen.
const SHOWN: usize = 10;

impl Report {
    /// All of it.
    pub(super) fn text(&self) -> String {
        let mut text = self.first_line() + "\n\n";
        let mut say = |label: &str, what: String| {
            text += &format!("{label:<10} {}\n", printable(&what));
        };
        let configuration = self.configuration.as_ref();
        let file = configuration.map_or_else(
            || "no configuration".to_owned(),
            |file| file.display().to_string(),
        );
        match (&self.since, self.on) {
            (Some(since), true) => {
                say("on", format!("for programs started since {since} ({file})"))
            }
            _ => {
                let reason = match self.offer.as_deref() {
                    Some("none") => "tells Outboard to offer nothing",
                    _ => "does not switch Outboard on",
                };
                say("off", format!("{file} {reason}"));
            }
        }
        if let Some(serves) = &self.serves {
            say("serves", serves.clone());
        }
        if self.observed {
            say(
                "observed",
                "'outboard observe --all' shows the cryptography of every program".into(),
            );
        }
        if let Some(place) = self.post_quantum {
            let groups = match place {
                "first" => "groups of TLS 1.3 for servers and clients",
                _ => "groups of TLS 1.3 for servers; clients begin with another",
            };
            say("quantum", format!("{groups} (docs/post-quantum.md)"));
        }
        let (with, without) = (
            self.processes.with_outboard,
            self.processes.without_outboard,
        );
        let earlier = match self.processes.outdated {
            0 => String::new(),
            outdated => format!(" ({outdated} an earlier version)"),
        };
        say(
            "processes",
            format!("{with} use Outboard{earlier}, {without} use OpenSSL without Outboard"),
        );
        say("served", self.served_text(&self.total));
        say("saved", saved_text(&self.total));
        if let Some(service) = &self.service {
            say("service", service.text());
            if let Some(complaint) = &service.complaint {
                say("complaint", last(complaint));
            }
        }
        if !self.processes.with_references.is_empty() {
            let names = restart_lines(&self.processes.with_references).join(", ");
            say(
                "references",
                format!("to keys of the card service: {names}"),
            );
        }
        if !self.programs.is_empty() {
            text += &format!("\n{}", self.table().render());
            if self.programs.len() > SHOWN {
                text += &format!(
                    "and {} more: 'outboard stats --all'\n",
                    self.programs.len() - SHOWN
                );
            }
        }
        text + &self.to_do()
    }

    /// `OUTBOARD OK - …|served=…`: a state, a sentence, and figures as plugins give them.
    fn first_line(&self) -> String {
        let state = if self.is_well() { "OK" } else { "WARNING" };
        let what = match (self.on, self.problems.len()) {
            (_, 1) => "1 problem".to_owned(),
            (_, problems @ 2..) => format!("{problems} problems"),
            (false, _) => "off".to_owned(),
            (true, _) => format!(
                "on for {}",
                self.serves.as_deref().unwrap_or("every program")
            ),
        };
        let saved = self.total.saved_cpu_seconds;
        let saved = saved
            .map(|saved| format!(" saved={saved:.3}s"))
            .unwrap_or_default();
        format!(
            "OUTBOARD {state} - {}|asked={}c served={}c{saved} problems={}",
            printable(&what).replace('|', "/"),
            self.total.asked,
            self.total.served,
            self.problems.len()
        )
    }

    fn served_text(&self, served: &Served) -> String {
        let (Some(share), Some(since)) = (served.share(), &self.counted_since) else {
            return "no program has asked for an operation yet".into();
        };
        format!(
            "{} of {} operations ({share:.0} %) since {since}",
            count(served.served),
            count(served.asked)
        )
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("program", Align::Left),
            ("running", Align::Right),
            ("asked", Align::Right),
            ("served", Align::Right),
            ("CPU time saved", Align::Right),
        ]);
        for program in self.programs.iter().take(SHOWN) {
            let served = &program.served;
            table.row([
                printable(&program.program),
                count(program.running as u64),
                count(served.asked),
                served
                    .share()
                    .map(|share| format!("{share:.0} %"))
                    .unwrap_or_default(),
                served.saved_cpu_seconds.map(seconds).unwrap_or_default(),
            ]);
        }
        table
    }

    /// The problems, and the commands that help.
    fn to_do(&self) -> String {
        let mut text: String = self.problems.iter().map(doctor::text).collect();
        if !self.on && self.problems.is_empty() {
            text += "to switch it on: outboard enable\n";
        }
        if let Some(command) = &self.processes.restart_command {
            text += &format!("to restart running services with Outboard: {command}\n");
        }
        match text.is_empty() {
            true => text,
            false => format!("\n{text}"),
        }
    }
}

impl Service {
    fn text(&self) -> String {
        match (self.keys, self.master_key, &self.reason) {
            (Some(keys), Some(master), _) => format!(
                "running; keys: {}; master key: {}",
                count(keys),
                master_key(master)
            ),
            (.., Some(reason)) => format!("the card service {reason}"),
            (.., None) => "the card service does not run".to_owned(),
        }
    }
}

fn saved_text(served: &Served) -> String {
    match served.saved_cpu_seconds {
        Some(saved) => format!("{} of CPU time, by this machine's profile", seconds(saved)),
        None if served.served == 0 => "nothing yet".into(),
        None => "not known: this machine was not measured ('outboard calibrate')".into(),
    }
}
