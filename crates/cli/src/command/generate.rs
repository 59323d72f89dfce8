//! Man pages and shell completions of this command, for `make install`.

use crate::{Cli, Command, Failure};
use clap::CommandFactory;
use outboard_manual::{Manual, Settings};
use outboard_profile::settings;
use std::path::PathBuf;
use std::process::ExitCode;

const FILES: &str = "\
/var/lib/outboard/profile.json
  The measured cost of each operation on this machine, written by 'outboard calibrate' as root.
~/.local/state/outboard/profile.json
  A user's own profile. 'outboard run' and 'outboard info' prefer it.
/run/outboard/service.sock, /run/outboard/admin.sock, /run/outboard/agent.sock
  The card service's sockets: for the use of keys, for administration, and for ssh.
/var/lib/outboard/store
  The card service's keys, encrypted under its master key.
/dev/shm/outboard.UID
  A user's ledger.
/dev/shm/outboard-observed-4.UID
  A user's record, after 'outboard enable --observe'.";

const SETTINGS_ABOUT: &str = "settings of the OpenSSL provider Outboard";

const SETTINGS_TEXT: &[(&str, &str)] = &[
    (
        "DESCRIPTION",
        "OpenSSL reads openssl.cnf when a program first needs it. The provider Outboard is configured in one section \
         of that file, which 'outboard enable' adds and calls outboard_sect. The provider reads no environment \
         variable. A process reads the settings once, when it loads the provider: restart it after a change.",
    ),
    (
        "ERRORS",
        "The provider ignores a value that it does not understand, and a line with a name that it does not know. \
         'outboard doctor' names such lines.",
    ),
];

const SETTINGS_EXAMPLE: &str = "\
[outboard_sect]
activate = 1
cards = 2
algorithms = RSA, ECDSA";

/// Each setting with its values, its meaning and its default.
fn settings() -> Vec<(String, String)> {
    let module = (
        "module = a file".to_owned(),
        "The provider itself. Default: outboard.so in OpenSSL's modules directory.".to_owned(),
    );
    let ours = settings::ALL.iter().map(|setting| {
        (
            format!("{} = {}", setting.name, setting.values),
            format!("{} Default: {}.", setting.meaning, setting.default),
        )
    });
    std::iter::once(module).chain(ours).collect()
}

/// Writes man pages (man/*.1, man/*.5) and shell completions into a directory
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The directory; the command makes it if it does not exist
    directory: PathBuf,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let manual = Manual {
        command: Cli::<Command>::command(),
        files: FILES,
        see_also: "config(5), provider(7), property(7), openssl-list(1), outboard(1), outboard.cnf(5), outboard-bench(1)",
    };
    manual.write(&arguments.directory)?;
    let page = Settings {
        name: "outboard.cnf",
        about: SETTINGS_ABOUT,
        text: SETTINGS_TEXT,
        settings: &settings(),
        example: SETTINGS_EXAMPLE,
    };
    manual.write_settings(&page, &arguments.directory)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use outboard_profile::settings;

    /// docs/using.md has the same table as outboard.cnf(5).
    #[test]
    fn the_documents_say_the_same_of_settings() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/using.md");
        let text = std::fs::read_to_string(file).expect("it is in the repository");
        for setting in settings::ALL {
            let row = format!(
                "| `{}` | {} | {} | {} |",
                setting.name, setting.values, setting.default, setting.meaning
            );
            assert!(text.contains(&row), "docs/using.md has no line\n{row}");
        }
    }
}
