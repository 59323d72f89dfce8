//! Ciphers and MACs: OpenSSH's names, the engine's names, and the expected counts in a ledger.

use outboard_programs::OpenSsl;

use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::suite::Session;

/// A cipher with its MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suite {
    /// Its name in the results: OpenSSH's name without the part after an `@`.
    pub(super) cipher: &'static str,
    /// Likewise; "-" for a cipher that authenticates by itself.
    pub(super) mac: &'static str,
}

impl Suite {
    /// OpenSSH's default today.
    pub(super) const DEFAULT: Self = Self::new("chacha20-poly1305", "-");
    pub(super) const AES_128_GCM: Self = Self::new("aes128-gcm", "-");
    pub(super) const AES_256_GCM: Self = Self::new("aes256-gcm", "-");

    pub(super) const fn new(cipher: &'static str, mac: &'static str) -> Self {
        Self { cipher, mac }
    }

    /// `-o Ciphers=… -o MACs=…`.
    pub(super) fn options(&self) -> Vec<String> {
        let mut options = vec![
            "-o".to_owned(),
            format!("Ciphers={}", self.cipher_of_openssh()),
        ];
        if self.mac != "-" {
            options.extend(["-o".to_owned(), format!("MACs={}", self.mac_of_openssh())]);
        }
        options
    }

    /// For people: "aes128-cbc, hmac-sha1".
    pub(super) fn name(&self) -> String {
        match self.mac {
            "-" => self.cipher.to_owned(),
            mac => format!("{}, {mac}", self.cipher),
        }
    }

    /// Whether so many bytes were sealed or opened (`direction`) by Outboard, as far as it takes this
    /// cipher on at all.
    pub(super) fn prove(
        &self,
        session: &Session<'_>,
        openssl: &OpenSsl,
        direction: &str,
        bytes: u64,
    ) -> Result<Proof, Failure> {
        let operation = format!("{}-{direction}", self.cipher_of_engine());
        if session.installation.proofs.knows(&operation) {
            session.proof(openssl, &[Expected::bytes(&operation, bytes)])
        } else {
            Ok(Proof::not_ours(self.cipher))
        }
    }

    fn cipher_of_openssh(&self) -> String {
        match self.cipher {
            "aes128-gcm" | "aes256-gcm" | "chacha20-poly1305" => {
                format!("{}@openssh.com", self.cipher)
            }
            plain => plain.to_owned(),
        }
    }

    fn mac_of_openssh(&self) -> String {
        if self.mac.ends_with("-etm") || self.mac.starts_with("umac") {
            format!("{}@openssh.com", self.mac)
        } else {
            self.mac.to_owned()
        }
    }

    /// "aes-128-gcm" for "aes128-gcm".
    fn cipher_of_engine(&self) -> String {
        match self.cipher.strip_prefix("aes") {
            Some(rest) => format!("aes-{rest}"),
            None => self.cipher.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_openssh() {
        let options = Suite::new("aes128-ctr", "umac-64-etm").options();
        let expected = [
            "-o",
            "Ciphers=aes128-ctr",
            "-o",
            "MACs=umac-64-etm@openssh.com",
        ];
        assert_eq!(options, expected);
        let options = Suite::AES_128_GCM.options();
        assert_eq!(options, ["-o", "Ciphers=aes128-gcm@openssh.com"]);
        let options = Suite::new("3des-cbc", "hmac-sha1").options();
        assert_eq!(options[3], "MACs=hmac-sha1");
    }

    #[test]
    fn and_those_of_the_engine() {
        assert_eq!(Suite::AES_256_GCM.cipher_of_engine(), "aes-256-gcm");
        assert_eq!(Suite::DEFAULT.cipher_of_engine(), "chacha20-poly1305");
    }
}
