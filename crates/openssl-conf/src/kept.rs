//! What an earlier `outboard enable` was asked for, read from its block: a later one keeps it.

use super::config::Assignment;
use super::named::{POST_QUANTUM_SETTING, structural};
use super::{ConfError, Config, Enabled, Environment, Observer, Settings, extend, strip};
use std::path::{Path, PathBuf};

/// The settings of a block.
#[derive(Debug)]
pub struct Earlier {
    /// Those of the provider.
    pub settings: Settings,
    /// The observing module and its record, if programs are observed.
    pub observer: Option<Observer>,
}

impl Earlier {
    /// A block of these settings in `text`, the content of `file`.
    ///
    /// # Errors
    /// As [`super::enable`].
    pub fn write(
        &self,
        text: &[u8],
        file: &Path,
        environment: Environment,
    ) -> Result<Enabled, ConfError> {
        extend(
            text,
            file,
            Some(&self.settings),
            self.observer.as_ref(),
            environment,
        )
    }
}

/// The block in `text`, the content of `file`. `None` if there is no block, or if it cannot be understood:
/// a new block replaces it.
///
/// # Errors
/// [`ConfError::Refused`] if the block's markers are damaged.
pub fn earlier(
    text: &[u8],
    file: &Path,
    environment: Environment,
) -> Result<Option<Earlier>, ConfError> {
    let base = strip(text)?;
    if base == text {
        return Ok(None);
    }
    let parse = |text| Config::parse(text, file, environment).ok();
    Ok(parse(text).and_then(|whole| of(&whole, &parse(&base)?)))
}

/// What `whole` says of Outboard and `base`, the same without the block, does not.
fn of(whole: &Config, base: &Config) -> Option<Earlier> {
    let section = whole.outboard()?.section;
    let said = |config: &Config, name: &str| {
        let assignment = config.assignment(&section, name)?;
        Some(assignment.value.clone())
    };
    let added =
        |name: &str| said(whole, name).filter(|value| said(base, name).as_ref() != Some(value));
    let all = whole.outboard_settings()?;
    let observer = added("inner").and_then(|_| {
        Some(Observer {
            module: PathBuf::from(said(whole, "module")?),
            record: said(whole, "record").map(PathBuf::from),
            beside: true,
        })
    });
    let is_added = |(name, _): &(String, String)| added(name).is_some();
    Some(Earlier {
        settings: Settings {
            module: all.module,
            profile: all.profile.filter(|_| added("profile").is_some()),
            ledger: all.ledger.filter(|_| added("ledger").is_some()),
            offer: all.offer.filter(|_| added("offer").is_some()),
            post_quantum: all.post_quantum.filter(|_| {
                let groups = whole.post_quantum_groups();
                added(POST_QUANTUM_SETTING).is_some() || groups != base.post_quantum_groups()
            }),
            others: all.others.into_iter().filter(is_added).collect(),
        },
        observer,
    })
}

impl Config {
    /// The provider's settings that no other field of [`Settings`] holds, as they are written: `cards = 2`, and `post-quantum` where
    /// it is more than yes.
    pub(super) fn other_settings(&self, section: &str) -> Vec<(String, String)> {
        let all = self.section(section).unwrap_or_default().iter();
        let more = |setting: &&Assignment| {
            setting.name == POST_QUANTUM_SETTING
                && setting.value.eq_ignore_ascii_case("certificates")
        };
        all.filter(|setting| !structural(&setting.name) || more(setting))
            .map(|setting| (setting.name.clone(), setting.value.clone()))
            .collect()
    }
}
