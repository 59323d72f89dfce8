//! Cryptography inside a program's own file. Such code always contains certain texts, which this module looks for.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Texts, and the code that each one indicates. The first match counts.
const MARKS: &[(&[u8], &str)] = &[
    (b"OpenSSL 3.", "its own copy of OpenSSL"),
    (b"OpenSSL 4.", "its own copy of OpenSSL"),
    (b"OpenSSL 1.", "its own copy of an old OpenSSL"),
    (b"BoringSSL", "BoringSSL"),
    (b"AWS-LC", "AWS-LC"),
    (b"\xff Go buildinf:", "Go's own cryptography"),
];

/// No program is larger than this. A larger file is read up to here.
const MOST: u64 = 1 << 30;

/// The cryptography in a program's own file, if its texts show any.
///
/// Ask this only about a program without a cryptographic library: a text may also be the version that a program was built
/// with.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn cryptography(program: &Path) -> io::Result<Option<&'static str>> {
    find(File::open(program)?.take(MOST))
}

fn find(mut file: impl Read) -> io::Result<Option<&'static str>> {
    let longest = MARKS.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
    let mut piece = vec![0; 1 << 20];
    // A text may begin in one piece and end in the next.
    let mut kept = 0;
    let mut found: Option<usize> = None;
    loop {
        let read = file.read(&mut piece[kept..])?;
        if read == 0 {
            return Ok(found.map(|index| MARKS[index].1));
        }
        let filled = &piece[..kept + read];
        let first =
            (0..found.unwrap_or(MARKS.len())).find(|&index| contains(filled, MARKS[index].0));
        found = first.or(found);
        let start = filled.len().saturating_sub(longest - 1);
        kept = filled.len() - start;
        piece.copy_within(start..start + kept, 0);
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    let (first, rest) = (part[0], &part[1..]);
    let mut text = text;
    while let Some(at) = text.iter().position(|&byte| byte == first) {
        text = &text[at + 1..];
        if text.starts_with(rest) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_lies() {
        let at = |offset: usize, text: &[u8]| {
            let mut file = vec![b'O'; offset];
            file.extend_from_slice(text);
            file.extend_from_slice(&[0; 100]);
            find(&file[..]).expect("a slice can be read")
        };
        for offset in [0, 1, (1 << 20) - 5, 1 << 20, (2 << 20) - 9] {
            let own = at(offset, b"OpenSSL 3.0.15 3 Sep 2024");
            assert_eq!(own, Some("its own copy of OpenSSL"), "{offset}");
            assert_eq!(at(offset, b"OpenSSL"), None, "{offset}");
        }
        assert_eq!(at(3, b"BoringSSL"), Some("BoringSSL"));
    }

    #[test]
    fn a_program_that_is_linked_with_a_library_has_none_of_its_own() {
        assert_eq!(
            cryptography(Path::new("/bin/true")).expect("it is there"),
            None
        );
    }
}
