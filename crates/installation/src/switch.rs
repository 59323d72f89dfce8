//! Whether Outboard is switched on, and for which programs.

use crate::InForce;
use outboard_openssl_conf::{Config, Offer, Place};
use outboard_profile::Rollout;
use std::path::PathBuf;
use std::time::SystemTime;

/// The state that the configuration sets.
#[derive(Debug, Default)]
pub struct Switch {
    /// Whether programs load Outboard, prefer it, and are offered something.
    pub is_on: bool,
    /// Whether all cryptography is observed.
    pub is_observed: bool,
    /// When the configuration was last changed.
    pub changed: Option<SystemTime>,
    /// For which programs.
    pub rollout: Option<Rollout>,
    /// Which operations are offered, where that is set.
    pub offer: Option<Offer>,
    /// Where the post-quantum groups of TLS stand in the list, where Outboard gives them.
    pub post_quantum: Option<Place>,
    profile: Option<PathBuf>,
}

impl Switch {
    /// Off if the configuration cannot be read. 'outboard doctor' then names the reason.
    pub fn of(in_force: &InForce) -> Self {
        Self::read(in_force).unwrap_or_default()
    }

    fn read(in_force: &InForce) -> Option<Self> {
        let text = in_force.read().ok()?;
        let config = Config::parse(&text, in_force.name(), crate::environment).ok()?;
        let named = config.outboard()?;
        let settings = config.outboard_settings()?;
        let metadata = in_force.path()?.metadata().ok()?;
        Some(Self {
            is_on: named.preferred && settings.offer != Some(Offer::None),
            is_observed: config.assignment(&named.section, "inner").is_some(),
            changed: metadata.modified().ok(),
            rollout: Some(Rollout::of(&settings.others)),
            offer: settings.offer,
            post_quantum: settings.post_quantum,
            profile: settings.profile,
        })
    }

    /// The profile that programs read.
    pub fn profile(&self) -> PathBuf {
        let named = self.profile.clone();
        named.unwrap_or_else(|| crate::SYSTEM_PROFILE.into())
    }
}
