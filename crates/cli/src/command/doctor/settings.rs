//! Do programs get what the provider's settings ask for?

use std::path::Path;

use outboard_profile::settings;

use super::Finding;
use crate::openssl_conf::Config;

/// What is wrong with the settings in that section.
pub(super) fn examine(config: &Config, section: &str, file: &Path, findings: &mut Vec<Finding>) {
    for (name, _) in settings::ALL {
        let Some(assignment) = config.assignment(section, name) else {
            continue;
        };
        if let Some(complaint) = settings::check(name, &assignment.value) {
            findings.push(
                Finding::problem("settings", complaint)
                    .because(format!("[{section}] in {} says so", file.display()))
                    .remedy("correct it, or remove the line"),
            );
        }
    }
}
