//! Does a running HAProxy have spare file descriptors for the handshakes that it pauses?
//!
//! Each paused handshake takes a descriptor. HAProxy counts a descriptor for each of OpenSSL's engines, but none for a
//! provider.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Finding;
use outboard_processes::{self as processes, Process};

/// What each HAProxy among `processes` that loaded Outboard lacks. Processes that were started alike, such as a master
/// and its workers, give one finding.
pub(crate) fn examine<'a>(processes: impl IntoIterator<Item = &'a Process>) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    processes
        .into_iter()
        .filter(|process| process.name == "haproxy" && process.outboard.is_some())
        .filter_map(|process| Started::read(process.pid))
        .filter(|started| seen.insert((started.files.clone(), started.most)))
        .filter_map(|started| started.finding())
        .collect()
}

/// How an HAProxy was started.
struct Started {
    /// The files and directories that `-f` and `--` name.
    files: Vec<PathBuf>,
    /// The number of `-n`, which replaces the configuration's `maxconn`.
    most: Option<u64>,
}

impl Started {
    fn read(pid: u32) -> Option<Self> {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let arguments = String::from_utf8_lossy(&arguments);
        Some(Self::parse(
            arguments.split_terminator('\0').skip(1),
            &PathBuf::from(format!("/proc/{pid}/cwd")),
        ))
    }

    /// Reads its arguments (haproxy(1)); names that are not absolute are those of `directory`.
    fn parse<'a>(mut arguments: impl Iterator<Item = &'a str>, directory: &Path) -> Self {
        let mut started = Self {
            files: Vec::new(),
            most: None,
        };
        let mut directory = directory.to_owned();
        while let Some(argument) = arguments.next() {
            match argument {
                "-f" => started.files.extend(arguments.next().map(PathBuf::from)),
                "-n" => started.most = arguments.next().and_then(|most| most.parse().ok()),
                // Where it is now, unless it has gone elsewhere since.
                "-C" => directory.extend(arguments.next().filter(|name| name.starts_with('/'))),
                "--" => started.files.extend(arguments.by_ref().map(PathBuf::from)),
                _ => {}
            }
        }
        for file in &mut started.files {
            *file = directory.join(&*file);
        }
        started
    }

    fn finding(&self) -> Option<Finding> {
        let mut settings = Settings::default();
        for file in &self.files {
            let texts = match texts(file) {
                Ok(texts) => texts,
                Err(error) => {
                    let file = file.display();
                    let what = format!("cannot read {file} of a running HAProxy: {error}");
                    return Some(Finding::note("haproxy", what));
                }
            };
            texts.iter().for_each(|text| settings.add(text));
        }
        settings.most = self.most.or(settings.most);
        let files: Vec<String> = self.files.iter().map(|f| f.display().to_string()).collect();
        settings.finding(&files.join(", "))
    }
}

/// The text of a file, or of the files of a directory that HAProxy reads.
fn texts(path: &Path) -> io::Result<Vec<String>> {
    if !path.is_dir() {
        return Ok(vec![processes::text(path)?]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".cfg") && !name.starts_with('.') {
            files.push(entry.path());
        }
    }
    files.iter().map(|file| processes::text(file)).collect()
}

/// The settings that matter here.
#[derive(Default)]
struct Settings {
    asynchronous: bool,
    /// `maxconn` of `global`.
    most: Option<u64>,
    frontends: Vec<Frontend>,
    /// `maxconn` of the `defaults` above.
    usual: Option<u64>,
}

#[derive(Default)]
struct Frontend {
    most: Option<u64>,
    has_tls: bool,
}

impl Settings {
    /// Adds a file.
    fn add(&mut self, text: &str) {
        let mut section = "";
        for line in text.lines() {
            let mut words = line.split('#').next().unwrap_or("").split_whitespace();
            let first = words.next().unwrap_or("");
            let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
            let frontend = self.frontends.last_mut();
            match (section, first) {
                (_, "frontend" | "listen") => {
                    section = "frontend";
                    self.frontends.push(Frontend {
                        most: self.usual,
                        has_tls: false,
                    });
                }
                (_, "defaults") => {
                    section = "defaults";
                    self.usual = None;
                }
                (_, "global") => section = "global",
                (_, name) if OTHER_SECTIONS.contains(&name) => section = "",
                ("global", "ssl-mode-async") => self.asynchronous = true,
                // The first one holds.
                ("global", "maxconn") => self.most = self.most.or(number(words.next())),
                ("defaults", "maxconn") => self.usual = number(words.next()),
                ("frontend", "maxconn") => {
                    if let Some(frontend) = frontend {
                        frontend.most = number(words.next());
                    }
                }
                ("frontend", "bind") => {
                    if let Some(frontend) = frontend {
                        frontend.has_tls |= words.any(|word| word == "ssl");
                    }
                }
                _ => {}
            }
        }
    }

    fn finding(&self, files: &str) -> Option<Finding> {
        if !self.frontends.iter().any(|frontend| frontend.has_tls) {
            return None;
        }
        if !self.asynchronous {
            return Some(
                Finding::note("haproxy", format!("{files} does not say ssl-mode-async"))
                    .because("each of its threads then does one handshake at a time")
                    .remedy("see docs/servers.md"),
            );
        }
        let is_limited = self
            .frontends
            .iter()
            .all(|frontend| frontend.most.is_some() || !frontend.has_tls);
        let taken: u64 = self.frontends.iter().filter_map(|one| one.most).sum();
        let has_room = is_limited && self.most.is_some_and(|most| 2 * most >= 3 * taken);
        if has_room {
            return None;
        }
        let what = format!("{files}: there may be too few descriptors for paused handshakes");
        Some(
            Finding::note("haproxy", what)
                .because(
                    "each one takes a descriptor that HAProxy does not count; without a descriptor, operations \
                     run immediately and do not share lanes",
                )
                .remedy("set maxconn in the frontends; set maxconn in global to 1.5 times their sum"),
        )
    }
}

/// Sections that end the one before them and say nothing of this.
const OTHER_SECTIONS: [&str; 10] = [
    "backend",
    "userlist",
    "peers",
    "mailers",
    "resolvers",
    "cache",
    "program",
    "http-errors",
    "ring",
    "log-forward",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn what(texts: &[&str]) -> Option<String> {
        let mut settings = Settings::default();
        texts.iter().for_each(|text| settings.add(text));
        settings.finding("haproxy.cfg").map(|finding| finding.what)
    }

    const WITH_ROOM: &str = "global\n maxconn 3000\n ssl-mode-async\n\
                             frontend a\n bind :443 ssl crt x.pem\n maxconn 2000 # served\n";

    #[test]
    fn an_haproxy_needs_room() {
        assert_eq!(what(&[WITH_ROOM]), None);
        let is_short =
            |texts: &[&str]| what(texts).is_some_and(|what| what.contains("too few descriptors"));
        assert!(is_short(&[&WITH_ROOM.replace("3000", "2999")]));
        assert!(is_short(&[&WITH_ROOM.replace(" maxconn 2000", "")]));
        assert!(is_short(&[&WITH_ROOM.replace(" maxconn 3000\n", "")]));
        // All files count together.
        assert!(is_short(&[
            WITH_ROOM,
            "listen b\n bind :8443\n maxconn 1\n"
        ]));
        assert_eq!(what(&[WITH_ROOM, "backend b\n maxconn 1\n"]), None);
        let usual = WITH_ROOM.replace("frontend a", "defaults\n maxconn 2000\nfrontend a");
        assert_eq!(what(&[&usual.replace("2000 # served", "1")]), None);
        assert_eq!(
            what(&[&usual.replace(" maxconn 2000 # served\n", "")]),
            None
        );
        assert!(is_short(&[&usual
            .replace("maxconn 2000\nfr", "maxconn 2001\nfr")
            .replace(" maxconn 2000 # served\n", "")]));
    }

    #[test]
    fn without_pauses_there_is_less_to_gain() {
        let without = WITH_ROOM.replace(" ssl-mode-async\n", "");
        assert!(what(&[&without]).is_some_and(|what| what.contains("ssl-mode-async")));
        assert_eq!(what(&["global\n maxconn 9\nfrontend a\n bind :80\n"]), None);
    }

    #[test]
    fn every_file_is_read_that_was_named() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let directory = root.path().join("d");
        fs::create_dir(&directory).expect("it is ours");
        for (name, text) in [
            ("d/1.cfg", WITH_ROOM),
            ("d/.hidden.cfg", "listen h\n maxconn 9000\n"),
            ("d/notes", "listen n\n maxconn 9000\n"),
            ("more", "listen m\n maxconn 9000\n"),
        ] {
            fs::write(root.path().join(name), text).expect("it is ours");
        }
        let started = |arguments: &str| Started::parse(arguments.split(' '), root.path());
        assert!(started("-W -db -f d -sf 7").finding().is_none());
        assert!(started("-f d -n 1").finding().is_some());
        assert!(started("-f d -f more").finding().is_some());
        let elsewhere = format!("-C {} -- 1.cfg", directory.display());
        assert!(started(&elsewhere).finding().is_none());
        assert!(started(&format!("{elsewhere} ../more")).finding().is_some());
        let missing = started("-f nowhere").finding().expect("it tells");
        assert!(missing.what.contains("cannot read"), "{}", missing.what);
    }
}
