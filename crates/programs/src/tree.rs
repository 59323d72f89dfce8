//! Process trees, read from `/proc`: sshd's sessions leave its process group, so that a group is
//! not enough.

use std::fs;

/// Every living descendant of a process, children before grandchildren.
pub fn descendants(ancestor: u32) -> Vec<u32> {
    let parents = parents();
    let mut found = Vec::new();
    let mut generation = vec![ancestor];
    while !generation.is_empty() {
        generation = parents
            .iter()
            .filter(|(_, parent)| generation.contains(parent))
            .map(|&(process, _)| process)
            .collect();
        found.extend(&generation);
    }
    found
}

/// Kills a process and all its descendants.
pub fn kill_tree(process: u32) {
    // Stopped first: it can then not start another while the tree is read.
    signal(process, libc::SIGSTOP);
    let family = descendants(process);
    signal(process, libc::SIGKILL);
    for member in family {
        signal(member, libc::SIGKILL);
    }
}

pub(crate) fn signal(process: u32, signal: libc::c_int) {
    let Ok(process) = libc::pid_t::try_from(process) else {
        return;
    };
    // 0 and 1 would be our own group and init.
    if process > 1 {
        // SAFETY: kill touches no memory of ours.
        unsafe { libc::kill(process, signal) };
    }
}

/// (process, parent) of all living processes; the dead that wait to be reaped don't count.
fn parents() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name, in parentheses, may itself hold spaces and parentheses.
            let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            (state != "Z" && state != "X").then_some((process, parent))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATIENCE;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn grandchildren_that_left_the_group_die_too() {
        let mut shell = Command::new("sh")
            .args(["-c", "setsid sleep 300 & wait"])
            .spawn()
            .unwrap();
        let family = loop {
            let family = descendants(shell.id());
            if family.len() == 1 {
                break family;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        kill_tree(shell.id());
        shell.wait().unwrap();
        let start = Instant::now();
        while parents().iter().any(|&(process, _)| process == family[0]) {
            assert!(start.elapsed() < PATIENCE, "process {} lives on", family[0]);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
