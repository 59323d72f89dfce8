//! Processes that loaded Outboard before the card service had a directory. Outboard looks for it once, when it is loaded: so
//! they read no reference to a key until they are restarted.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::Finding;
use crate::card_service::Place;
use crate::service::SUBJECT;
use outboard_installation::environment;
use outboard_processes::{
    self as processes, Process, restart_command, restart_lines, restart_names,
};

/// What names the configuration that a process reads.
const CONFIGURATION: &str = "OPENSSL_CONF";

/// As long as a system may take to start: systemd makes the directory before any server, and the clock may be wrong then.
const START: Duration = Duration::from_secs(120);

/// A difference that the clocks cannot make.
const MARGIN: Duration = Duration::from_secs(1);

/// Those of `all` that cannot use keys of the service at that place, the one in force, until they are restarted.
pub fn of<'a>(place: &Place, all: &'a [Process]) -> Vec<&'a Process> {
    let Some(since) = age_of(&place.directory) else {
        return Vec::new();
    };
    let Some(uptime) = processes::uptime() else {
        return Vec::new();
    };
    if uptime < since + START {
        return Vec::new();
    }
    let ours = environment(CONFIGURATION);
    let is_early = |process: &&Process| {
        process.outboard.is_some()
            // sshd asks the service's agent, and needs no Outboard for that.
            && !is_sshd(process)
            && processes::environment(process.pid, CONFIGURATION) == ours
            && processes::age(process.pid).is_some_and(|age| age > since + MARGIN)
    };
    all.iter().filter(is_early).collect()
}

/// The finding about them.
pub(crate) fn examine(place: &Place, all: &[Process]) -> Option<Finding> {
    let early = of(place, all);
    let names = restart_names(early.iter().copied());
    (!names.is_empty()).then(|| {
        let names = restart_lines(&names).join(", ");
        let directory = place.directory.display();
        Finding::note(
            SUBJECT,
            format!("these cannot read a reference to a key of it: {names}"),
        )
        .because(format!(
            "they loaded Outboard before {directory} existed, and a reload does not load it again"
        ))
        .remedy(match restart_command(early) {
            Some(command) => format!("run '{command}'"),
            None => "restart them".to_owned(),
        })
    })
}

fn is_sshd(process: &Process) -> bool {
    let of_sshd = |name: &str| ["ssh.service", "sshd.service"].contains(&name);
    process.name.starts_with("sshd") || process.service.as_deref().is_some_and(of_sshd)
}

/// How long ago a directory was made, where its file system keeps that.
fn age_of(directory: &Path) -> Option<Duration> {
    let made = fs::metadata(directory).ok()?.created().ok()?;
    SystemTime::now().duration_since(made).ok()
}
