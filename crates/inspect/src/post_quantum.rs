//! Do programs have the post-quantum groups that the configuration names?

use std::path::Path;

use outboard_installation::has_post_quantum_groups;
use outboard_libcrypto::Library;
use outboard_openssl_conf::{Config, POST_QUANTUM, Place};

use crate::Finding;

/// Compares the list of groups with what OpenSSL and Outboard know.
pub(crate) fn examine(
    config: &Config,
    file: &Path,
    library: &Library,
    findings: &mut Vec<Finding>,
) {
    let asked = config
        .outboard_settings()
        .and_then(|settings| settings.post_quantum);
    let listed = config.post_quantum_groups();
    let is_native = has_post_quantum_groups(library);
    findings.extend(finding(
        asked.is_some(),
        listed,
        is_native,
        &file.display().to_string(),
    ));
}

fn finding(asked: bool, listed: Option<Place>, is_native: bool, file: &str) -> Option<Finding> {
    const TOPIC: &str = "post-quantum";
    match (asked, listed) {
        // OpenSSL's own groups need neither.
        _ if is_native => None,
        (false, None) => None,
        (true, Some(place)) => {
            let place = match place {
                Place::First => "first",
                Place::Second => "behind the first",
            };
            Some(Finding::good(
                TOPIC,
                format!("programs have the group {} of TLS 1.3, {place} in their list", POST_QUANTUM[0]),
            ))
        }
        (true, None) => Some(
            Finding::note(
                TOPIC,
                format!("{file} gives programs post-quantum groups, but no list of groups names them"),
            )
            .because("only programs that name the groups themselves use them")
            .remedy("run 'outboard enable --post-quantum'"),
        ),
        (false, Some(_)) => Some(
            Finding::problem(
                TOPIC,
                format!("the list of groups in {file} names {}, which this OpenSSL does not know", POST_QUANTUM[0]),
            )
            .because(
                "the setting 'post-quantum' of Outboard is not on, so OpenSSL passes over the whole list",
            )
            .remedy("run 'outboard enable --post-quantum', or take the name out of the list"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_and_a_setting_belong_together() {
        let is_problem = |asked, listed, native| {
            let finding = finding(asked, listed, native, "openssl.cnf");
            finding.map(|finding| finding.is_problem())
        };
        assert_eq!(is_problem(false, None, false), None);
        assert_eq!(is_problem(true, Some(Place::First), false), Some(false));
        assert_eq!(is_problem(true, None, false), Some(false));
        assert_eq!(is_problem(false, Some(Place::Second), false), Some(true));
        assert_eq!(is_problem(false, Some(Place::First), true), None);
    }
}
