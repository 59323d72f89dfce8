//! `outboard calibrate`: measures this machine against its OpenSSL and writes the profile.

use crate::Failure;
use crate::output::{is_utf8, print, print_json, remark};
use indicatif::{ProgressBar, ProgressStyle};
use outboard_installation::{self as installation, module};
use outboard_measure::{Load, Progress, Reason, USUAL_TIME, Waited, calibrate};
use outboard_profile::{Machine, Profile};
use serde::Serialize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  outboard calibrate                  As root: measure for the system
  outboard calibrate --output p.json  Write the profile to another file
  outboard info                       Show the result and the chosen paths

Profile: a file with the measured cost of each operation on this machine. It decides which operations \
Outboard offers.

OpenSSL and Outboard take turns every few milliseconds, so other work on the machine slows both equally. \
A quiet machine still gives better numbers. The command warns you if the machine was too busy.";

/// Measure which operations Outboard does faster on this machine
///
/// Compares the system's OpenSSL with Outboard, for every operation at every size, in under a minute. From
/// then on, Outboard offers programs the operations that won. An operation that lost or drew stays with
/// OpenSSL. Root writes the profile of the whole system. Another user writes a profile of their own, which
/// 'outboard run' uses.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Write the profile to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use this provider module instead of the installed one
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// Total time of the measurement
    #[arg(long, value_name = "SECONDS", default_value_t = USUAL_TIME.as_secs(),
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    time: u64,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    written_to: PathBuf,
    load: Load,
    left_out: Vec<LeftOut>,
    profile: Profile,
}

#[derive(Serialize)]
struct LeftOut {
    operation: &'static str,
    reason: String,
    is_failure: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let library = installation::library()?;
    let module = module::find(arguments.module.as_deref(), Some(&library))?;
    // Check this before the measurement, which takes a minute.
    let output = match arguments.output {
        Some(output) => std::path::absolute(output)?,
        None => {
            let output = usual_place()?;
            make_directory(directory_of(&output))?;
            output
        }
    };
    check_directory(directory_of(&output))?;

    let time = Duration::from_secs(arguments.time);
    let bar = progress_bar(time);
    let before = Waited::now();
    let calibration = calibrate(&library, &module, time, &mut |progress| {
        show(&bar, progress)
    })?;
    let load = Load::between(before, Waited::now());
    bar.finish_and_clear();

    let profile = Profile::measured(
        Machine::detect().named(),
        &calibration.libcrypto,
        calibration.measurements,
    )
    .with_lanes(calibration.lanes, calibration.queueing);
    profile.save(&output)?;
    let left_out = calibration.left_out.into_iter().map(|left_out| LeftOut {
        operation: left_out.operation.name(),
        reason: left_out.reason.to_string(),
        is_failure: !matches!(left_out.reason, Reason::NotOffered),
    });
    let report = Report {
        written_to: output,
        load,
        left_out: left_out.collect(),
        profile,
    };
    if arguments.json {
        print_json("outboard-calibrate", &report)?;
    } else {
        print(&report.text())?;
    }
    let failed = report.left_out.iter().any(|left_out| left_out.is_failure);
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

impl Report {
    fn text(&self) -> String {
        let mut text = super::info::table(&self.profile, &self.profile.machine.clone());
        for left_out in self.left_out.iter().filter(|left_out| left_out.is_failure) {
            text.push_str(&format!(
                "\n{} could not be measured and stays with OpenSSL: {}\n",
                left_out.operation, left_out.reason
            ));
        }
        let won = self.profile.chosen();
        text.push_str(&format!(
            "\nOutboard wins {won} of {} operations. Written to {}\n",
            outboard_operation::Operation::compared().count(),
            self.written_to.display()
        ));
        if won == 0 {
            text.push_str(
                "This machine has nothing to gain: OpenSSL does everything. Only keys of the card service need \
                 'outboard enable'.\n",
            );
        }
        if let Some(warning) = self.load.warning() {
            text.push_str(&warning);
        }
        text
    }
}

/// The place of the profile that this user may write.
fn usual_place() -> Result<PathBuf, Failure> {
    if installation::is_root() {
        return Ok(installation::SYSTEM_PROFILE.into());
    }
    installation::user_profile()
        .ok_or_else(|| "neither XDG_STATE_HOME nor HOME is set (use --output)".into())
}

fn directory_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

/// Makes the directory of the usual place, if it does not exist. It does not make a directory that the user named,
/// because the path may be misspelt.
fn make_directory(directory: &Path) -> Result<(), Failure> {
    if directory.exists() {
        return Ok(());
    }
    let made = std::fs::create_dir_all(directory).and_then(|()| match installation::is_root() {
        // Every program reads the system's profile, so root's umask must not hide it.
        true => std::fs::set_permissions(directory, PermissionsExt::from_mode(0o755)),
        false => Ok(()),
    });
    made.map_err(|error| format!("cannot make {}: {error}", directory.display()).into())
}

fn check_directory(directory: &Path) -> Result<(), Failure> {
    if !directory.is_dir() {
        let directory = directory.display();
        return Err(format!(
            "cannot write to {directory}: there is no such directory (run 'mkdir -p {directory}', or name another \
             file with --output)"
        )
        .into());
    }
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).map_err(|error| {
        format!(
            "cannot write to {}: {error} (use --output)",
            directory.display()
        )
        .into()
    })
}

fn progress_bar(time: Duration) -> ProgressBar {
    let bar = ProgressBar::new(0); // drawn on standard error, and only on a terminal
    if bar.is_hidden() {
        remark(&format!("measuring for about {} seconds", time.as_secs()));
    }
    // No estimate of the remaining time: the steps differ too much.
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed:>4} so far  {msg}")
        .expect("invariant: the template is well formed");
    bar.with_style(match is_utf8() {
        true => style,
        false => style.progress_chars("=> "),
    })
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    let name = progress.operation.name();
    bar.set_message(match progress.size {
        0 => name.to_owned(),
        size => format!("{name}, {size} bytes"),
    });
}
