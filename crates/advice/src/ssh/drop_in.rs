//! The drop-in, tried with sshd and ssh as part of the whole configuration.

use outboard_installation as installation;
use outboard_programs::Workplace;
use std::io;
use std::path::{Path, PathBuf};

use super::super::level::Level;
use super::algorithm::Kind;
use super::file::{DropInFile, MARK, failed};
use super::include::{self, Staging};
use super::installed::{Lists, Refusal, Side};
use super::reading::{Directive, Line, Places, Reading};
use crate::Error;

/// One side's configuration and the drop-in's place in it.
pub(super) struct Target<'a> {
    pub(super) side: Side,
    /// `/etc/ssh/sshd_config`.
    pub(super) main: PathBuf,
    pub(super) file: DropInFile,
    scratch: &'a Workplace,
    key: &'a Path,
}

impl<'a> Target<'a> {
    /// Below `directory` (`/etc/ssh`); `scratch` is for trials, `key` a host key for them.
    pub(super) fn new(side: Side, directory: &Path, scratch: &'a Workplace, key: &'a Path) -> Self {
        Self {
            side,
            main: directory.join(side.file()),
            file: DropInFile::new(side, directory),
            scratch,
            key,
        }
    }

    /// The configured lists, without our drop-in.
    ///
    /// # Errors
    /// If the configuration cannot be read, or its program does not accept it.
    pub(super) fn today(&self) -> Result<Lists, Error> {
        if let Some(missing) = self.missing() {
            return Err(missing.into());
        }
        self.evaluate(None).map_err(|refusal| {
            let program = self.side.program();
            let main = self.main.display();
            match refusal {
                Refusal::Unasked(reason) => reason.into(),
                Refusal::Said(reason) if reason.contains("Permission denied") => {
                    let remedy = installation::remedy();
                    format!("{program} cannot read all of {main}: {reason}{remedy}").into()
                }
                Refusal::Said(reason) => {
                    format!("{program} does not accept {main} as it is: {reason} (repair it first)")
                        .into()
                }
            }
        })
    }

    /// Why there is no configuration that could get a drop-in, if so.
    fn missing(&self) -> Option<String> {
        if self.main.exists() {
            return None;
        }
        let main = self.main.display();
        let vendor = Path::new("/usr/etc/ssh").join(self.side.file());
        Some(match vendor.exists() {
            true => {
                let vendor = vendor.display();
                format!("there is no {main}, only {vendor} (copy {vendor} to {main} first)")
            }
            false => format!("there is no {main} (name its directory with --directory)"),
        })
    }

    /// The lists that the program uses without any configuration.
    ///
    /// # Errors
    /// If the program does not say.
    pub(super) fn default(&self) -> Result<Lists, Error> {
        Ok(self.side.evaluate(Path::new("/dev/null"), self.key)?)
    }

    /// The drop-in for these lists.
    pub(super) fn text(&self, lists: &Lists, level: Level) -> String {
        let mut text = format!(
            "{MARK}, level {level}; 'outboard advise ssh --revert' removes it.\n\
             # The best algorithms for this machine come first, as measured. OpenSSH uses the first value that \
             it reads.\n"
        );
        for (kind, names) in lists {
            text += &format!("{} {}\n", kind.keyword(), names.join(","));
        }
        text
    }

    /// The reason, in words, why the drop-in `text` would not give these `lists`.
    pub(super) fn obstacle(&self, text: &str, lists: &Lists) -> Option<String> {
        self.file.foreign().or_else(|| {
            let candidate = self
                .scratch
                .write(&format!("{}.new", self.side.file()), text);
            match candidate {
                Ok(candidate) => self
                    .difference(&candidate, lists)
                    .or_else(|| self.silenced(lists)),
                Err(error) => Some(error.to_string()),
            }
        })
    }

    /// Whether the configuration, as it is now, gives these lists; why not.
    pub(super) fn verify(&self, lists: &Lists) -> Option<String> {
        self.difference(&self.file.path, lists)
            .or_else(|| self.really_differs(lists))
    }

    /// Asks sshd about the real files, after the trials with copies. ssh would search relative names in another directory,
    /// and so does sshd for a configuration that is not the system's.
    fn really_differs(&self, lists: &Lists) -> Option<String> {
        let is_system_s = self.directory() == Path::new(super::SSH_DIRECTORY);
        if self.side == Side::Client || !(is_system_s || self.reading().is_absolute()) {
            return None;
        }
        let (program, main) = (self.side.program(), self.main.display());
        match self.side.evaluate(&self.main, self.key) {
            Ok(given) => {
                let (kind, _) = lists
                    .iter()
                    .find(|(kind, names)| given.get(kind) != Some(names))?;
                let keyword = kind.keyword();
                Some(format!(
                    "{program} reads {keyword} in {main} that differ from the drop-in's"
                ))
            }
            Err(refusal) => Some(format!(
                "{program} does not accept {main} with the drop-in: {refusal}"
            )),
        }
    }

    /// Directives of ssh_config that apply to some hosts and come before the drop-in.
    pub(super) fn exceptions(&self) -> Vec<String> {
        let reading = self.reading();
        let before = match reading.includer() {
            Some(_) => reading.before(),
            None => &[],
        };
        Kind::ORDERED
            .iter()
            .filter_map(|kind| {
                let keyword = kind.keyword();
                let line = &before.iter().find(|one| one.sets(keyword))?.line;
                Some(format!(
                    "{} line {} sets {keyword} first, so for the hosts of that line it stays in force",
                    line.file.display(),
                    line.number,
                ))
            })
            .collect()
    }

    /// The whole configuration, and where in it the drop-in is read.
    fn reading(&self) -> Reading {
        let places = Places {
            directory: self.directory(),
            home: None,
        };
        Reading::of(&self.main, places, Some(&self.file.path))
    }

    fn directory(&self) -> &Path {
        self.main.parent().unwrap_or(Path::new("/"))
    }

    /// Why the configuration with that file as the drop-in does not give these lists.
    fn difference(&self, drop_in: &Path, lists: &Lists) -> Option<String> {
        let given = match self.evaluate(Some(drop_in)) {
            Ok(given) => given,
            Err(Refusal::Unasked(reason)) => return Some(reason),
            Err(Refusal::Said(reason)) => {
                let program = self.side.program();
                return Some(format!("{program} would not accept the result: {reason}"));
            }
        };
        let reading = self.reading();
        let Some(includer) = reading.includer() else {
            return Some(format!(
                "{} does not include drop-ins (add this line at its top: Include {}/*.conf)",
                self.main.display(),
                self.file.directory().display()
            ));
        };
        let different = lists
            .iter()
            .find(|(kind, names)| given.get(kind) != Some(names));
        let (kind, _) = different?;
        Some(self.overridden(kind.keyword(), &reading, includer))
    }

    /// The directive that sets `keyword` before `includer` includes the drop-in.
    fn overridden(&self, keyword: &str, reading: &Reading, includer: &Directive) -> String {
        let program = self.side.program();
        let (file, included_at) = (includer.line.file.display(), includer.line.number);
        let mut earlier = reading.before().iter().filter(|one| one.sets(keyword));
        // A directive for some hosts may not have applied to the host that the program was asked about.
        let first = earlier.clone().find(|one| one.block.is_none());
        if let Some(Directive { line, .. }) = first.or_else(|| earlier.next()) {
            let number = line.number;
            return if line.file == includer.line.file {
                format!(
                    "{file} line {number} sets {keyword} before line {included_at} includes the drop-in, and \
                     {program} uses the first value (remove line {number}, or move it below line {included_at})"
                )
            } else {
                format!(
                    "{} line {number} sets {keyword}, and {program} reads that line before the drop-in and uses \
                     the first value (remove that line)",
                    line.file.display()
                )
            };
        }
        if let Some(block) = &includer.block {
            return format!(
                "{file} line {included_at} includes the drop-in inside the {} block of line {}{}, so it would \
                 not apply to all (move the Include to the top)",
                block.keyword,
                block.number,
                elsewhere(block, &includer.line)
            );
        }
        let main = self.main.display();
        format!(
            "{program} would not use the drop-in's {keyword}, because another line of {main} comes first"
        )
    }

    /// The later directive that sets one of these lists for some hosts or users. The drop-in would come first and apply to
    /// them too, so they might no longer connect.
    fn silenced(&self, lists: &Lists) -> Option<String> {
        let reading = self.reading();
        if let Some(reason) = reading.unread() {
            return Some(format!(
                "{reason}, so it is not known what this file sets for some hosts"
            ));
        }
        let includer = &reading.includer()?.line;
        reading.after().iter().find_map(|directive| {
            let block = directive.block.as_ref()?;
            let keyword = lists.keys().map(|kind| kind.keyword());
            let keyword = keyword.into_iter().find(|keyword| directive.sets(keyword))?;
            let line = &directive.line;
            Some(format!(
                "{} line {} sets {keyword} only for the block of line {}{}, but the drop-in would come first, \
                 and the first value counts (move that block before line {} of {})",
                line.file.display(),
                line.number,
                block.number,
                elsewhere(block, line),
                includer.number,
                includer.file.display(),
            ))
        })
    }

    /// The lists that the program reads from the configuration with that file as the drop-in.
    fn evaluate(&self, drop_in: Option<&Path>) -> Result<Lists, Refusal> {
        let unread = |error| Refusal::Unasked(failed("read", &self.main, error).to_string());
        let text = include::read(&self.main).map_err(unread)?;
        // The copy is readable by its owner only, because a configuration may be private.
        let write = |name: &str, text: &str| self.scratch.write_secret(name, text);
        let staging = Staging {
            directory: self.directory(),
            place: &self.file.path,
            instead: drop_in,
            keep: &|number, text| {
                let name = format!("{}.included.{number}.tried", self.side.file());
                write(&name, text).map_err(io::Error::other)
            },
        };
        let staged = staging.stage(&text).map_err(|error| {
            let (main, remedy) = (
                self.main.display(),
                match error.kind() {
                    io::ErrorKind::PermissionDenied => installation::remedy(),
                    _ => "",
                },
            );
            Refusal::Unasked(format!(
                "cannot read all files that {main} includes: {error}{remedy}"
            ))
        })?;
        let file = write(&format!("{}.tried", self.side.file()), &staged.text)
            .map_err(|error| Refusal::Unasked(error.to_string()))?;
        let asked = self.side.evaluate(&file, self.key);
        asked.map_err(|refusal| match refusal {
            Refusal::Said(said) => {
                // The reader knows the files by their own names.
                let ours = [(&*file, &*self.main)].into_iter();
                let ours = ours.chain(drop_in.map(|drop_in| (drop_in, &*self.file.path)));
                let copies = staged.copies.iter().map(|(copy, file)| (&**copy, &**file));
                Refusal::Said(ours.chain(copies).fold(said, |said, (tried, own)| {
                    said.replace(&*tried.to_string_lossy(), &own.to_string_lossy())
                }))
            }
            unasked @ Refusal::Unasked(_) => unasked,
        })
    }
}

/// ` of FILE` where a block stands in another file than a line.
fn elsewhere(block: &Line, line: &Line) -> String {
    match block.file == line.file {
        true => String::new(),
        false => format!(" of {}", block.file.display()),
    }
}
