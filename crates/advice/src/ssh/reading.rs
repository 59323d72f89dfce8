//! A configuration in the order in which sshd or ssh reads it, including all included files: the directives before our
//! drop-in, and those after it.
//!
//! The rules are OpenSSH's (`readconf.c`, `servconf.c`). The files of an `Include` are read at its place. A `Host` or
//! `Match` in an included file ends with that file; inside a block it narrows the block. A relative name belongs to one
//! directory, whatever file contains it. At most 16 files may include each other in a chain. This module does not evaluate
//! `Match` conditions: a directive for some hosts may apply.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::include::{self, MAX_DEPTH, arguments, check_pattern, expand, split_keyword, takes_in};

/// Where names are sought.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// The directory of relative names.
    pub(super) directory: &'a Path,
    /// The directory that `~` stands for; none in the system's files.
    pub(super) home: Option<&'a Path>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) file: Rc<Path>,
    /// From 1.
    pub(super) number: usize,
    pub(super) keyword: String,
}

/// A line, and the `Host` or `Match` block that limits it, unless it applies to all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) line: Line,
    pub(super) block: Option<Line>,
}

/// All that is read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    directives: Vec<Directive>,
    drop_in: Option<(usize, Directive)>,
    unread: Option<String>,
    has_relative_names: bool,
}

impl Reading {
    /// Reads the file `main`, if it can be read, and the files that it includes. The file at `place` is not read, because it
    /// is our drop-in.
    pub(super) fn of(main: &Path, places: Places<'_>, place: Option<&Path>) -> Self {
        let mut reader = Reader {
            places,
            place,
            files: 0,
            reading: Self::default(),
        };
        if reader.read(main, None, 0).is_err() {
            let reason = format!("the files that {} includes have no end", main.display());
            reader.reading.unread.get_or_insert(reason);
        }
        reader.reading
    }

    /// The `Include` that takes our drop-in in, first.
    pub(super) fn includer(&self) -> Option<&Directive> {
        self.drop_in.as_ref().map(|(_, includer)| includer)
    }

    /// The directives before our drop-in; all directives if there is no drop-in.
    pub(super) fn before(&self) -> &[Directive] {
        let end = self.drop_in.as_ref().map(|(at, _)| *at);
        &self.directives[..end.unwrap_or(self.directives.len())]
    }

    /// Why that is not all, if so: a file that is there and could not be read.
    pub(super) fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// Whether it reads the same wherever relative names are sought.
    pub(super) fn is_absolute(&self) -> bool {
        !self.has_relative_names
    }

    /// The directives after our drop-in.
    pub(super) fn after(&self) -> &[Directive] {
        &self.directives[self.before().len()..]
    }
}

impl Directive {
    /// Whether it sets that.
    pub(super) fn sets(&self, keyword: &str) -> bool {
        self.line.is(keyword)
    }
}

impl Line {
    /// Whether that is its keyword.
    fn is(&self, keyword: &str) -> bool {
        self.keyword.eq_ignore_ascii_case(keyword)
    }
}

struct Reader<'a> {
    places: Places<'a>,
    place: Option<&'a Path>,
    files: usize,
    reading: Reading,
}

/// Files include one another too deep, or too many.
struct Endless;

/// 16 files that each include the next one twice take hours.
const MAX_FILES: usize = 4096;

impl Reader<'_> {
    /// `outer` is the block that the file is included in.
    fn read(&mut self, file: &Path, outer: Option<&Line>, depth: usize) -> Result<(), Endless> {
        self.files += 1;
        if depth > MAX_DEPTH || self.files > MAX_FILES {
            return Err(Endless);
        }
        let text = match include::read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                self.pass_over(format!("cannot read {}: {error}", file.display()));
                return Ok(());
            }
        };
        let file: Rc<Path> = file.into();
        let mut block = outer.cloned();
        for (index, text) in text.lines().enumerate() {
            let Some((keyword, rest)) = split_keyword(text) else {
                continue;
            };
            let line = Line {
                file: Rc::clone(&file),
                number: index + 1,
                keyword,
            };
            if line.is("Host") || line.is("Match") {
                let is_for_all =
                    matches!(arguments(rest).as_slice(), [one] if one == "*" || one == "all");
                block = match is_for_all {
                    true => outer.cloned(),
                    false => Some(line),
                };
                continue;
            }
            let directive = Directive {
                line,
                block: block.clone(),
            };
            if directive.sets("Include") {
                self.include(&directive, &arguments(rest), depth)?;
            } else {
                self.reading.directives.push(directive);
            }
        }
        Ok(())
    }

    fn include(
        &mut self,
        includer: &Directive,
        patterns: &[String],
        depth: usize,
    ) -> Result<(), Endless> {
        for pattern in patterns {
            self.reading.has_relative_names |= !pattern.starts_with(['/', '~']);
            let Some(pattern) = self.absolute(pattern) else {
                continue;
            };
            let ours = self.place.filter(|place| takes_in(&pattern, place));
            let found = check_pattern(&pattern).and_then(|()| expand(&pattern, ours, ours));
            let files = found.unwrap_or_else(|error| {
                self.pass_over(error.to_string());
                Vec::new()
            });
            for file in files {
                if Some(&*file) != self.place {
                    self.read(&file, includer.block.as_ref(), depth + 1)?;
                } else if self.reading.drop_in.is_none() {
                    let read = self.reading.directives.len();
                    self.reading.drop_in = Some((read, includer.clone()));
                }
            }
        }
        Ok(())
    }

    /// Goes on without what could not be read, and keeps the first reason.
    fn pass_over(&mut self, reason: String) {
        self.reading.unread.get_or_insert(reason);
    }

    fn absolute(&self, pattern: &str) -> Option<String> {
        let path: PathBuf = match pattern.strip_prefix('~') {
            Some(rest) => self.places.home?.join(rest.strip_prefix('/')?),
            None => self.places.directory.join(pattern),
        };
        Some(path.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// A directory with these files.
    fn tree(files: &[(&str, &str)]) -> TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it is ours");
            fs::write(path, text).expect("it is ours");
        }
        root
    }

    fn read(root: &TempDir, place: Option<&str>) -> Reading {
        let places = Places {
            directory: root.path(),
            home: None,
        };
        let place = place.map(|place| root.path().join(place));
        Reading::of(&root.path().join("main"), places, place.as_deref())
    }

    /// `file:line KEYWORD [for file:line]`
    fn listed(directives: &[Directive]) -> Vec<String> {
        let name = |line: &Line| {
            let file = line.file.file_name().expect("it has a name");
            format!("{}:{}", file.display(), line.number)
        };
        let one = |directive: &Directive| {
            let block = directive.block.as_ref().map(name);
            let block = block.map_or(String::new(), |block| format!(" for {block}"));
            format!(
                "{} {}{block}",
                name(&directive.line),
                directive.line.keyword
            )
        };
        directives.iter().map(one).collect()
    }

    #[test]
    fn files_stand_where_they_are_included() {
        let root = tree(&[
            ("main", "Port 1\ninclude=first \"d/*.conf\" # why\nPort 2\n"),
            // Relative to the one directory, not to d.
            ("d/20.conf", "MACs a\nInclude deep/*\n"),
            ("d/05.conf", "Port 3\n"),
            ("d/.hidden.conf", "Port 4\n"),
            ("deep/x", "Ciphers b"),
            ("first", "Include none\nPort 5\n"),
        ]);
        let reading = read(&root, Some("d/10-outboard.conf"));
        assert_eq!(
            listed(reading.before()),
            ["main:1 Port", "first:2 Port", "05.conf:1 Port"]
        );
        assert_eq!(
            listed(reading.after()),
            ["20.conf:1 MACs", "x:1 Ciphers", "main:3 Port"]
        );
        let includer = reading.includer().expect("main does");
        assert_eq!((includer.line.number, &includer.block), (2, &None));
        assert!(includer.sets("include") && !includer.sets("Port"));

        // One that is there already is not read either.
        fs::write(root.path().join("d/10-outboard.conf"), "Ciphers c").expect("it is ours");
        let again = read(&root, Some("d/10-outboard.conf"));
        assert_eq!(listed(again.after()), listed(reading.after()));
        let all = read(&root, None);
        assert_eq!(all.includer(), None);
        assert!(listed(all.before()).contains(&"10-outboard.conf:1 Ciphers".into()));
    }

    #[test]
    fn blocks_end_with_their_file_and_narrow_the_one_around() {
        let root = tree(&[
            (
                "main",
                "Include a\nMACs 1\nHost x\nInclude a\nMACs 2\nmatch ALL\nMatch all\nMACs 3\n",
            ),
            ("a", "MACs 4\nMatch user=y\nMACs 5\nHost *\nMACs 6\n"),
        ]);
        let keywords = listed(read(&root, None).before());
        let expected = [
            "a:1 MACs",
            "a:3 MACs for a:2",
            "a:5 MACs",
            "main:2 MACs",
            "a:1 MACs for main:3",
            "a:3 MACs for a:2",
            "a:5 MACs for main:3",
            "main:5 MACs for main:3",
            "main:8 MACs",
        ];
        assert_eq!(keywords, expected);
    }

    #[test]
    fn a_drop_in_may_be_included_for_some() {
        let root = tree(&[("main", "Host a\nInclude d/*\n")]);
        let reading = read(&root, Some("d/x"));
        let block = reading
            .includer()
            .and_then(|includer| includer.block.clone());
        assert_eq!(block.expect("Host a").number, 1);
    }

    #[test]
    fn loops_end() {
        let root = tree(&[("main", "Port 1\nInclude main main\nPort 2\n")]);
        // The first at each depth, and no more.
        assert_eq!(read(&root, None).before().len(), MAX_DEPTH + 1);
    }

    #[test]
    fn what_could_not_be_read_is_told() {
        let root = tree(&[("main", "Include d/* none\nPort 1\n"), ("d/a", "")]);
        let unread = || read(&root, None).unread().map(str::to_owned);
        assert_eq!(unread(), None);
        let long = vec![b'\n'; 2 << 20];
        fs::write(root.path().join("d/a"), long).expect("it is ours");
        let reason = unread().expect("it is too long");
        assert!(
            reason.ends_with("d/a: it is too long for a configuration"),
            "{reason}"
        );
        fs::write(root.path().join("main"), "Include d/**\n").expect("it is ours");
        assert!(unread().is_some_and(|reason| reason.contains("without **")));
    }

    #[test]
    fn many_files_that_include_many_end() {
        let root = tree(&[("main", "Include 1 1\n")]);
        for file in 1..16 {
            let text = format!("Include {0} {0}\n", file + 1);
            fs::write(root.path().join(file.to_string()), text).expect("it is ours");
        }
        let reading = read(&root, None);
        assert!(
            reading
                .unread()
                .is_some_and(|reason| reason.ends_with("have no end"))
        );
    }

    #[test]
    fn as_many_files_are_followed_as_openssh_follows() {
        let chain = |length: usize| {
            let root = tree(&[("main", "Include 1\n")]);
            for file in 1..length {
                fs::write(
                    root.path().join(file.to_string()),
                    format!("Include {}", file + 1),
                )
                .expect("it is ours");
            }
            fs::write(root.path().join(length.to_string()), "Port 1").expect("it is ours");
            read(&root, None).before().len()
        };
        assert_eq!((chain(MAX_DEPTH), chain(MAX_DEPTH + 1)), (1, 0));
    }

    #[test]
    fn a_user_s_own_names_begin_at_home() {
        let root = tree(&[
            (".ssh/config", "Include a ~/b ~other/c\n"),
            (".ssh/a", "Port 1\n"),
            ("b", "Port 2\n"),
        ]);
        let (home, directory) = (root.path(), root.path().join(".ssh"));
        let config = directory.join("config");
        let of = |home| {
            let places = Places {
                directory: &directory,
                home,
            };
            Reading::of(&config, places, None)
        };
        assert_eq!(listed(of(Some(home)).before()), ["a:1 Port", "b:1 Port"]);
        assert_eq!(listed(of(None).before()), ["a:1 Port"]);
    }
}
