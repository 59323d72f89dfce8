//! The little that must be known of an ELF file: for which machine it is, whether it is linked dynamically, which
//! libraries it names, and which of its parts are loaded (ELF-64, of either byte order).
//!
//! Reads headers and names only. Knows nothing of symbols, or what a program does.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The facts in a file's header.
#[derive(Debug, PartialEq, Eq)]
pub struct Elf {
    /// The `e_machine` field.
    machine: u16,
    order: Order,
    /// The dynamic loader that it asks for: none in a library or a statically linked program.
    pub interpreter: Option<PathBuf>,
    /// Whether the file ends before the last of its headers says, as after an interrupted copy: a program that
    /// loads it would crash.
    pub is_cut_off: bool,
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const LOAD: u32 = 1; // PT_LOAD
const DYNAMIC: u32 = 2; // PT_DYNAMIC
const INTERPRETER: u32 = 3; // PT_INTERP
/// Longer than any path the kernel takes.
const LONGEST_INTERPRETER: u64 = 4096;

impl Elf {
    /// Reads the headers of a file; `None` if it is no ELF-64 file.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        let mut header = [0; HEADER];
        match file.read_exact_at(&mut header, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let Some(order) = Order::of(&header) else {
            return Ok(None);
        };
        let mut elf = Self {
            machine: order.u16_at(&header, 18),
            order,
            interpreter: None,
            is_cut_off: false,
        };
        let length = file.metadata()?.len();
        let sections = u64::from(order.u16_at(&header, 58)) * u64::from(order.u16_at(&header, 60));
        elf.is_cut_off = order.u64_at(&header, 40).saturating_add(sections) > length;
        let (offset, size, count) = (
            order.u64_at(&header, 32),
            u64::from(order.u16_at(&header, 54)),
            u64::from(order.u16_at(&header, 56)),
        );
        for index in 0..count {
            let mut segment = [0; PROGRAM_HEADER];
            let Some(at) = (index * size).checked_add(offset) else {
                break;
            };
            if file.read_exact_at(&mut segment, at).is_err() {
                break;
            }
            let end = order
                .u64_at(&segment, 8)
                .saturating_add(order.u64_at(&segment, 32));
            elf.is_cut_off |= end > length;
            if order.u32_at(&segment, 0) == INTERPRETER {
                elf.interpreter =
                    interpreter(&file, order.u64_at(&segment, 8), order.u64_at(&segment, 32));
            }
        }
        Ok(Some(elf))
    }

    /// Whether it is for the machine that this command runs on.
    pub fn is_native(&self) -> bool {
        self.order == Order::NATIVE && self.machine_name() == Some(std::env::consts::ARCH)
    }

    /// The machine, by the name that Rust and Linux give it.
    pub fn machine_name(&self) -> Option<&'static str> {
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

/// The libraries that a file names itself (DT_NEEDED), in its order. Empty if it names none, or if its headers are damaged.
/// A hostile file makes this function read at most about 300 KiB.
pub fn needed(file: &File) -> Vec<String> {
    needed_by_headers(file).unwrap_or_default()
}

fn needed_by_headers(file: &File) -> Option<Vec<String>> {
    const ENTRY: usize = 16;
    const NEEDED: u64 = 1; // DT_NEEDED
    const STRINGS: u64 = 5; // DT_STRTAB
    const MOST_DYNAMIC: u64 = 64 << 10;
    const MOST_NAMES: usize = 512;
    const LONGEST_NAME: usize = 256;
    let (order, segments) = segments(file)?;
    let dynamic = segments.iter().find(|segment| segment.kind == DYNAMIC)?;
    let length = usize::try_from(dynamic.length.min(MOST_DYNAMIC)).ok()?;
    let mut entries = vec![0; length];
    file.read_exact_at(&mut entries, dynamic.offset).ok()?;
    let entries = entries.chunks_exact(ENTRY);
    let entries: Vec<(u64, u64)> = entries
        .map(|entry| (order.u64_at(entry, 0), order.u64_at(entry, 8)))
        .take_while(|(tag, _)| *tag != 0)
        .collect();
    let address = entries.iter().find(|(tag, _)| *tag == STRINGS)?.1;
    // The table's address in memory, as a place in the file.
    let table = segments.iter().find_map(|segment| {
        let within = address.checked_sub(segment.address)?;
        let holds = segment.kind == LOAD && within < segment.length;
        holds.then(|| segment.offset.checked_add(within))?
    })?;
    let name = |at: u64| {
        let mut name = vec![0; LONGEST_NAME];
        let length = file.read_at(&mut name, table.checked_add(at)?).ok()?;
        let end = name[..length].iter().position(|&byte| byte == 0)?;
        name.truncate(end);
        String::from_utf8(name).ok()
    };
    let needed = entries.iter().filter(|(tag, _)| *tag == NEEDED);
    Some(
        needed
            .take(MOST_NAMES)
            .filter_map(|(_, at)| name(*at))
            .collect(),
    )
}

/// The parts of a file that are loaded into memory, as offset and length: code and data, but not what debuggers read.
/// The whole file if it has none, or is no ELF file.
pub fn loaded(file: &File) -> Vec<(u64, u64)> {
    let segments = segments(file).map_or_else(Vec::new, |(_, segments)| segments);
    let loaded = segments.iter().filter(|segment| segment.kind == LOAD);
    let parts: Vec<(u64, u64)> = loaded
        .map(|segment| (segment.offset, segment.length))
        .collect();
    match parts.is_empty() {
        true => vec![(0, u64::MAX)],
        false => parts,
    }
}

/// A program header.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    length: u64,
}

/// The program headers, and the order of the file's numbers; `None` if this is no ELF file.
fn segments(file: &File) -> Option<(Order, Vec<Segment>)> {
    const MOST: u64 = 128;
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0).ok()?;
    let order = Order::of(&header)?;
    let (offset, size) = (
        order.u64_at(&header, 32),
        u64::from(order.u16_at(&header, 54)),
    );
    let count = u64::from(order.u16_at(&header, 56)).min(MOST);
    let segment = |index: u64| {
        let mut segment = [0; PROGRAM_HEADER];
        let at = (index * size).checked_add(offset)?;
        file.read_exact_at(&mut segment, at).ok()?;
        Some(Segment {
            kind: order.u32_at(&segment, 0),
            offset: order.u64_at(&segment, 8),
            address: order.u64_at(&segment, 16),
            length: order.u64_at(&segment, 32),
        })
    };
    Some((order, (0..count).map_while(segment).collect()))
}

fn interpreter(file: &File, offset: u64, length: u64) -> Option<PathBuf> {
    let length = usize::try_from(length.min(LONGEST_INTERPRETER)).ok()?;
    let mut path = vec![0; length];
    file.read_exact_at(&mut path, offset).ok()?;
    let path = String::from_utf8(path).ok()?;
    Some(PathBuf::from(path.trim_end_matches('\0')))
}

/// The order of the bytes of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The least significant first: x86-64, Arm, RISC-V.
    Little,
    /// The most significant first: s390x.
    Big,
}

impl Order {
    const NATIVE: Self = match cfg!(target_endian = "little") {
        true => Self::Little,
        false => Self::Big,
    };

    /// That of a file; none if it is no ELF-64 file.
    fn of(header: &[u8]) -> Option<Self> {
        // Magic, ELFCLASS64; then ELFDATA2LSB or ELFDATA2MSB.
        match header.strip_prefix(b"\x7fELF\x02")?.first()? {
            1 => Some(Self::Little),
            2 => Some(Self::Big),
            _ => None,
        }
    }

    fn u16_at(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = array(bytes, at);
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = array(bytes, at);
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    fn u64_at(self, bytes: &[u8], at: usize) -> u64 {
        let bytes = array(bytes, at);
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N]
        .try_into()
        .expect("invariant: the slice is as long as the array")
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
        let needed = needed(&File::open(&program).expect("it is readable"));
        assert!(
            needed.iter().any(|name| name.starts_with("libc.so")),
            "{needed:?}"
        );
    }

    /// One header, one program header that names the loader, and its name; the same in both orders.
    #[test]
    fn both_byte_orders_are_read() {
        const LOADER: &[u8] = b"/lib/ld64.so.1\0";
        let file = |order: u8, swap: fn(&mut [u8])| {
            let mut bytes = b"\x7fELF\x02".to_vec();
            bytes.resize(HEADER + PROGRAM_HEADER, 0);
            bytes[5] = order;
            let mut put = |at: usize, number: &[u8]| {
                let field = &mut bytes[at..at + number.len()];
                field.copy_from_slice(number);
                swap(field);
            };
            let (header, program) = (HEADER as u64, PROGRAM_HEADER as u16);
            put(18, &22_u16.to_le_bytes()); // e_machine: s390x
            put(32, &header.to_le_bytes()); // e_phoff
            put(54, &program.to_le_bytes()); // e_phentsize
            put(56, &1_u16.to_le_bytes()); // e_phnum
            put(HEADER, &INTERPRETER.to_le_bytes());
            put(HEADER + 8, &(header + u64::from(program)).to_le_bytes());
            put(HEADER + 32, &(LOADER.len() as u64).to_le_bytes());
            bytes.extend(LOADER);
            let file = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(file.path(), &bytes).expect("it is ours");
            Elf::read(file.path()).expect("it is readable")
        };
        let big = file(2, <[u8]>::reverse).expect("it is ELF");
        let little = file(1, |_| ()).expect("it is ELF");
        for elf in [&big, &little] {
            assert_eq!(elf.machine_name(), Some("s390x"));
            assert_eq!(
                elf.interpreter.as_deref(),
                Some(Path::new("/lib/ld64.so.1"))
            );
            assert!(!elf.is_cut_off);
        }
        // A processor runs programs of its own order.
        assert!(!little.is_native());
        assert_eq!(big.is_native(), cfg!(target_arch = "s390x"));
        assert_eq!(file(3, |_| ()), None);
    }

    #[test]
    fn garbled_names_of_libraries_do_no_harm() {
        let program = std::env::current_exe().expect("a program knows its file");
        let mut bytes = std::fs::read(program).expect("it is readable");
        bytes.truncate(1 << 20);
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        // Each field of each program header, at its extremes.
        for at in (64..64 + 14 * PROGRAM_HEADER).step_by(8) {
            for value in [0, u64::MAX, 1 << 63] {
                let mut garbled = bytes[..4096].to_vec();
                garbled[at..at + 8].copy_from_slice(&value.to_le_bytes());
                std::fs::write(file.path(), &garbled).expect("it is ours");
                needed(&File::open(file.path()).expect("it is ours"));
            }
        }
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
            let file = File::open(file.path()).expect("it is ours");
            assert!(needed(&file).is_empty(), "{length}");
        }
    }
}
