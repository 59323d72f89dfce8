//! Stock and Outboard side by side: two contexts of one libcrypto in one process.

use std::fs;
use std::path::{Path, PathBuf};

use outboard_libcrypto::{Context, Library};
use tempfile::TempDir;

use crate::{Error, Result};

/// What Outboard is told to offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Everything that it can do, in cards too: to test it.
    All,
    /// Everything that it can do on the caller's thread: to measure it.
    Scalar,
    /// The same, and post-quantum keys and groups where OpenSSL has none.
    PostQuantum,
    /// What a profile says wins: what a user gets. None is the profile where it usually lies.
    Profile(Option<PathBuf>),
}

/// Two configurations in a temporary directory, gone when dropped: with and without Outboard.
#[derive(Debug)]
pub struct Configurations {
    directory: TempDir,
    ledger: PathBuf,
}

/// Begins the names of temporary directories.
const PREFIX: &str = "outboard-measure.";

impl Configurations {
    /// Writes them for the provider at `module`.
    pub fn new(module: &Path, offer: &Offer) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let ledger = directory.path().join("ledger");
        Self::written(directory, ledger, module, offer)
    }

    /// As [`Configurations::new`], in a directory below `parent`, with the ledger in `parent` itself.
    ///
    /// A process has one ledger, that of the first configuration, for all its life: so that all of
    /// one process should be given the same `parent`, and it should live as long.
    pub fn new_in(parent: &Path, module: &Path, offer: &Offer) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        Self::written(directory, parent.join("ledger"), module, offer)
    }

    fn written(directory: TempDir, ledger: PathBuf, module: &Path, offer: &Offer) -> Result<Self> {
        let this = Self { directory, ledger };
        fs::write(this.stock(), STOCK)?;
        fs::write(
            this.outboard(),
            outboard_configuration(module, &this.ledger(), offer),
        )?;
        Ok(this)
    }

    /// The configuration with the default provider alone.
    pub fn stock(&self) -> PathBuf {
        self.directory.path().join("stock.cnf")
    }

    /// The configuration with Outboard, preferred, beside the default provider.
    pub fn outboard(&self) -> PathBuf {
        self.directory.path().join("outboard.cnf")
    }

    /// The ledger that Outboard counts in.
    pub fn ledger(&self) -> PathBuf {
        self.ledger.clone()
    }
}

/// The two contexts, each as a program would have it.
#[derive(Debug)]
pub struct Sides {
    /// The default provider alone.
    pub stock: Context,
    /// Outboard, preferred, beside the default provider.
    pub outboard: Context,
    /// Where the ledger is.
    configurations: Configurations,
}

impl Sides {
    /// Sets both up in `library`, with the provider at `module`. Neither reads the system's
    /// configuration. The counts go to a ledger of their own.
    ///
    /// # Errors
    /// [`Error::NotLoaded`] where libcrypto took the configuration without loading the provider;
    /// OpenSSL's own reasons where it refused.
    pub fn new(library: &Library, module: &Path, offer: &Offer) -> Result<Self> {
        Self::with(Configurations::new(module, offer)?, library, module)
    }

    /// As [`Sides::new`], with the files where [`Configurations::new_in`] has them.
    ///
    /// # Errors
    /// As there.
    pub fn new_in(parent: &Path, library: &Library, module: &Path, offer: &Offer) -> Result<Self> {
        Self::with(
            Configurations::new_in(parent, module, offer)?,
            library,
            module,
        )
    }

    fn with(configurations: Configurations, library: &Library, module: &Path) -> Result<Self> {
        library.ignore_system_configuration()?;
        let stock = Context::from_configuration(library, &configurations.stock())?;
        let outboard = Context::from_configuration(library, &configurations.outboard())?;
        if !outboard.has_provider("outboard") {
            return Err(Error::NotLoaded {
                module: module.display().to_string(),
                version: library.version(),
                reason: why_not(library, module)?,
            });
        }
        Ok(Self {
            stock,
            outboard,
            configurations,
        })
    }

    /// Two contexts without Outboard: how true the method is.
    pub fn stock_twice(library: &Library) -> Result<Self> {
        library.ignore_system_configuration()?;
        let configurations = Configurations::new(Path::new(""), &Offer::All)?;
        let stock = || Context::from_configuration(library, &configurations.stock());
        Ok(Self {
            stock: stock()?,
            outboard: stock()?,
            configurations,
        })
    }

    /// The configurations, and the ledger that Outboard counts in.
    pub fn configurations(&self) -> &Configurations {
        &self.configurations
    }
}

/// Why a module does not load. A configuration that fails is passed over in silence; asked directly,
/// OpenSSL says what is wrong.
fn why_not(library: &Library, module: &Path) -> Result<String> {
    let asked = Context::new(library)?.load_provider(&module.to_string_lossy());
    Ok(match asked {
        Ok(_) => "it loads, but not by a configuration".to_owned(),
        Err(error) => error.to_string(),
    })
}

/// The default provider alone, by the same means as with Outboard.
const STOCK: &str = "\
openssl_conf = openssl_init
[openssl_init]
providers = provider_sect
[provider_sect]
default = default_sect
[default_sect]
activate = 1
";

/// A configuration that activates Outboard beside the default provider and prefers it.
fn outboard_configuration(module: &Path, ledger: &Path, offer: &Offer) -> String {
    let offer = match offer {
        Offer::All => "offer = all".to_owned(),
        // Contenders do one operation at a time: cards, which are for many, would only be in the way.
        Offer::Scalar => "offer = all\ncards = 0".to_owned(),
        Offer::PostQuantum => "offer = all\ncards = 0\npost-quantum = yes".to_owned(),
        Offer::Profile(None) => "offer = profile".to_owned(),
        Offer::Profile(Some(path)) => {
            format!("offer = profile\nprofile = {}", path.display())
        }
    };
    format!(
        "\
openssl_conf = openssl_init
[openssl_init]
providers = provider_sect
alg_section = evp_properties
[provider_sect]
default = default_sect
outboard = outboard_sect
[default_sect]
activate = 1
[outboard_sect]
module = {module}
activate = 1
ledger = {ledger}
{offer}
[evp_properties]
default_properties = ?provider=outboard,?outboard.preferred=yes
",
        module = module.display(),
        ledger = ledger.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_none_is_an_error_with_the_reason() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let error = Sides::new(&library, Path::new("/etc/os-release"), &Offer::All).unwrap_err();
        assert!(error.to_string().contains("invalid ELF header"), "{error}");
    }

    #[test]
    fn configurations_go_when_dropped() {
        let configurations =
            Configurations::new(Path::new("/m.so"), &Offer::Profile(None)).unwrap();
        let path = configurations.outboard();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("module = /m.so\n") && text.contains("offer = profile\n"));
        drop(configurations);
        assert!(!path.exists());
    }
}
