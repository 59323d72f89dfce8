//! Memory of the card service that may reach a swap device.

use std::fs;
use std::process::{Command, Stdio};

use outboard_administration::Status;

use crate::card_service::Place;
use crate::service::{SUBJECT, entering, restart};
use crate::{Finding, State};

/// The finding about a service whose memory is not locked.
pub(crate) fn examine(place: &Place, status: &Status) -> Option<Finding> {
    if status.locked_memory {
        return None;
    }
    let (because, mut remedy) = match place.is_system() {
        true => of_system(unit_limit(place).as_deref(), status),
        false => (
            "its limit of locked memory forbids it ('ulimit -l')",
            format!(
                "raise the limit as root ('ulimit -l unlimited') where the service is started, then {}",
                restart(place, Some(status))
            ),
        ),
    };
    let has_swap = has_swap();
    if !has_swap {
        remedy =
            format!("nothing need be done as long as there is no swap device; otherwise {remedy}");
    }
    let because = match has_swap {
        true => format!("{because}, so a swap device may receive keys"),
        false => because.to_owned(),
    };
    // A service for development has no keys that matter.
    let state = match place.is_system() && has_swap {
        true => State::Problem,
        false => State::Note,
    };
    Some(
        Finding::new(state, SUBJECT, "the card service's memory is not locked")
            .because(because)
            .remedy(remedy),
    )
}

/// Why, and what to do: by what the unit says; none where there is no systemd.
fn of_system(unit_limit: Option<&str>, status: &Status) -> (&'static str, String) {
    match unit_limit {
        Some("infinity") | None => (
            "the limit of this container or machine counts, too, and it forbids it",
            format!(
                "start the container with '--ulimit memlock=-1' or '--cap-add IPC_LOCK'{}",
                entering(status)
            ),
        ),
        Some(_) => (
            "a limit (LimitMEMLOCK=) forbids it",
            format!(
                "run 'systemctl edit outboard.service' and add 'LimitMEMLOCK=infinity' below '[Service]', then \
                 'systemctl restart outboard.service'{}",
                entering(status)
            ),
        ),
    }
}

/// What the unit says; none where there is no systemd.
fn unit_limit(place: &Place) -> Option<String> {
    place.units.first()?;
    let shown = Command::new("systemctl")
        .args([
            "show",
            "outboard.service",
            "--property=LimitMEMLOCK",
            "--value",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let limit = String::from_utf8_lossy(&shown.stdout).trim().to_owned();
    (!limit.is_empty()).then_some(limit)
}

/// Whether the system has a swap device. (In doubt, it has.)
pub fn has_swap() -> bool {
    fs::read_to_string("/proc/swaps").map_or(true, |text| names_swap(&text))
}

/// Whether there is a line below the titles.
fn names_swap(swaps: &str) -> bool {
    swaps.lines().skip(1).any(|line| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_administration::{Master, MasterState, Served};

    fn status(source: &str) -> Status {
        Status {
            outboard: String::new(),
            pid: 1,
            since: 0,
            store: String::new(),
            master: Master {
                state: MasterState::Open,
                patterns: [None, None, None],
                parts: 0,
                phase: "idle".to_owned(),
                source: Some(source.to_owned()),
            },
            keys: 0,
            connections: 0,
            lanes: false,
            locked_memory: false,
            served: Served::default(),
            complaint: None,
        }
    }

    #[test]
    fn a_unit_that_allows_it_is_not_blamed() {
        let parts = status("parts");
        for limit in [Some("infinity"), None] {
            let (because, remedy) = of_system(limit, &parts);
            assert!(because.contains("container"), "{because}");
            assert!(remedy.contains("memlock=-1"), "{remedy}");
        }
        let (_, remedy) = of_system(Some("65536"), &parts);
        assert!(remedy.contains("LimitMEMLOCK=infinity"), "{remedy}");
        assert!(remedy.contains("outboard service enter"), "{remedy}");
        let (_, remedy) = of_system(Some("65536"), &status("credential"));
        assert!(!remedy.contains("service enter"), "{remedy}");
    }

    #[test]
    fn swap_devices_are_listed_below_the_titles() {
        let titles = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        assert!(!names_swap(titles));
        assert!(names_swap(&format!("{titles}/dev/sda2 partition 1 0 -2\n")));
    }
}
