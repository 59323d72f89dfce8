//! Where `outboard.so` is, and whether every program can load it.

use outboard_elf::Elf;
use outboard_libcrypto::Library;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file's name in OpenSSL's modules directory.
pub const FILE: &str = "outboard.so";
/// The same of the module that observes.
const OBSERVER: &str = "outboard-observe.so";
/// The same of the PKCS #11 module, which OpenSSL does not look for.
const TOKEN: &str = "outboard-pkcs11.so";
/// The provider for Java's cryptography.
const JAR: &str = "outboard.jar";

/// Where it may lie in a tree that this command is part of.
const NEAR_THE_COMMAND: &[&str] = &[
    ".",
    "../lib/ossl-modules",
    "../lib64/ossl-modules",
    "../lib/outboard",
];

/// Finds the module: the one that was named, else beside this command, else in the modules directory
/// of `library`.
///
/// # Errors
/// In words, with every place that was looked at.
pub fn find(named: Option<&Path>, library: Option<&Library>) -> Result<PathBuf, String> {
    search(named, library, FILE, "--module")
}

fn search(
    named: Option<&Path>,
    library: Option<&Library>,
    file: &str,
    option: &str,
) -> Result<PathBuf, String> {
    if let Some(path) = named {
        return path
            .canonicalize()
            .map_err(|error| format!("cannot find the module {}: {error}", path.display()));
    }
    let mut candidates = Vec::new();
    if let Ok(command) = std::env::current_exe() {
        let directory = command.parent().unwrap_or(Path::new("/"));
        // As cargo calls what it builds.
        candidates.push(directory.join(format!("lib{}", file.replace('-', "_"))));
        candidates.extend(
            NEAR_THE_COMMAND
                .iter()
                .map(|place| directory.join(place).join(file)),
        );
    }
    candidates.extend(in_modules_directory(library).map(|path| path.with_file_name(file)));
    for candidate in &candidates {
        if let Ok(path) = candidate.canonicalize() {
            return Ok(path);
        }
    }
    let places: Vec<String> = candidates
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Err(format!(
        "cannot find the module {file}; looked for {} (run 'make install', or name it with {option})",
        places.join(", ")
    ))
}

/// Finds the module that observes, in the same places.
///
/// # Errors
/// In words, with every place that was looked at.
pub fn find_observer(named: Option<&Path>, library: Option<&Library>) -> Result<PathBuf, String> {
    search(named, library, OBSERVER, "--observer")
}

/// Finds the PKCS #11 module: the one that was named, else near this command.
///
/// # Errors
/// In words, with every place that was looked at.
pub fn find_token(named: Option<&Path>) -> Result<PathBuf, String> {
    search(named, None, TOKEN, "--module")
}

/// Finds `outboard.jar`: the one that was named, else near this command.
///
/// # Errors
/// In words, with every place that was looked at.
pub fn find_jar(named: Option<&Path>) -> Result<PathBuf, String> {
    search(named, None, JAR, "--jar").map_err(|error| {
        error.replacen("the module ", "", 1).replace(
            "run 'make install'",
            "it is built where a JDK is: run 'make jar' and 'make install'",
        )
    })
}

/// Where OpenSSL looks for it when no configuration says where it is.
pub fn in_modules_directory(library: Option<&Library>) -> Option<PathBuf> {
    Some(library?.modules_directory()?.join(FILE))
}

/// The reason why some program could not load a module, as far as its file shows it.
#[derive(Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Not a file at all, or not readable.
    Unreadable(String),
    /// Not a shared object of this kind of machine.
    Foreign(String),
    /// Some users cannot reach it; the path is the file or the directory that is in the way.
    Private(PathBuf),
}

/// Looks for obstacles, the most serious first.
pub fn obstacle(module: &Path) -> Option<Obstacle> {
    match Elf::read(module) {
        Err(error) => return Some(Obstacle::Unreadable(error.to_string())),
        Ok(None) => return Some(Obstacle::Foreign("it is not an ELF file".into())),
        Ok(Some(elf)) if !elf.is_native() => {
            let machine = elf.machine_name().unwrap_or("another machine");
            return Some(Obstacle::Foreign(format!(
                "it is for {machine}, this is {}",
                std::env::consts::ARCH
            )));
        }
        Ok(Some(elf)) if elf.is_cut_off => {
            return Some(Obstacle::Unreadable(
                "the end of the file is missing".into(),
            ));
        }
        Ok(Some(_)) => {}
    }
    private(module).map(Obstacle::Private)
}

/// The file if others may not read it, or the first directory on its way that others may not enter.
pub fn private(file: &Path) -> Option<PathBuf> {
    const OTHERS_READ: u32 = 0o004;
    const OTHERS_ENTER: u32 = 0o001;
    let allows = |path: &Path, bit| path.metadata().is_ok_and(|meta| meta.mode() & bit != 0);
    if !allows(file, OTHERS_READ) {
        return Some(file.to_owned());
    }
    file.ancestors()
        .skip(1)
        .filter(|directory| !directory.as_os_str().is_empty())
        .find(|directory| !allows(directory, OTHERS_ENTER))
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_module_that_is_named_is_not_sought_elsewhere() {
        let error = find(Some(Path::new("/nowhere/outboard.so")), None).expect_err("it is nowhere");
        assert!(
            error.starts_with("cannot find the module /nowhere/outboard.so: "),
            "{error}"
        );
    }

    #[test]
    fn other_architectures_and_other_files_are_told_apart() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join(FILE);
        assert!(matches!(obstacle(&file), Some(Obstacle::Unreadable(_))));
        std::fs::write(&file, "text").expect("it is ours");
        assert_eq!(
            obstacle(&file),
            Some(Obstacle::Foreign("it is not an ELF file".into()))
        );
        let mut elf = [0; 64];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[18] = 22;
        std::fs::write(&file, elf).expect("it is ours");
        let Some(Obstacle::Foreign(reason)) = obstacle(&file) else {
            panic!("an s390x file is foreign here");
        };
        assert!(reason.starts_with("it is for s390x"), "{reason}");
    }

    #[test]
    fn a_private_directory_on_the_way_is_named() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("file");
        std::fs::write(&file, "").expect("it is ours");
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is ours");
        };
        mode(directory.path(), 0o700);
        assert_eq!(private(&file).as_deref(), Some(directory.path()));
        mode(directory.path(), 0o755);
        mode(&file, 0o600);
        assert_eq!(private(&file), Some(file.clone()));
        mode(&file, 0o644);
        assert_eq!(private(&file), None);
    }
}
