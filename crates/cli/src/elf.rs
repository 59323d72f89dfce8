//! The little that must be known of an ELF file: for which machine, and whether it is linked
//! dynamically (ELF-64, little-endian: the machines that Outboard runs on).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The facts in a file's header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Elf {
    /// The `e_machine` field.
    machine: u16,
    /// The dynamic loader that it asks for: none in a library or a statically linked program.
    pub(crate) interpreter: Option<PathBuf>,
    /// Whether the file ends before the last of its headers says, as after an interrupted copy: a program that
    /// loads it would crash.
    pub(crate) is_cut_off: bool,
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const INTERPRETER: u32 = 3; // PT_INTERP
/// Longer than any path the kernel takes.
const LONGEST_INTERPRETER: u64 = 4096;

impl Elf {
    /// Reads the headers of a file; `None` if it is no ELF-64 file in this byte order.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        let mut header = [0; HEADER];
        match file.read_exact_at(&mut header, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        // Magic, ELFCLASS64, ELFDATA2LSB.
        if !header.starts_with(b"\x7fELF\x02\x01") {
            return Ok(None);
        }
        let mut elf = Self {
            machine: u16_at(&header, 18),
            interpreter: None,
            is_cut_off: false,
        };
        let length = file.metadata()?.len();
        let sections = u64::from(u16_at(&header, 58)) * u64::from(u16_at(&header, 60));
        elf.is_cut_off = u64_at(&header, 40).saturating_add(sections) > length;
        let (offset, size, count) = (
            u64_at(&header, 32),
            u64::from(u16_at(&header, 54)),
            u64::from(u16_at(&header, 56)),
        );
        for index in 0..count {
            let mut segment = [0; PROGRAM_HEADER];
            let Some(at) = (index * size).checked_add(offset) else {
                break;
            };
            if file.read_exact_at(&mut segment, at).is_err() {
                break;
            }
            let end = u64_at(&segment, 8).saturating_add(u64_at(&segment, 32));
            elf.is_cut_off |= end > length;
            if u32::from_le_bytes(array(&segment, 0)) == INTERPRETER {
                elf.interpreter = interpreter(&file, u64_at(&segment, 8), u64_at(&segment, 32));
            }
        }
        Ok(Some(elf))
    }

    /// Whether it is for the machine that this command runs on.
    pub(crate) fn is_native(&self) -> bool {
        self.machine_name() == Some(std::env::consts::ARCH)
    }

    /// The machine, by the name that Rust and Linux give it.
    pub(crate) fn machine_name(&self) -> Option<&'static str> {
        match self.machine {
            62 => Some("x86_64"),
            183 => Some("aarch64"),
            243 => Some("riscv64"),
            21 => Some("powerpc64"),
            22 => Some("s390x"),
            _ => None,
        }
    }
}

fn interpreter(file: &File, offset: u64, length: u64) -> Option<PathBuf> {
    let length = usize::try_from(length.min(LONGEST_INTERPRETER)).ok()?;
    let mut path = vec![0; length];
    file.read_exact_at(&mut path, offset).ok()?;
    let path = String::from_utf8(path).ok()?;
    Some(PathBuf::from(path.trim_end_matches('\0')))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N]
        .try_into()
        .expect("invariant: the slice is as long as the array")
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_program_is_dynamic_and_native() {
        let program = std::env::current_exe().expect("a program knows its file");
        let elf = Elf::read(&program)
            .expect("it is readable")
            .expect("it is ELF");
        assert!(elf.is_native() && !elf.is_cut_off);
        assert!(elf.interpreter.expect("it is linked dynamically").exists());
    }

    #[test]
    fn a_script_is_no_elf_file() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "#!/bin/sh\n").expect("it is ours");
        assert_eq!(Elf::read(file.path()).expect("it is readable"), None);
    }

    #[test]
    fn cut_off_or_garbled_headers_do_no_harm() {
        let program = std::env::current_exe().expect("a program knows its file");
        let mut bytes = std::fs::read(program).expect("it is readable");
        bytes.truncate(4096);
        bytes[32..40].copy_from_slice(&u64::MAX.to_le_bytes()); // the program headers' offset
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        for length in [0, 1, 63, 64, 65, 4096] {
            std::fs::write(file.path(), &bytes[..length]).expect("it is ours");
            let elf = Elf::read(file.path()).expect("it is readable");
            assert!(elf.is_none_or(|elf| elf.is_cut_off), "{length}");
        }
    }
}
