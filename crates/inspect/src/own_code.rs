//! Cryptography inside a program's or a library's own file. Such code always contains certain texts, which this module
//! looks for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Code that computes cryptography, and is not the system's libcrypto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// OpenSSL 3 or later.
    OpenSsl,
    /// An OpenSSL before 3, or LibreSSL.
    OldOpenSsl,
    /// BoringSSL.
    BoringSsl,
    /// AWS-LC.
    AwsLc,
    /// The packages of Go's standard library.
    Go,
    /// Assembly code that OpenSSL, BoringSSL, AWS-LC, ring and GnuTLS share. The texts do not say which of them it is.
    Shared,
}

/// The cryptography in one file, as far as its texts show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Code {
    /// Each kind once.
    pub(crate) kinds: Vec<Kind>,
    /// `3.5.4`, if OpenSSL is among the kinds.
    pub(crate) version: Option<String>,
    /// The directory in which this OpenSSL looks for `openssl.cnf`.
    pub(crate) configuration: Option<String>,
    /// The directory in which this OpenSSL looks for modules.
    pub(crate) modules: Option<String>,
}

/// The texts. Only the code itself contains them: a program that merely uses OpenSSL contains its version at most.
mod text {
    /// The name of OpenSSL's default provider: OpenSSL 3 and later.
    pub(super) const DEFAULT_PROVIDER: &[u8] = b"OpenSSL Default Provider";
    /// The beginning of the answer of OpenSSL_version(OPENSSL_DIR): every OpenSSL, and LibreSSL.
    pub(super) const CONFIGURATION: &[u8] = b"OPENSSLDIR: \"";
    /// The same of OpenSSL_version(OPENSSL_MODULES_DIR).
    pub(super) const MODULES: &[u8] = b"MODULESDIR: \"";
    /// OPENSSL_VERSION_TEXT. What follows is checked.
    pub(super) const VERSION: &[u8] = b"OpenSSL ";
    /// The note in assembly code of OpenSSL's authors.
    pub(super) const ASSEMBLY: &[u8] = b"CRYPTOGAMS by";
    pub(super) const BORINGSSL: &[u8] = b"BoringSSL";
    pub(super) const AWS_LC: &[u8] = b"AWS-LC";
    /// The build information of a Go program, and the name of a package.
    pub(super) const GO: &[u8] = b"\xff Go buildinf:";
    pub(super) const GO_TLS: &[u8] = b"crypto/tls.";
    pub(super) const GO_CIPHER: &[u8] = b"crypto/aes.";
    /// A file without any of these has none of the others.
    pub(super) const ANY: [&[u8]; 4] = [DEFAULT_PROVIDER, CONFIGURATION, ASSEMBLY, GO];
}

/// Which of the texts were found.
#[derive(Default)]
struct Found {
    default_provider: bool,
    assembly: bool,
    boringssl: bool,
    aws_lc: bool,
    go: bool,
    go_packages: bool,
    code: Code,
}

impl Found {
    /// Looks at one piece of a file.
    fn look(&mut self, piece: &[u8]) {
        let see = |seen: &mut bool, text: &[u8]| {
            *seen = *seen || find(piece, text).is_some();
        };
        see(&mut self.default_provider, text::DEFAULT_PROVIDER);
        see(&mut self.assembly, text::ASSEMBLY);
        see(&mut self.boringssl, text::BORINGSSL);
        see(&mut self.aws_lc, text::AWS_LC);
        see(&mut self.go, text::GO);
        see(&mut self.go_packages, text::GO_TLS);
        see(&mut self.go_packages, text::GO_CIPHER);
        let code = &mut self.code;
        for (value, text) in [
            (&mut code.configuration, text::CONFIGURATION),
            (&mut code.modules, text::MODULES),
        ] {
            if value.is_none() {
                *value = after(piece, text).find_map(quoted);
            }
        }
        if code.version.is_none() {
            code.version = after(piece, text::VERSION).find_map(version);
        }
    }

    fn conclude(self) -> Code {
        let mut code = self.code;
        let kinds = [
            (self.default_provider, Kind::OpenSsl),
            (
                !self.default_provider && code.configuration.is_some(),
                Kind::OldOpenSsl,
            ),
            (self.assembly && self.aws_lc, Kind::AwsLc),
            // AWS-LC is a fork of BoringSSL, and contains that name.
            (
                self.assembly && self.boringssl && !self.aws_lc,
                Kind::BoringSsl,
            ),
            (self.go && self.go_packages, Kind::Go),
        ];
        code.kinds = kinds
            .into_iter()
            .filter_map(|(is_there, kind)| is_there.then_some(kind))
            .collect();
        if code.kinds.is_empty() && self.assembly {
            code.kinds.push(Kind::Shared);
        }
        if !matches!(code.kinds.first(), Some(Kind::OpenSsl | Kind::OldOpenSsl)) {
            code = Code {
                kinds: code.kinds,
                ..Code::default()
            };
        }
        code
    }
}

/// What the texts in these parts of a file show, and how many bytes were read. At most `most` bytes are looked at.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn examine(file: &File, parts: &[(u64, u64)], most: u64) -> io::Result<(Code, u64)> {
    let pieces = || Pieces::new(file, parts, most);
    // Most files have nothing: a short look tells.
    let mut total = 0;
    let mut has_any = false;
    let mut looking = pieces();
    while let Some(piece) = looking.next()? {
        has_any = has_any || text::ANY.iter().any(|text| find(piece, text).is_some());
        total = looking.read;
        if has_any {
            break;
        }
    }
    if !has_any {
        return Ok((Code::default(), total));
    }
    let mut found = Found::default();
    let mut looking = pieces();
    while let Some(piece) = looking.next()? {
        found.look(piece);
    }
    Ok((found.conclude(), total.max(looking.read)))
}

/// Reads parts of a file piece by piece. The last bytes of a piece are also the first ones of the next, so that no text is
/// cut off in both.
struct Pieces<'a> {
    file: &'a File,
    parts: std::slice::Iter<'a, (u64, u64)>,
    /// What is still to be read of the present part: its offset and length.
    part: (u64, u64),
    piece: Vec<u8>,
    filled: usize,
    read: u64,
    most: u64,
}

impl<'a> Pieces<'a> {
    const KEEP: usize = 512;

    fn new(file: &'a File, parts: &'a [(u64, u64)], most: u64) -> Self {
        Self {
            file,
            parts: parts.iter(),
            part: (0, 0),
            piece: vec![0; (1 << 20) + Self::KEEP],
            filled: 0,
            read: 0,
            most,
        }
    }

    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut kept = self.filled.min(Self::KEEP);
        self.piece.copy_within(self.filled - kept..self.filled, 0);
        loop {
            let (offset, length) = self.part;
            let room = u64::try_from(self.piece.len() - kept).unwrap_or(0);
            let wanted = length.min(room).min(self.most - self.read);
            let end = kept + usize::try_from(wanted).unwrap_or(0);
            let read = self.file.read_at(&mut self.piece[kept..end], offset)?;
            if read > 0 {
                let read_here = u64::try_from(read).unwrap_or(0);
                self.part = (offset.saturating_add(read_here), length - read_here);
                self.read += read_here;
                self.filled = kept + read;
                return Ok(Some(&self.piece[..self.filled]));
            }
            kept = 0;
            match self.parts.next() {
                Some(part) if self.read < self.most => self.part = *part,
                _ => return Ok(None),
            }
        }
    }
}

/// Where a text begins. The C library searches as fast in a build without optimisation.
fn find(piece: &[u8], text: &[u8]) -> Option<usize> {
    // SAFETY: both pointers are valid for reads of the lengths beside them, and memmem(3) reads no further.
    let at = unsafe {
        libc::memmem(
            piece.as_ptr().cast(),
            piece.len(),
            text.as_ptr().cast(),
            text.len(),
        )
    };
    (!at.is_null()).then(|| at.addr() - piece.as_ptr().addr())
}

/// What follows each occurrence of a text.
fn after<'a>(piece: &'a [u8], text: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = piece;
    std::iter::from_fn(move || {
        rest = &rest[find(rest, text)? + text.len()..];
        Some(rest)
    })
}

/// A path up to a quotation mark.
fn quoted(text: &[u8]) -> Option<String> {
    const LONGEST: usize = 256;
    let end = text.iter().take(LONGEST).position(|&byte| byte == b'"')?;
    let path = std::str::from_utf8(&text[..end]).ok()?;
    (path.starts_with('/') && !path.chars().any(char::is_control)).then(|| path.to_owned())
}

/// `3.5.4` of `3.5.4 30 Sep 2025`: a version and a date.
fn version(text: &[u8]) -> Option<String> {
    const LONGEST: usize = 40;
    let text = &text[..text.len().min(LONGEST)];
    let printable = text.iter().take_while(|byte| (b' '..=b'~').contains(*byte));
    let text: String = printable.map(|&byte| char::from(byte)).collect();
    let mut words = text.split_whitespace();
    let version = words.next()?;
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
    (is_version && is_number(words.next()?)).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &[u8]) -> Code {
        let file = tempfile::tempfile().expect("a temporary file");
        file.write_all_at(text, 0).expect("it is ours");
        let parts = [(0, u64::MAX)];
        examine(&file, &parts, u64::MAX).expect("it can be read").0
    }

    #[test]
    fn an_openssl_is_found_wherever_its_texts_lie() {
        let texts = b"\0OpenSSL 3.0 or later\0OpenSSL 3.5.4 30 Sep 2025\0OPENSSLDIR: \"/opt/x\"\0\
                      MODULESDIR: \"/opt/x/modules\"\0OpenSSL Default Provider\0CRYPTOGAMS by\0";
        for offset in [0, 1, (1 << 20) - 5, (1 << 20) - 60, 1 << 20, (2 << 20) - 9] {
            let mut file = vec![b'O'; offset];
            file.extend_from_slice(texts);
            file.extend_from_slice(&[0; 100]);
            let code = code(&file);
            assert_eq!(code.kinds, [Kind::OpenSsl], "{offset}");
            assert_eq!(code.version.as_deref(), Some("3.5.4"), "{offset}");
            assert_eq!(code.configuration.as_deref(), Some("/opt/x"), "{offset}");
            assert_eq!(code.modules.as_deref(), Some("/opt/x/modules"), "{offset}");
        }
    }

    #[test]
    fn texts_about_a_library_are_not_the_library() {
        // nginx and Python print the version of the headers that they were built with.
        for text in [
            &b"built with OpenSSL 3.0.15 3 Sep 2024"[..],
            b"this build has BoringSSL",
            b"AWS-LC and BoringSSL",
            b"\xff Go buildinf: crypto/sha256.",
        ] {
            assert_eq!(code(text), Code::default());
        }
    }

    #[test]
    fn other_libraries_are_told_apart() {
        let kinds = |text: &[u8]| code(text).kinds;
        assert_eq!(
            kinds(b"OPENSSLDIR: \"/usr\" OpenSSL 1.1.1w  11 Sep 2023"),
            [Kind::OldOpenSsl]
        );
        assert_eq!(kinds(b"CRYPTOGAMS by x BoringSSL"), [Kind::BoringSsl]);
        assert_eq!(kinds(b"CRYPTOGAMS by x BoringSSL AWS-LC"), [Kind::AwsLc]);
        assert_eq!(kinds(b"CRYPTOGAMS by x"), [Kind::Shared]);
        assert_eq!(kinds(b"\xff Go buildinf: crypto/tls.(*Conn)"), [Kind::Go]);
        assert_eq!(
            kinds(b"OpenSSL Default Provider CRYPTOGAMS by AWS-LC"),
            [Kind::OpenSsl, Kind::AwsLc]
        );
    }

    #[test]
    fn a_hostile_file_costs_no_more_than_its_bound() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(1 << 40).expect("it is ours");
        let parts = [(u64::MAX, 7), (0, 1 << 40), (5, u64::MAX)];
        let (_, read) = examine(&file, &parts, 3 << 20).unwrap_or_default();
        assert!(read <= 3 << 20);
        let (_, read) = examine(&file, &parts[1..], 3 << 20).expect("it can be read");
        assert_eq!(read, 3 << 20);
        // No end, no text, and letters that steer a terminal.
        for text in [
            &b"OPENSSLDIR: \"/\x1b[31m\" OPENSSLDIR: \""[..],
            b"OpenSSL 3.\xff\xff 1 OpenSSL 3.0",
        ] {
            let code = code(text);
            assert!(
                code.configuration.is_none() && code.version.is_none(),
                "{code:?}"
            );
        }
    }
}
