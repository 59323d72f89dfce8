//! Cryptography that Outboard does not serve: other libraries, and copies of OpenSSL that a package or a program brings.

use crate::Finding;
use crate::own_code::{self, Code, Kind};
use outboard_elf as elf;
use outboard_installation as system;
use outboard_processes::libraries::{self, Library, is_openssl_3, is_openssl_tls};
use outboard_processes::mapped::{self, Mapped};
use outboard_processes::{Process, is_ours, restart_lines};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A file with such cryptography.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unserved {
    /// What it is, and its file.
    pub(crate) what: String,
    pub(crate) because: String,
    pub(crate) remedy: String,
}

/// A smaller file holds no copy of OpenSSL, BoringSSL or AWS-LC: each has more code than that.
const LEAST: u64 = 512 << 10;
/// No program and no library is larger. Of a larger file, this much is read.
const LARGEST: u64 = 512 << 20;
/// What one run of the command reads.
const MOST: u64 = 2 << 30;

/// Reads files, each once and not more than [`MOST`] together.
pub(crate) struct Scanner {
    left: u64,
    known: BTreeMap<(String, u64), Option<Unserved>>,
    /// The files that were not read.
    unread: Vec<PathBuf>,
    /// The system's libcrypto.
    pub(crate) libcrypto: Option<PathBuf>,
}

impl Scanner {
    pub(crate) fn new() -> Self {
        // The loader alone knows which file it is.
        let files = system::library().map(|_| mapped::code(std::process::id()));
        let libcrypto = files.into_iter().flatten().flatten();
        Self {
            left: MOST,
            known: BTreeMap::new(),
            unread: Vec::new(),
            libcrypto: libcrypto
                .map(|file| file.path)
                .find(|path| is_openssl_3(path)),
        }
    }

    /// The cryptography in one file that Outboard does not serve. `open` opens the file.
    pub(crate) fn examine(
        &mut self,
        path: &Path,
        open: impl FnOnce() -> std::io::Result<File>,
    ) -> Option<Unserved> {
        let library = libraries::library(path);
        if let Some(Library::Other(name)) = library {
            return Some(Unserved {
                what: format!("{name} ({})", path.display()),
                because: format!("{name} has no OpenSSL providers"),
                remedy: without_providers(name).into(),
            });
        }
        if is_ours(path) || self.is_of_the_system(path) {
            return None;
        }
        match self.code(library, open) {
            Ok(code) => describe(path, library, &code),
            Err(_) => {
                self.unread.push(path.to_owned());
                None
            }
        }
    }

    /// Its name is that of the system's libcrypto. (After an update, or in a container, the file may be another.)
    fn is_of_the_system(&self, path: &Path) -> bool {
        let name = path.to_string_lossy();
        let name = Path::new(name.strip_suffix(" (deleted)").unwrap_or(&name));
        let is_it = |path: &Path| Some(path) == self.libcrypto.as_deref();
        is_it(name) || name.canonicalize().is_ok_and(|name| is_it(&name))
    }

    fn code(
        &mut self,
        library: Option<Library>,
        open: impl FnOnce() -> std::io::Result<File>,
    ) -> std::io::Result<Code> {
        let file = open()?;
        if library.is_none() && file.metadata()?.len() < LEAST {
            return Ok(Code::default());
        }
        if self.left == 0 {
            return Err(std::io::Error::other("enough was read"));
        }
        let (code, read) = own_code::examine(&file, &elf::loaded(&file), self.left.min(LARGEST))?;
        self.left -= read;
        Ok(code)
    }

    /// The unserved cryptography of a process: each file of it.
    pub(crate) fn of_process(&mut self, process: &Process) -> Vec<Unserved> {
        let files = mapped::code(process.pid).unwrap_or_default();
        let does_tls_with_openssl = files.iter().any(|file| is_openssl_tls(&file.path));
        let mut all = Vec::new();
        for file in &files {
            // A library that some other library of the process needs says little, if OpenSSL is there for TLS.
            if does_tls_with_openssl
                && matches!(libraries::library(&file.path), Some(Library::Other(_)))
            {
                continue;
            }
            all.extend(self.of_file(process.pid, file));
        }
        all
    }

    fn of_file(&mut self, pid: u32, file: &Mapped) -> Option<Unserved> {
        if let Some(known) = self.known.get(&file.identity) {
            return known.clone();
        }
        let found = self.examine(&file.path, || file.open(pid));
        self.known.insert(file.identity.clone(), found.clone());
        found
    }

    /// What to say of the files that were not read.
    pub(crate) fn unread(&self) -> Option<Finding> {
        let first = self.unread.first()?.display();
        let what = match self.unread.len() {
            1 => format!("{first} was not examined"),
            more => format!("{first} and {} more files were not examined", more - 1),
        };
        Some(Finding::note("cryptography", what).because(
            "it cannot be read, was replaced after the process started, or too much was to be read: it may contain a \
             copy of OpenSSL",
        ))
    }
}

/// The findings about running processes: those with the same cryptography on one line.
pub(crate) fn examine(processes: &[Process]) -> Vec<Finding> {
    let mut scanner = Scanner::new();
    let mut users: BTreeMap<Unserved, Vec<String>> = BTreeMap::new();
    for process in processes {
        for unserved in scanner.of_process(process) {
            users
                .entry(unserved)
                .or_default()
                .push(process.restart_name());
        }
    }
    let finding = |(unserved, mut names): (Unserved, Vec<String>)| {
        names.sort();
        names.dedup();
        let names = restart_lines(&names).join(", ");
        let what = format!("not served by Outboard: {} in {names}", unserved.what);
        Finding::note("cryptography", what)
            .because(unserved.because)
            .remedy(unserved.remedy)
    };
    let mut findings: Vec<Finding> = users.into_iter().map(finding).collect();
    findings.extend(scanner.unread());
    findings
}

/// The same about a file that a program names or is.
pub(crate) fn of_files<'a>(
    scanner: &mut Scanner,
    files: impl IntoIterator<Item = &'a Path>,
) -> Vec<Unserved> {
    files
        .into_iter()
        .filter_map(|path| scanner.examine(path, || mapped::open(path)))
        .collect()
}

fn describe(path: &Path, library: Option<Library>, code: &Code) -> Option<Unserved> {
    let file = path.display();
    let within = match library {
        Some(_) => format!("({file})"),
        None => format!("inside {file}"),
    };
    let version = code.version.as_deref().unwrap_or("of an unknown version");
    let Some(kind) = code.kinds.first() else {
        // Its name says what its texts do not.
        return library.map(|_| Unserved {
            what: format!("a copy of OpenSSL, of an unknown version {within}"),
            because: "a copy of OpenSSL reads a configuration of its own, or none".into(),
            remedy: of_copy(path, library, code),
        });
    };
    let name = match kind {
        Kind::OpenSsl => format!("a copy of OpenSSL {version}"),
        Kind::OldOpenSsl => format!("a copy of OpenSSL {version} or of LibreSSL"),
        Kind::BoringSsl => "BoringSSL".to_owned(),
        Kind::AwsLc => "AWS-LC".to_owned(),
        Kind::Go => "Go's own cryptography".to_owned(),
        Kind::Shared => {
            "code that OpenSSL, BoringSSL, AWS-LC and ring share (its texts do not say which of them it is)".to_owned()
        }
    };
    let also = match code.kinds.get(1) {
        Some(Kind::AwsLc) => " and AWS-LC",
        Some(Kind::BoringSsl) => " and BoringSSL",
        _ => "",
    };
    let because = match (kind, &code.configuration) {
        (Kind::OpenSsl, Some(directory)) => {
            format!(
                "this copy reads {directory}/openssl.cnf, unless OPENSSL_CONF names another file"
            )
        }
        (Kind::OpenSsl, None) => {
            "a copy of OpenSSL reads a configuration of its own, or none".into()
        }
        (Kind::OldOpenSsl, _) => "it has no providers".into(),
        (Kind::Shared, _) => "Outboard serves only what asks the system's OpenSSL 3".into(),
        (Kind::BoringSsl | Kind::AwsLc | Kind::Go, _) => format!("{name} has no OpenSSL providers"),
    };
    let remedy = match kind {
        Kind::OpenSsl | Kind::OldOpenSsl => of_copy(path, library, code),
        Kind::BoringSsl | Kind::AwsLc | Kind::Go => without_providers(&name).into(),
        Kind::Shared => "see docs/incompatibilities.md".into(),
    };
    Some(Unserved {
        what: format!("{name}{also} {within}"),
        because,
        remedy,
    })
}

/// What to do about a library that cannot load a provider.
fn without_providers(name: &str) -> &'static str {
    match name {
        "NSS" | "BoringSSL" | "AWS-LC" | "Go's own cryptography" => {
            "none for this program; in front of a server, HAProxy or nginx can do TLS with OpenSSL"
        }
        _ => "install a build that uses OpenSSL 3, if there is one",
    }
}

/// What to do about a copy of OpenSSL.
fn of_copy(path: &Path, library: Option<Library>, code: &Code) -> String {
    if let Some(own) = crate::program::reads_its_own_section(path.file_name().unwrap_or_default()) {
        return own.remedy.unwrap_or_default();
    }
    let is_wheel = ["site-packages", "dist-packages"]
        .iter()
        .any(|directory| path.iter().any(|part| part == *directory));
    if is_wheel {
        return "install the distribution's package of this Python library, or let pip build it with 'pip install \
                --no-binary' (docs/incompatibilities.md, Python wheels)"
            .into();
    }
    match (library, &code.configuration, &code.modules) {
        // Only a shared library gives a module what it needs; and its directories must be of this machine.
        (Some(_), Some(configuration), Some(modules)) if Path::new(configuration).is_dir() => {
            format!(
                "run 'outboard enable --config {configuration}/openssl.cnf', and copy outboard.so into {modules}"
            )
        }
        _ => "install a build that is linked with the system's OpenSSL 3, if there is one".into(),
    }
}

/// Which of these files name a library themselves: `libssh2.so.1` names `libcrypto.so.3`.
pub(crate) fn users_of<'a>(
    library: &Path,
    files: impl IntoIterator<Item = &'a Path>,
) -> Vec<String> {
    let name = libraries::file_name(library);
    let uses = |file: &&Path| {
        mapped::open(file).is_ok_and(|file| elf::needed(&file).iter().any(|one| one == name))
    };
    let users = files.into_iter().filter(uses);
    users
        .map(|file| libraries::file_name(file).to_owned())
        .collect()
}
