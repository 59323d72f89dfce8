//! Libraries of cryptography, recognised by the names of their files.

use std::path::Path;

/// What a library is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `libcrypto.so.3` or later: it loads providers.
    OpenSsl3,
    /// `libcrypto-<hash>.so.3`: a copy that a package brings, under a name of its own so that it stands beside the system's.
    Bundled,
    /// A library without OpenSSL's providers.
    Other(&'static str),
}

/// The library in a file, if its name says that it is one of cryptography. The name may be the one of `/proc/PID/maps`.
pub fn library(path: &Path) -> Option<Library> {
    const OTHERS: &[(&str, &str)] = &[
        ("libgnutls", "GnuTLS"),
        ("libnss3", "NSS"),
        ("libwolfssl", "wolfSSL"),
        ("libmbedcrypto", "Mbed TLS"),
    ];
    let name = file_name(path);
    if let Some(version) = name.strip_prefix("libcrypto.so") {
        return Some(match is_openssl_3_version(version) {
            true => Library::OpenSsl3,
            false => Library::Other("an OpenSSL before 3, or a fork of OpenSSL"),
        });
    }
    if is_bundled(name, "libcrypto") {
        return Some(Library::Bundled);
    }
    OTHERS.iter().find_map(|(stem, what)| {
        let is_it = name.strip_prefix(stem)?.starts_with(".so") || is_bundled(name, stem);
        is_it.then_some(Library::Other(what))
    })
}

/// OpenSSL's own library of TLS, version 3 or later: a program without it does no TLS with OpenSSL.
pub fn is_openssl_tls(path: &Path) -> bool {
    let name = file_name(path);
    name.strip_prefix("libssl.so")
        .is_some_and(is_openssl_3_version)
        || is_bundled(name, "libssl")
}

/// `libcrypto.so.3` or later, under its own name.
pub fn is_openssl_3(path: &Path) -> bool {
    library(path) == Some(Library::OpenSsl3)
}

/// The file's name, without what the kernel adds to one that was removed.
pub fn file_name(path: &Path) -> &str {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    name.strip_suffix(" (deleted)").unwrap_or(name)
}

/// `.3` of `libcrypto.so.3`. LibreSSL counts from 30 on.
fn is_openssl_3_version(version: &str) -> bool {
    let number = version.strip_prefix('.').unwrap_or_default();
    let major = number
        .split('.')
        .next()
        .and_then(|number| number.parse::<u32>().ok());
    major.is_some_and(|major| (3..30).contains(&major))
}

/// `libcrypto-fb8d5b21.so.3`, as the tools that make Python's wheels name it.
fn is_bundled(name: &str, stem: &str) -> bool {
    let hash = name
        .strip_prefix(stem)
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|rest| rest.split_once(".so"));
    hash.is_some_and(|(hash, _)| {
        hash.len() >= 6 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide() {
        let named = |name: &str| library(Path::new(name));
        for name in [
            "/usr/lib/libcrypto.so.3",
            "libcrypto.so.4",
            "libcrypto.so.3 (deleted)",
        ] {
            assert_eq!(named(name), Some(Library::OpenSsl3), "{name}");
        }
        for name in ["libcrypto.so", "libcrypto.so.1.1", "libcrypto.so.55"] {
            assert!(matches!(named(name), Some(Library::Other(_))), "{name}");
        }
        assert_eq!(
            named("x.libs/libcrypto-fb8d5b21.so.3"),
            Some(Library::Bundled)
        );
        assert_eq!(named("libgnutls.so.30"), Some(Library::Other("GnuTLS")));
        assert_eq!(
            named("libgnutls-0a1b2c3d.so.30"),
            Some(Library::Other("GnuTLS"))
        );
        for name in [
            "libcrypto-engine.so",
            "libgnutlsxx.so.30",
            "libcrypt.so.1",
            "",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
        assert!(is_openssl_tls(Path::new("/lib/libssl.so.3")));
        assert!(is_openssl_tls(Path::new("libssl-8bd944e8.so.3")));
        assert!(!is_openssl_tls(Path::new("/lib/libssl3.so")), "NSS's");
    }
}
