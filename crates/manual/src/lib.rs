//! Man pages and shell completions, made from the very definition that parses a command line.
//!
//! What a page needs beyond options, it takes from the definition's epilogue (`after_help`): a paragraph
//! "Examples:" becomes the section EXAMPLES, "Exit status:" EXIT STATUS, any other NOTES.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

mod completion;
mod parse;

pub use completion::complete;
pub use parse::parse;

/// A command and what its definition does not say.
#[derive(Clone, Debug)]
pub struct Manual {
    /// As it is parsed.
    pub command: clap::Command,
    /// Its files, for the section FILES of its own page: each a line with its path, then lines that begin with
    /// blanks. Empty if it has none.
    pub files: &'static str,
    /// For SEE ALSO of every page: "config(5), provider(7)".
    pub see_also: &'static str,
}

/// The settings of a configuration file.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The page's name: "outboard.cnf".
    pub name: &'a str,
    /// What it is about, in a line.
    pub about: &'a str,
    /// Sections before the settings: title and text.
    pub text: &'a [(&'a str, &'a str)],
    /// Each setting, and what it does.
    pub settings: &'a [(String, String)],
    /// Lines of a file.
    pub example: &'a str,
}

const VERSION: &str = concat!("outboard ", env!("CARGO_PKG_VERSION"));

impl Manual {
    /// Writes completions for bash, zsh and fish into a directory, which is made if it is not there, and man
    /// pages of the command and all below it into `man` within (`outboard-advise-ssh.1`).
    ///
    /// # Errors
    /// If a directory or a file cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let pages = directory.join("man");
        fs::create_dir_all(&pages)?;
        let name = self.command.get_name().to_owned();
        for (shell, file) in completion::shells(&name) {
            completion::write(
                shell,
                &self.command,
                &mut File::create(directory.join(file))?,
            )?;
        }
        let mut command = self.command.clone().disable_help_subcommand(true);
        command.build();
        self.pages(&command, &name, &pages)
    }

    /// Writes the page of a configuration's settings, in section 5: `man/outboard.cnf.5`.
    ///
    /// # Errors
    /// If a directory or a file cannot be written.
    pub fn write_settings(&self, page: &Settings<'_>, directory: &Path) -> io::Result<()> {
        let pages = directory.join("man");
        fs::create_dir_all(&pages)?;
        let mut roff = Roff::new();
        roff.control(
            "TH",
            [
                page.name.to_uppercase().as_str(),
                "5",
                "",
                VERSION,
                "Outboard",
            ],
        );
        section(
            &mut roff,
            "NAME",
            &format!("{} - {}", page.name, page.about),
        );
        for (title, text) in page.text {
            section(&mut roff, title, text);
        }
        roff.control("SH", ["SETTINGS"]);
        for (term, text) in page.settings {
            roff.control("TP", [])
                .text([bold(term)])
                .text([roman(text)]);
        }
        verbatim(&mut roff, "EXAMPLE", page.example);
        section(&mut roff, "SEE ALSO", self.see_also);
        let mut file = File::create(pages.join(format!("{}.5", page.name)))?;
        roff.to_writer(&mut file)
    }

    /// Writes the pages of a command and of all below it.
    fn pages(&self, command: &clap::Command, name: &str, directory: &Path) -> io::Result<()> {
        self.page(command, name, directory)?;
        for subcommand in command.get_subcommands() {
            let name = format!("{name}-{}", subcommand.get_name());
            self.pages(subcommand, &name, directory)?;
        }
        Ok(())
    }

    /// Writes the page of one command.
    fn page(&self, command: &clap::Command, name: &str, directory: &Path) -> io::Result<()> {
        let epilogue = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let man = Man::new(command.clone())
            .title(name.to_uppercase())
            .source(VERSION)
            .manual("Outboard");

        let mut file = File::create(directory.join(format!("{name}.1")))?;
        man.render_title(&mut file)?;
        man.render_name_section(&mut file)?;
        man.render_synopsis_section(&mut file)?;
        man.render_description_section(&mut file)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut file)?;
        }
        man.render_options_section(&mut file)?;
        let mut roff = Roff::new();
        for paragraph in epilogue
            .split("\n\n")
            .filter(|paragraph| !paragraph.is_empty())
        {
            match paragraph
                .split_once(":\n")
                .or_else(|| paragraph.split_once(": "))
            {
                Some(("Examples", lines)) => verbatim(&mut roff, "EXAMPLES", lines),
                Some(("Exit status", text)) => section(&mut roff, "EXIT STATUS", text),
                _ => section(&mut roff, "NOTES", paragraph),
            }
        }
        if name == self.command.get_name() && !self.files.is_empty() {
            verbatim(&mut roff, "FILES", self.files);
        }
        section(&mut roff, "SEE ALSO", self.see_also);
        roff.to_writer(&mut file)
    }
}

fn section(roff: &mut Roff, title: &str, text: &str) {
    roff.control("SH", [title]).text([roman(text)]);
}

/// A section whose lines stay as they are.
fn verbatim(roff: &mut Roff, title: &str, text: &str) {
    roff.control("SH", [title]).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_a_page_of_their_own() {
        let manual = Manual {
            command: clap::Command::new("upper"),
            files: "",
            see_also: "config(5)",
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        let page = Settings {
            name: "upper.cnf",
            about: "what upper is told",
            text: &[("DESCRIPTION", "It is read once.")],
            settings: &[("cards = NUMBER".to_owned(), "How many.".to_owned())],
            example: "[upper]\ncards = 2",
        };
        manual
            .write_settings(&page, directory.path())
            .expect("it is ours");
        let text =
            fs::read_to_string(directory.path().join("man/upper.cnf.5")).expect("it is ours");
        for part in [
            "cards = NUMBER",
            "How many.",
            "It is read once.",
            "cards = 2",
            "config(5)",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn every_command_has_a_page_and_every_shell_its_completions() {
        let below = clap::Command::new("below").about("Does a part");
        let command = clap::Command::new("upper")
            .about("Does it all")
            .after_help("Examples:\n  upper below   Does it\n\nExit status: 0 done\n\nAnd so on.")
            .subcommand(below);
        let manual = Manual {
            command,
            files: "/etc/upper\n  What it reads.",
            see_also: "config(5)",
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        manual.write(directory.path()).expect("it is ours");
        let read = |name: &str| {
            fs::read_to_string(directory.path().join(name)).unwrap_or_else(|error| {
                panic!("{name}: {error}");
            })
        };
        let page = read("man/upper.1");
        for part in [
            "EXAMPLES",
            "upper below   Does it",
            "EXIT STATUS",
            "NOTES",
            "/etc/upper",
            "config(5)",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        let below = read("man/upper-below.1");
        assert!(below.contains("Does a part") && !below.contains("/etc/upper"));
        for name in ["upper.bash", "_upper", "upper.fish"] {
            assert!(read(name).contains("OUTBOARD_COMPLETE"), "{name}");
        }
    }
}
