//! Can a program use Outboard at all?

use super::{Finding, State};
use crate::Failure;
use crate::elf::Elf;
use crate::own_code;
use crate::processes::is_openssl_3;
use crate::trust::changeable_by_others;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Examines a program, or the interpreter of a script.
///
/// # Errors
/// When there is no such program.
pub(super) fn examine(program: &OsStr) -> Result<Vec<Finding>, Failure> {
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
    let Some(loader) = elf.interpreter.filter(|_| path.metadata().is_ok()) else {
        findings.push(statically_linked(&name.to_string()));
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
    let libraries = needed_libraries(&loader, &path);
    let finding = match &libraries {
        Ok(libraries) if !has_cryptography(libraries) => {
            own_cryptography(&name.to_string(), &path).unwrap_or_else(|| later(&name.to_string()))
        }
        _ => by_libraries(&name.to_string(), &libraries),
    };
    match reads_its_own_section(path.file_name().unwrap_or_default()) {
        // Its own copy of OpenSSL reads a configuration too, but another section.
        Some(own) if finding.state == State::Problem => findings.push(Finding {
            why: Some(own.what),
            remedy: own.remedy,
            ..finding
        }),
        own => findings.extend(std::iter::once(finding).chain(own)),
    }
    Ok(findings)
}

fn has_cryptography(libraries: &[PathBuf]) -> bool {
    libraries.iter().any(|library| is_openssl_3(library)) || other_cryptography(libraries).is_some()
}

/// The finding about a program that is linked dynamically, but has cryptography in its own file.
pub(super) fn own_cryptography(name: &str, program: &Path) -> Option<Finding> {
    let what = own_code::cryptography(program).ok()??;
    Some(
        Finding::problem("program", format!("{name} contains {what}"))
            .because("its own code reads another configuration or none")
            .remedy("install a build that is linked with the system's OpenSSL 3, if there is one"),
    )
}

/// Programs that read OpenSSL's configuration, but another section of it than every other program does.
pub(super) fn reads_its_own_section(program: &OsStr) -> Option<Finding> {
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
        "libraries",
        format!(
            "{name} is not linked with OpenSSL; it may load OpenSSL later, as Python does, or never"
        ),
    )
    .remedy("start it, then run 'outboard doctor --pid PID'")
}

/// The finding from its libraries, or the reason why they could not be listed.
fn by_libraries(name: &str, libraries: &Result<Vec<PathBuf>, String>) -> Finding {
    let libraries = match libraries {
        Ok(libraries) => libraries,
        Err(reason) => {
            let what = format!("the libraries of {name} cannot be listed");
            return Finding::note("libraries", what).because(reason);
        }
    };
    if let Some(libcrypto) = libraries.iter().find(|library| is_openssl_3(library)) {
        return Finding::good("libraries", format!("{name} uses {}", libcrypto.display()));
    }
    match other_cryptography(libraries) {
        Some((library, what)) => Finding::problem(
            "libraries",
            format!("{name} uses {what} ({}), not OpenSSL 3", library.display()),
        )
        .remedy("install a build that uses OpenSSL 3, if there is one"),
        None => later(name),
    }
}

/// The finding about a program that contains all its code itself.
pub(super) fn statically_linked(name: &str) -> Finding {
    Finding::problem("program", format!("{name} is linked statically"))
        .because("it contains its own cryptography and loads no provider")
        .remedy("install a dynamically linked build, if there is one")
}

/// A cryptographic library that uses no OpenSSL provider, and its name.
pub(super) fn other_cryptography(libraries: &[PathBuf]) -> Option<(&PathBuf, &'static str)> {
    const OTHERS: &[(&str, &str)] = &[
        ("libgnutls.so", "GnuTLS"),
        ("libnss3.so", "NSS"),
        ("libwolfssl.so", "wolfSSL"),
        ("libmbedcrypto.so", "Mbed TLS"),
        ("libcrypto.so", "an OpenSSL before 3, or a fork of OpenSSL"),
    ];
    OTHERS.iter().find_map(|(prefix, what)| {
        let is_it = |library: &&PathBuf| {
            let name = library
                .file_name()
                .map(OsStr::as_encoded_bytes)
                .unwrap_or_default();
            name.starts_with(prefix.as_bytes()) && !is_openssl_3(library)
        };
        Some((libraries.iter().find(is_it)?, *what))
    })
}

fn find(program: &OsStr) -> Result<PathBuf, Failure> {
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
            let libraries = libraries.iter().map(PathBuf::from).collect();
            by_libraries("x", &Ok(libraries)).state
        };
        assert_eq!(
            state(&["/lib/libc.so.6", "/lib/libcrypto.so.3"]),
            State::Good
        );
        assert_eq!(
            state(&["/lib/libgnutls.so.30", "/lib/libcrypto.so.3"]),
            State::Good
        );
        assert_eq!(state(&["/lib/libgnutls.so.30"]), State::Problem);
        assert_eq!(state(&["/lib/libcrypto.so.1.1"]), State::Problem);
        assert_eq!(state(&["/lib/libc.so.6"]), State::Note);
        assert_eq!(by_libraries("x", &Err("no".into())).state, State::Note);
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
