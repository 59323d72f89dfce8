//! The system's service, which systemd starts and stops.

use std::path::Path;
use std::process::{Command, ExitCode};

use outboard_installation::has_service;

use super::answer;
use crate::Failure;
use crate::output::print;
use crate::service_is_missing;

/// The sockets that start the service when a program connects.
const SOCKETS: [&str; 3] = [
    "outboard.socket",
    "outboard-chroot.socket",
    "outboard-agent.socket",
];

pub(super) fn start() -> Result<(), Failure> {
    if !has_service() {
        return Err(service_is_missing().into());
    }
    if !outboard_installation::has_systemd() {
        return Err(
            "systemd does not run here, so it cannot start the service. Let what starts the programs of this system start \
             'outboardd --store /var/lib/outboard/store' as the user 'outboard' (docs/containers.md has examples), or start a \
             service of your own with 'outboard service start --directory DIR'"
                .into(),
        );
    }
    systemctl("start")
}

pub(super) fn stop(directory: &Path) -> Result<ExitCode, Failure> {
    let before = answer(directory);
    systemctl("stop")?;
    let held: Vec<_> = SOCKETS.into_iter().filter(|name| is_active(name)).collect();
    if !held.is_empty() {
        let without = match before.as_ref().map(|status| &status.master) {
            Some(master) if master.source.as_deref() == Some("parts") => {
                ", without its master key: then type 'outboard service enter'"
            }
            _ => "",
        };
        print(&format!(
            "The service has stopped. systemd holds its sockets, so the next program that asks starts it again{without}.\n\
             To keep it stopped, run:\n  systemctl stop {} outboard.service\n",
            held.join(" ")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_active(unit: &str) -> bool {
    let mut command = Command::new("systemctl");
    let status = command.args(["--quiet", "is-active", unit]).status();
    status.is_ok_and(|status| status.success())
}

fn systemctl(verb: &str) -> Result<(), Failure> {
    let mut command = Command::new("systemctl");
    let status = command.args([verb, "outboard.service"]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!(
            "systemctl could not {verb} outboard.service (see 'systemctl status outboard')"
        )
        .into()),
        Err(error) => Err(format!(
            "cannot run systemctl: {error} (without systemd, run 'outboardd' as the user 'outboard')"
        )
        .into()),
    }
}
