//! Process trees, read from `/proc`: sshd's sessions leave its process group, so that a group is
//! not enough.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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

/// Every living process that has this path among its arguments.
pub(crate) fn processes_told(path: &Path) -> Vec<u32> {
    let is_told = |&process: &u32| {
        let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let mut arguments = arguments.split(|&byte| byte == 0);
        arguments.any(|argument| argument == path.as_os_str().as_bytes())
    };
    let processes = parents().into_iter().map(|(process, _)| process);
    processes.filter(is_told).collect()
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
    let all = processes().into_iter();
    all.filter(|process| !process.has_ended)
        .map(|process| (process.id, process.parent))
        .collect()
}

/// Whether a process has a child that has ended, and for which it has not waited: its time is told nowhere.
pub(crate) fn has_ended_child(parent: u32) -> bool {
    let mut all = processes().into_iter();
    all.any(|process| process.parent == parent && process.has_ended)
}

struct Process {
    id: u32,
    parent: u32,
    has_ended: bool,
}

fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name, in parentheses, may itself hold spaces and parentheses.
            let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            Some(Process {
                id,
                parent,
                has_ended: matches!(state, "Z" | "X"),
            })
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
    fn a_process_is_found_by_what_it_was_told() {
        let path = Path::new("/nowhere/of-this-test");
        assert!(processes_told(path).is_empty());
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 300; true", "sh", "/nowhere/of-this-test"])
            .spawn()
            .unwrap();
        let start = Instant::now();
        while processes_told(path) != [shell.id()] {
            assert!(start.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_tree(shell.id());
        shell.wait().unwrap();
    }

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
