//! A configuration of SunPKCS11 (the JDK's "PKCS#11 Reference Guide").

use crate::{Jdk, Provider, Registration, SIGNATURES};
use std::path::{Path, PathBuf};

/// The mechanisms that Java is to see: raw ones, so that a signature takes two calls, and the key store. Without `KeyStore`,
/// Java has no key store of type PKCS11. With others, Java makes many calls, for digests and ciphers, too.
pub const MECHANISMS: [&str; 4] = ["KeyStore", "CKM_RSA_PKCS", "CKM_RSA_PKCS_PSS", "CKM_ECDSA"];

/// What a configuration says, as far as it concerns Outboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SunPkcs11 {
    /// The provider's name is `SunPKCS11-` and this one.
    pub name: String,
    /// The module.
    pub library: PathBuf,
    /// The slot's number. Java takes the first slot if there is none.
    pub slot: Option<u64>,
    /// The mechanisms that Java sees: all of the module's if there is no list.
    pub mechanisms: Option<Vec<String>>,
}

impl SunPkcs11 {
    /// One with [`MECHANISMS`].
    pub fn new(name: &str, library: &Path, slot: u64) -> Self {
        Self {
            name: name.to_owned(),
            library: library.to_owned(),
            slot: Some(slot),
            mechanisms: Some(MECHANISMS.map(str::to_owned).to_vec()),
        }
    }

    /// The name of the provider that it makes.
    pub fn provider(&self) -> String {
        format!("SunPKCS11-{}", self.name)
    }

    /// How it is registered with its configuration in `file`. With `prefers`, Java prefers it for [`SIGNATURES`]: a token's keys
    /// need that not, because no other provider takes them.
    pub fn registration(&self, file: &Path, prefers: bool) -> Registration {
        let preferred: &[&str] = if prefers { &SIGNATURES } else { &[] };
        Registration {
            line: Provider {
                name: "SunPKCS11".to_owned(),
                argument: Some(file.to_string_lossy().into_owned()),
            },
            name: self.provider(),
            preferred: preferred
                .iter()
                .map(|name| format!("Signature.{name}"))
                .collect(),
        }
    }

    /// What a text says to that JDK. Other statements are passed over, and what cannot be understood ends the reading.
    pub fn read(text: &str, jdk: &Jdk) -> Self {
        let text: Vec<&str> = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or(""))
            .collect();
        let text = text.join("\n");
        let mut found = Self::default();
        let mut rest = text.as_str();
        while let Some((name, after)) = rest.split_once('=') {
            let after = after.trim_start_matches([' ', '\t']);
            let (value, next) = match (name.trim(), after.strip_prefix('{')) {
                // A library's name goes to the end of its line.
                ("library", _) => after.split_once('\n').unwrap_or((after, "")),
                (_, Some(list)) => list.split_once('}').unwrap_or((list, "")),
                (_, None) => after.split_once(char::is_whitespace).unwrap_or((after, "")),
            };
            let plain = value.trim().trim_matches('"');
            match name.trim() {
                "name" => plain.clone_into(&mut found.name),
                "library" => found.library = jdk.expanded(plain),
                "slot" => found.slot = plain.parse().ok(),
                "enabledMechanisms" => {
                    let words = value.split(|letter: char| letter.is_whitespace() || letter == ',');
                    let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
                    found.mechanisms = Some(words.collect());
                }
                _ => {}
            }
            rest = next;
        }
        found
    }

    /// The text of such a configuration.
    pub fn text(&self) -> String {
        let mut text = format!(
            "name = {}\nlibrary = {}\n",
            self.name,
            self.library.display()
        );
        if let Some(slot) = self.slot {
            text.push_str(&format!("slot = {slot}\n"));
        }
        if let Some(mechanisms) = &self.mechanisms {
            text.push_str(&format!(
                "enabledMechanisms = {{ {} }}\n",
                mechanisms.join(" ")
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> SunPkcs11 {
        let jdk = Jdk {
            home: "/jdk".into(),
            version: String::new(),
        };
        SunPkcs11::read(text, &jdk)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let written = SunPkcs11::new("Outboard-web", Path::new("/opt/with space/x.so"), 2);
        assert_eq!(read(&written.text()), written);
        assert_eq!(written.provider(), "SunPKCS11-Outboard-web");
    }

    #[test]
    fn statements_of_others_are_passed_over() {
        let text = "# of an administrator\nname = Web # here\nlibrary = /x.so\n\
                    attributes(generate, CKO_PRIVATE_KEY, *) = {\n  CKA_TOKEN = true\n}\n\
                    enabledMechanisms = {\n  CKM_ECDSA,\n  CKM_SHA256\n}\nslot=1\nshowInfo = true";
        let expected = SunPkcs11 {
            name: "Web".to_owned(),
            library: "/x.so".into(),
            slot: Some(1),
            mechanisms: Some(vec!["CKM_ECDSA".to_owned(), "CKM_SHA256".to_owned()]),
        };
        assert_eq!(read(text), expected);
        for text in ["", "name", "a = {", "= =", "{ } = x\n\u{0}"] {
            assert_eq!(read(text).slot, None);
        }
    }
}
