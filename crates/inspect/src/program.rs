//! Can a program use Outboard at all?

use crate::Error;
use crate::configuration::enable_command;
use crate::process::left_out;
use crate::unserved::{self, Scanner, Unserved, users_of};
use crate::{Finding, State};
use outboard_elf::{self as elf, Elf};
use outboard_installation::{self as system, InForce, Switch, changeable_by_others};
use outboard_processes::libraries::{
    self as library, Library, file_name, is_openssl_3, is_openssl_tls,
};
use outboard_processes::mapped;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is said of the libraries that a program loads.
const LIBRARIES: &str = "libraries";

/// Examines a program, or the interpreter of a script.
///
/// # Errors
/// When there is no such program.
pub(crate) fn examine(program: &OsStr) -> Result<Vec<Finding>, Error> {
    let mut path = find(program)?;
    let mut findings = Vec::new();
    if let Some(interpreter) = script_interpreter(&path) {
        findings.push(Finding::note(
            "program",
            format!(
                "{} is a script for {}",
                path.display(),
                interpreter.display()
            ),
        ));
        path = find(interpreter.as_os_str())?;
    }
    let name = path.display();
    let elf = Elf::read(&path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let Some(elf) = elf else {
        findings.push(Finding::problem(
            "program",
            format!("{name} is not a program for this kind of machine"),
        ));
        return Ok(findings);
    };
    let mut scanner = Scanner::new();
    let Some(loader) = elf.interpreter.filter(|_| path.metadata().is_ok()) else {
        let own = unserved::of_files(&mut scanner, [path.as_path()]);
        findings.push(statically_linked(&name.to_string(), &own));
        return Ok(findings);
    };
    const SETUID_OR_SETGID: u32 = 0o6000;
    if path
        .metadata()
        .is_ok_and(|meta| meta.mode() & SETUID_OR_SETGID != 0)
    {
        findings.push(
            Finding::note(
                "program",
                format!(
                    "{name} runs with its owner's rights, and OpenSSL then ignores OPENSSL_CONF"
                ),
            )
            .remedy("use 'outboard enable'; 'outboard run' has no effect on it"),
        );
    }
    let mut all = match needed_libraries(&loader, &path) {
        Ok(libraries) => by_libraries(&path, &libraries, &mut scanner),
        Err(reason) => {
            let what = format!("the libraries of {name} cannot be listed");
            let own = unserved::of_files(&mut scanner, [path.as_path()]);
            let own = own.into_iter().map(|own| contains(&name.to_string(), own));
            own.chain([Finding::note(LIBRARIES, what).because(reason)])
                .collect()
        }
    };
    all.extend(scanner.unread());
    if let Some(own) = reads_its_own_section(path.file_name().unwrap_or_default()) {
        match all
            .iter_mut()
            .find(|finding| finding.state == State::Problem)
        {
            // Its own copy of OpenSSL reads a configuration too, but another section.
            Some(problem) => {
                problem.why = Some(own.what);
                problem.remedy = own.remedy;
            }
            None => all.push(own),
        }
    }
    let is_served = all
        .iter()
        .any(|finding| finding.subject == LIBRARIES && finding.state == State::Good);
    findings.extend(all);
    if is_served {
        findings.extend(switched_off(&path));
    }
    Ok(findings)
}

/// What keeps a program from Outboard that can use it: the configuration.
fn switched_off(program: &Path) -> Option<Finding> {
    let in_force = InForce::find(&system::library().ok()?).ok()?;
    let file = in_force.path()?.to_owned();
    if Switch::of(&in_force).rollout.is_none() {
        let finding = Finding::note(
            "settings",
            "Outboard is off, so only 'outboard run' gives it to this program",
        )
        .because(format!("{} does not load it", file.display()))
        .remedy(format!("run '{}'", enable_command(&in_force)));
        return Some(finding);
    }
    left_out(file_name(program), "")
}

/// The findings from the program's file and its libraries.
fn by_libraries(program: &Path, libraries: &[PathBuf], scanner: &mut Scanner) -> Vec<Finding> {
    let name = program.display().to_string();
    let files = || std::iter::once(program).chain(libraries.iter().map(PathBuf::as_path));
    let mut unserved = unserved::of_files(scanner, files());
    let libcrypto = libraries.iter().find(|library| is_openssl_3(library));
    let Some(libcrypto) = libcrypto else {
        if unserved.is_empty() {
            return vec![only_linked(program).unwrap_or_else(|| later(&name))];
        }
        return unserved
            .into_iter()
            .map(|own| contains(&name, own))
            .collect();
    };
    let libcrypto_is_unserved = |one: &Unserved| one.what.contains(&*libcrypto.to_string_lossy());
    if let Some(at) = unserved.iter().position(libcrypto_is_unserved) {
        let other = unserved.remove(at);
        unserved.insert(0, other);
        return unserved
            .into_iter()
            .map(|own| contains(&name, own))
            .collect();
    }
    let users = users_of(libcrypto, files());
    let is_direct = users.iter().any(|user| user == file_name(program));
    let has_tls = libraries.iter().any(|library| is_openssl_tls(library));
    let users = match is_direct || users.is_empty() {
        true => String::new(),
        false => format!(" (for {})", users.join(", ")),
    };
    let uses = format!("{name} uses {}", libcrypto.display());
    let other_tls = libraries
        .iter()
        .find(|library| matches!(library::library(library), Some(Library::Other(_))));
    if let (Some(other), false, false) = (other_tls, has_tls, is_direct)
        && let Some(Library::Other(what)) = library::library(other)
    {
        let finding = Finding::problem(
            LIBRARIES,
            format!(
                "{name} does TLS with {what} ({}), not with OpenSSL 3",
                other.display()
            ),
        )
        .because(format!(
            "its libraries do not include OpenSSL's libssl; it loads {}{users}",
            libcrypto.display()
        ))
        .remedy("install a build that uses OpenSSL 3 for TLS, if there is one");
        return vec![finding];
    }
    let also = unserved.into_iter().map(|one| {
        Finding::note(
            "cryptography",
            format!(
                "{name} also loads {}, which Outboard does not serve",
                one.what
            ),
        )
        .because(one.because)
    });
    std::iter::once(Finding::good(LIBRARIES, uses))
        .chain(also)
        .collect()
}

/// The finding about a program that names one of these libraries itself. (Many programs load one of them for another
/// library: libsystemd loads libgcrypt. That says nothing.)
fn only_linked(program: &Path) -> Option<Finding> {
    const LIBRARIES: [(&str, &str); 4] = [
        ("libgcrypt.so", "libgcrypt"),
        ("libnettle.so", "Nettle"),
        ("libsodium.so", "libsodium"),
        ("libbotan-", "Botan"),
    ];
    let needed = elf::needed(&mapped::open(program).ok()?);
    let (name, what) = needed.iter().find_map(|name| {
        let named = LIBRARIES.iter().find(|(stem, _)| name.starts_with(stem));
        Some((name, named?.1))
    })?;
    let unserved = Unserved {
        what: format!("{what} ({name})"),
        because: format!("{what} has no OpenSSL providers"),
        remedy: "none for this program".into(),
    };
    Some(contains(&program.display().to_string(), unserved))
}

/// The finding about a program whose cryptography Outboard does not serve.
pub(crate) fn contains(name: &str, unserved: Unserved) -> Finding {
    Finding::problem(
        "cryptography",
        format!("{name} uses {}, not the system's OpenSSL 3", unserved.what),
    )
    .because(unserved.because)
    .remedy(unserved.remedy)
}

/// Programs that read OpenSSL's configuration, but another section of it than every other program does.
pub(crate) fn reads_its_own_section(program: &OsStr) -> Option<Finding> {
    let is_node = ["node", "nodejs"].map(OsStr::new).contains(&program);
    is_node.then(|| {
        Finding::note(
            "program",
            "Node.js reads only the section nodejs_conf of openssl.cnf",
        )
        .because("so it does not load the providers that other programs load")
        .remedy(
            "start it with --openssl-shared-config, for example in NODE_OPTIONS; if it has its own copy of OpenSSL, set \
             OPENSSL_MODULES too (see docs/incompatibilities.md)",
        )
    })
}

fn later(name: &str) -> Finding {
    Finding::note(
        LIBRARIES,
        format!(
            "{name} is not linked with OpenSSL; it may load OpenSSL later, as Python does, or never"
        ),
    )
    .remedy("start it, then run 'outboard doctor --pid PID'")
}

/// The finding about a program that contains all its code itself.
pub(crate) fn statically_linked(name: &str, own: &[Unserved]) -> Finding {
    let because = match own.first() {
        Some(own) => format!("it loads no provider; it contains {}", own.what),
        None => {
            "it loads no provider; no cryptography that doctor recognises was found in it".into()
        }
    };
    Finding::problem("program", format!("{name} is linked statically"))
        .because(because)
        .remedy("install a dynamically linked build, if there is one")
}

pub(crate) fn find(program: &OsStr) -> Result<PathBuf, Error> {
    let directories = if program.as_bytes().contains(&b'/') {
        vec![PathBuf::new()]
    } else {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
    };
    let mut candidates = directories.iter().map(|directory| directory.join(program));
    candidates.find(|path| path.is_file()).ok_or_else(|| {
        format!(
            "there is no program {} (name it with its path)",
            program.display()
        )
        .into()
    })
}

/// `/usr/bin/python3` of a file that begins with `#!/usr/bin/python3` or `#!/usr/bin/env python3`.
fn script_interpreter(path: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(path)
        .ok()?
        .take(256)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|&byte| byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace();
    let interpreter = Path::new(words.next()?);
    if interpreter.file_name() == Some(OsStr::new("env")) {
        return words
            .find(|word| !word.starts_with('-') && !word.contains('='))
            .map(PathBuf::from);
    }
    Some(interpreter.to_owned())
}

/// The libraries that the dynamic loader would load. The loader's `--list` runs no code of the program. But it runs
/// audit libraries that the program names, and a file may name any other file as its loader. So this function examines no
/// file that other users could have changed.
///
/// # Errors
/// In words.
fn needed_libraries(loader: &Path, program: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |path: &Path| {
        let path = path.display().to_string();
        move |error| format!("cannot examine {path}: {error}")
    };
    let loader = loader.canonicalize().map_err(cannot(loader))?;
    let program = program.canonicalize().map_err(cannot(program))?;
    if !is_loader(&loader) {
        let loader = loader.display();
        return Err(format!(
            "it names the dynamic loader {loader}, which is not one of a Linux system"
        ));
    }
    let user = rustix::process::geteuid().as_raw();
    for file in [&loader, &program] {
        if let Some(changeable) = changeable_by_others(file, user).map_err(cannot(file))? {
            let changeable = changeable.display();
            return Err(format!(
                "other users can change {changeable}, and this check would run their code"
            ));
        }
    }
    let answer = Command::new(&loader)
        .arg("--list")
        .arg(&program)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", loader.display()))?;
    if !answer.status.success() {
        return Err(format!("{} rejects it", loader.display()));
    }
    let listing = String::from_utf8_lossy(&answer.stdout);
    let path = |line: &str| Some(PathBuf::from(line.split_once("=> ")?.1.split(" (").next()?));
    Ok(listing.lines().filter_map(path).collect())
}

/// Recognised by its name: the loader of glibc or musl.
fn is_loader(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.starts_with("ld-") && name.contains(".so") || name.starts_with("ld64.so.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_decide() {
        let state = |libraries: &[&str]| {
            let libraries: Vec<PathBuf> = libraries.iter().map(PathBuf::from).collect();
            by_libraries(Path::new("/bin/true"), &libraries, &mut Scanner::new())[0].state
        };
        let ours = Scanner::new().libcrypto.expect("OpenSSL 3 is installed");
        let ours = ours.display().to_string();
        assert_eq!(state(&["/lib/libc.so.6", &ours]), State::Good);
        // Both, and OpenSSL's libssl: curl, whose libldap brings GnuTLS.
        let both = ["/lib/libgnutls.so.30", "/lib/libssl.so.3", &ours];
        assert_eq!(state(&both), State::Good);
        // Both, but only GnuTLS does TLS.
        assert_eq!(state(&["/lib/libgnutls.so.30", &ours]), State::Problem);
        assert_eq!(state(&["/lib/libgnutls.so.30"]), State::Problem);
        assert_eq!(state(&["/lib/libcrypto.so.1.1"]), State::Problem);
        assert_eq!(state(&["/lib/libc.so.6"]), State::Note);
        // GnuPG names libgcrypt itself; a program of systemd's may have it for another library.
        if let Ok(gpg) = find(OsStr::new("gpg")) {
            let finding = only_linked(&gpg).expect("gpg uses libgcrypt");
            assert!(finding.what.contains("uses libgcrypt"), "{finding:?}");
        }
        assert!(only_linked(Path::new("/bin/true")).is_none());
    }

    #[test]
    fn what_others_could_have_made_is_not_run() {
        let env = Path::new("/usr/bin/env");
        let loader = Elf::read(env)
            .expect("it is there")
            .and_then(|elf| elf.interpreter);
        let loader = loader.expect("it is linked dynamically");
        let libraries = needed_libraries(&loader, env).expect("it is root's");
        assert!(!libraries.is_empty());
        // Neither a loader nor a program of one's own in a place where everybody may write.
        let directory = tempfile::tempdir().expect("a temporary directory");
        let trace = directory.path().join("trace");
        let own = directory.path().join("ld-linux.so.2");
        std::fs::write(&own, format!("#!/bin/sh\ntouch {}\n", trace.display())).expect("ours");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&own, executable).expect("ours");
        for (loader, program) in [(own.as_path(), env), (&loader, &own), (env, env)] {
            assert!(needed_libraries(loader, program).is_err());
        }
        assert!(!trace.exists());
    }

    #[test]
    fn scripts_lead_to_their_interpreters() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let interpreter = |text: &str| {
            std::fs::write(file.path(), text).expect("it is ours");
            script_interpreter(file.path())
        };
        assert_eq!(interpreter("#!/bin/sh -e\nx"), Some("/bin/sh".into()));
        assert_eq!(
            interpreter("#! /usr/bin/env -S A=b python3 -I\n"),
            Some("python3".into())
        );
        assert_eq!(interpreter("\x7fELF"), None);
    }
}
