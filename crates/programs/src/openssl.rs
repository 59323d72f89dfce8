//! What a program's libcrypto reads: a configuration of our own, with or without Outboard.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Error, Launch, Workplace};

/// Which operations the provider offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Those that the profile says win: what a user gets.
    Profile,
    /// All that it knows: what tests want to see.
    All,
    /// None: loaded, and nothing more.
    None,
}

/// The provider under test.
#[derive(Clone, Debug)]
pub struct Outboard {
    /// The shared object.
    pub module: PathBuf,
    /// What it offers.
    pub offer: Offer,
    /// The profile that decides; the provider's default otherwise.
    pub profile: Option<PathBuf>,
}

/// A configuration file for OpenSSL, given to a program by `OPENSSL_CONF`.
///
/// Both kinds hold the same settings and differ in the provider alone, so that it is the only thing
/// that a comparison compares.
#[derive(Clone, Debug)]
pub struct OpenSsl {
    configuration: PathBuf,
    ledger: Option<Arc<Ledger>>,
    variables: Vec<(&'static str, OsString)>,
}

/// A ledger's file, whose megabytes of memory are given back with its last configuration.
#[derive(Debug)]
struct Ledger(PathBuf);

impl Drop for Ledger {
    fn drop(&mut self) {
        // It is not there if no program ran.
        let _ = fs::remove_file(&self.0);
    }
}

impl OpenSsl {
    /// The default provider alone.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn stock(workplace: &Workplace) -> Result<Self, Error> {
        let text = format!("{HEAD}{DEFAULT_PROVIDER}{TAIL}");
        Ok(Self {
            configuration: workplace.write("stock.cnf", text)?,
            ledger: None,
            variables: Vec::new(),
        })
    }

    /// The default provider and Outboard, which is preferred, with a ledger of its own of that name
    /// in the workplace.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn outboard(workplace: &Workplace, outboard: &Outboard, name: &str) -> Result<Self, Error> {
        Self::outboard_with(workplace, outboard, name, "")
    }

    /// As [`OpenSsl::outboard`], with further lines for the provider's section.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn outboard_with(
        workplace: &Workplace,
        outboard: &Outboard,
        name: &str,
        settings: &str,
    ) -> Result<Self, Error> {
        let ledger = workplace.join(format!("{name}.ledger"));
        let profile = match &outboard.profile {
            Some(path) => format!("profile = {}\n", path.display()),
            None => String::new(),
        };
        let text = format!(
            "{HEAD}alg_section = evp_properties\n{DEFAULT_PROVIDER}\
             outboard = outboard_section\n\
             [outboard_section]\nmodule = {module}\nactivate = 1\noffer = {offer}\n\
             ledger = {ledger}\n{profile}{settings}\
             [evp_properties]\ndefault_properties = ?provider=outboard,?outboard.preferred=yes\n{TAIL}",
            module = outboard.module.display(),
            offer = outboard.offer,
            ledger = ledger.display(),
        );
        Ok(Self {
            configuration: workplace.write(&format!("{name}.cnf"), text)?,
            ledger: Some(Arc::new(Ledger(ledger))),
            variables: Vec::new(),
        })
    }

    /// A configuration of the caller's own, in a file of that name in the workplace.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn configured(workplace: &Workplace, name: &str, text: &str) -> Result<Self, Error> {
        Ok(Self {
            configuration: workplace.write(&format!("{name}.cnf"), text)?,
            ledger: None,
            variables: Vec::new(),
        })
    }

    /// The same configuration, for programs that also get this variable.
    #[must_use]
    pub fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// What programs get besides `OPENSSL_CONF`.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &OsStr)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (*name, value.as_os_str()))
    }

    /// The file for `OPENSSL_CONF`.
    pub fn configuration(&self) -> &Path {
        &self.configuration
    }

    /// Where Outboard counts; `None` for stock.
    pub fn ledger(&self) -> Option<&Path> {
        self.ledger.as_ref().map(|ledger| ledger.0.as_path())
    }

    /// The `openssl` command of the system under this configuration.
    ///
    /// # Errors
    /// [`Error::Missing`].
    pub fn command(&self) -> Result<Launch, Error> {
        Ok(Launch::new("openssl")?.with(self))
    }
}

impl fmt::Display for Offer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Profile => "profile",
            Self::All => "all",
            Self::None => "none",
        })
    }
}

/// A configuration that cannot be used must be an error, not a silent return to stock.
const HEAD: &str = "config_diagnostics = 1\nopenssl_conf = openssl_init\n\
                    [openssl_init]\nproviders = provider_sections\n";

/// Ends within the list of providers, so that one more can follow. The sections may come in any
/// order; `default` stays active, as a provider list that omits it would switch it off.
const DEFAULT_PROVIDER: &str = "[default_section]\nactivate = 1\n\
                                [provider_sections]\ndefault = default_section\n";

/// What `openssl req` asks of a configuration.
const TAIL: &str = "[req]\ndistinguished_name = name\n[name]\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_is_a_configuration_that_openssl_accepts() {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let listed = stock
            .command()
            .unwrap()
            .args(["list", "-providers"])
            .succeed()
            .unwrap();
        assert!(listed.output.contains("default"), "{}", listed.output);
        assert!(listed.errors.is_empty(), "{}", listed.errors);
    }

    #[test]
    fn outboard_differs_in_the_provider_alone() {
        let workplace = Workplace::new().unwrap();
        let outboard = Outboard {
            module: "/nowhere/outboard.so".into(),
            offer: Offer::All,
            profile: None,
        };
        let with = OpenSsl::outboard(&workplace, &outboard, "server").unwrap();
        let text = fs::read_to_string(with.configuration()).unwrap();
        assert!(text.contains("module = /nowhere/outboard.so\nactivate = 1\noffer = all\n"));
        let stock = OpenSsl::stock(&workplace).unwrap();
        let stock = fs::read_to_string(stock.configuration()).unwrap();
        assert!(stock.lines().all(|line| text.contains(line)));
    }

    #[test]
    fn a_ledger_goes_with_its_last_configuration() {
        let workplace = Workplace::new().unwrap();
        let outboard = Outboard {
            module: "outboard.so".into(),
            offer: Offer::None,
            profile: None,
        };
        let first = OpenSsl::outboard(&workplace, &outboard, "one").unwrap();
        let ledger = first.ledger().unwrap().to_owned();
        fs::write(&ledger, "counts").unwrap();
        let second = first.clone();
        drop(first);
        assert!(ledger.exists());
        drop(second);
        assert!(!ledger.exists());
    }
}
