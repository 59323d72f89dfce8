//! Whether programs can read a reference to a key of the card service at all, as the configuration says it.

use std::path::{Path, PathBuf};

use outboard_installation::{self as installation, InForce};
use outboard_openssl_conf::Config;
use outboard_wire::SYSTEM_DIRECTORY;

use crate::Finding;

/// Why a program that reads a configuration reads no reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// What the configuration lacks or says.
    pub because: String,
    /// What to do before the program is restarted.
    pub remedy: String,
}

impl Obstacle {
    /// The finding about a file with a reference.
    pub(crate) fn finding(&self, subject: &'static str, file: &Path) -> Finding {
        let what = format!("no program can read the reference in {}", file.display());
        Finding::problem(subject, what)
            .because(self.because.clone())
            .remedy(format!("{}, then restart the server", self.remedy))
    }
}

/// Why programs read no reference to a key of the service in that directory; none where the configuration in force or the
/// system's lets them, or cannot be understood ('outboard doctor' then says why).
pub fn obstacle(directory: &Path) -> Option<Obstacle> {
    let library = installation::library().ok()?;
    let in_force = InForce::find(&library).ok()?;
    let first = of(&in_force, directory)?;
    match (&in_force, installation::configuration(&library)) {
        (InForce::System(_), _) | (_, Err(_)) => Some(first),
        (_, Ok(system)) => of(&InForce::System(system), directory).map(|_| first),
    }
}

fn of(in_force: &InForce, directory: &Path) -> Option<Obstacle> {
    let name = in_force.name();
    let name = name.canonicalize().unwrap_or(name.to_owned());
    let name = name.display();
    let text = in_force.read().ok()?;
    let config = Config::parse(&text, in_force.name(), installation::environment).ok()?;
    let Some(outboard) = config.outboard() else {
        return Some(match in_force {
            InForce::System(_) => Obstacle {
                because: format!("{name} does not load Outboard"),
                remedy: "run 'outboard enable'".to_owned(),
            },
            InForce::Environment(_) => Obstacle {
                because: format!("{name}, which OPENSSL_CONF names, does not load Outboard"),
                remedy: format!("run 'outboard enable --config {name}'"),
            },
            InForce::Nothing => Obstacle {
                because: "OPENSSL_CONF names no file, so programs read no configuration".to_owned(),
                remedy: "run 'unset OPENSSL_CONF'".to_owned(),
            },
        });
    };
    let setting = config.assignment(&outboard.section, "service");
    let named = setting.map_or(SYSTEM_DIRECTORY.into(), |it| PathBuf::from(&it.value));
    (!is_same(&named, directory)).then(|| Obstacle {
        because: format!(
            "{name} lets programs ask the card service in {}",
            named.display()
        ),
        remedy: match directory == Path::new(SYSTEM_DIRECTORY) {
            true => format!("remove the line 'service = {}' there", named.display()),
            false => format!(
                "write 'service = {}' into [{}] there",
                directory.display(),
                outboard.section
            ),
        },
    })
}

fn is_same(one: &Path, other: &Path) -> bool {
    let plain = |path: &Path| path.canonicalize().unwrap_or(path.to_owned());
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_loads_nothing_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("openssl.cnf");
        let of = |text: &str, directory: &str| {
            std::fs::write(&file, text).unwrap();
            of(&InForce::System(file.clone()), Path::new(directory))
        };
        let because = |obstacle: Option<Obstacle>| obstacle.unwrap().because;
        let loads = "openssl_conf = init\n[init]\nproviders = providers\n[providers]\noutboard = outboard\n\
                     [outboard]\nactivate = 1\nexcept = nginx\n";
        assert!(because(of("", SYSTEM_DIRECTORY)).ends_with("does not load Outboard"));
        assert_eq!(of(loads, SYSTEM_DIRECTORY), None);
        let other = format!("{loads}service = /elsewhere\n");
        assert!(because(of(&other, SYSTEM_DIRECTORY)).ends_with("in /elsewhere"));
        assert_eq!(of(&other, "/elsewhere"), None);
        assert!(because(of(loads, "/elsewhere")).ends_with(SYSTEM_DIRECTORY));
    }
}
