//! The profile: whether programs can use it, and whether it is up to date.

use crate::Finding;
use crate::configuration::Configured;
use outboard_installation::{self as system, module};
use outboard_libcrypto::Library;
use outboard_profile::{Machine, Profile, ProfileError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const BUILT_IN: &str = "programs use the built-in measurements for this processor class instead";

/// Examines the profile that programs use.
pub(crate) fn examine(
    library: &Library,
    configured: Option<&Configured>,
    findings: &mut Vec<Finding>,
) {
    let path = match configured {
        Some(configured) => configured
            .profile
            .clone()
            .unwrap_or_else(|| system::SYSTEM_PROFILE.into()),
        None => system::profile(),
    };
    let name = path.display();
    let machine = Machine::detect().named();
    let (profile, error) = Profile::in_force(&path, &machine, &library.version());
    let calibrate = format!("run '{}'", command(&path));
    match error {
        None => {
            let out_of_date = profile.out_of_date(&library.version());
            findings.push(
                match out_of_date.or_else(|| replaced_since(library, &path)) {
                    None => Finding::good("profile", format!("{name} is valid for this machine")),
                    Some(reason) => Finding::note(
                        "profile",
                        format!(
                            "{name} is in use, but the installed files are not the measured ones"
                        ),
                    )
                    .because(reason)
                    .remedy(calibrate),
                },
            );
            if let Some(private) = module::private(&path).filter(|_| configured.is_some()) {
                findings.push(
                    Finding::problem("profile", format!("not every user can read {name}"))
                        .because(format!(
                            "the permissions of {} forbid it",
                            private.display()
                        ))
                        .remedy(format!("run 'chmod o+rX {}'", private.display())),
                );
            }
        }
        Some(error @ ProfileError::Missing { .. }) => findings.push(
            Finding::note("profile", reason(&error))
                .because(BUILT_IN)
                .remedy(calibrate),
        ),
        Some(error) => findings.push(
            Finding::problem("profile", reason(&error))
                .because(BUILT_IN)
                .remedy(calibrate),
        ),
    }
}

/// A distribution may correct OpenSSL without a new version number. Then the file is newer than the measurements. (The
/// time of the inode's change counts, because a package sets the file's time to the time of its build.)
fn replaced_since(library: &Library, profile: &Path) -> Option<String> {
    let file = library.mapped_path();
    let measured = profile.metadata().ok()?.mtime();
    let replaced = file.metadata().ok()?.ctime();
    (replaced > measured).then(|| format!("{} was replaced after the measurement", file.display()))
}

/// The error without its own remedy. The finding's remedy names the right file and user.
fn reason(error: &ProfileError) -> String {
    let text = error.to_string();
    match text.split_once(" (run ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

/// The command that writes this profile.
pub(crate) fn command(profile: &Path) -> String {
    let own = system::user_profile().filter(|_| !system::is_root());
    let usual: PathBuf = own.unwrap_or_else(|| system::SYSTEM_PROFILE.into());
    match profile {
        profile if profile == usual => "outboard calibrate".to_owned(),
        profile if profile == Path::new(system::SYSTEM_PROFILE) => {
            "sudo outboard calibrate".to_owned()
        }
        other => format!("outboard calibrate --output {}", other.display()),
    }
}
