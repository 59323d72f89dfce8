//! The drop-ins of `outboard advise ssh`: whether sshd still starts with them, and whether ssh still connects.

use crate::Error;
use crate::Finding;
use crate::system::unfit_for_root;
use outboard_advice::ssh::{DropIn, SSH_DIRECTORY, Side, Verdict, check_directory, drop_ins};
use std::path::Path;

/// Whether drop-ins could lie below `directory`.
///
/// # Errors
/// If it is named and is no directory.
pub(crate) fn check(directory: &Path) -> Result<(), Error> {
    Ok(check_directory(
        directory,
        "(give --ssh-directory the directory that was --directory of 'outboard advise ssh')",
    )?)
}

/// Examines those below `directory`; none if there are none.
pub(crate) fn examine(directory: &Path) -> Vec<Finding> {
    drop_ins(directory, |file| unfit_for_root([file]))
        .into_iter()
        .map(|drop_in| finding(drop_in, directory))
        .collect()
}

fn finding(drop_in: DropIn, directory: &Path) -> Finding {
    const SUBJECT: &str = "OpenSSH";
    let (program, file) = (drop_in.side.program(), drop_in.file.display());
    match drop_in.verdict {
        Verdict::Accepted => Finding::good(SUBJECT, format!("{program} accepts {file}")),
        Verdict::Unknown(reason) => Finding::note(
            SUBJECT,
            format!("it is not known whether {program} accepts {file}"),
        )
        .because(reason),
        Verdict::Refused { said, gone } => {
            let consequence = match drop_in.side {
                Side::Server => "does not start with it",
                Side::Client => "makes no connection with it",
            };
            let gone = match gone.is_empty() {
                true => String::new(),
                false => format!("; this OpenSSH has no {}", gone.join(", ")),
            };
            let place = match directory == Path::new(SSH_DIRECTORY) {
                true => String::new(),
                false => format!(" --directory {}", directory.display()),
            };
            let advise = format!("outboard advise ssh{place}");
            Finding::problem(
                SUBJECT,
                format!("{program} does not accept {file}, and {consequence}"),
            )
            .because(format!("{said}{gone}"))
            .remedy(format!("run '{advise} --revert', then '{advise} --apply'"))
        }
    }
}
