//! For which programs Outboard is switched on: the settings `programs` and `except` of the provider's section.

use crate::settings::{names, serves};

/// The programs that Outboard serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollout {
    /// These alone; `None`: every program.
    programs: Option<Vec<String>>,
    /// And not these.
    except: Vec<String>,
}

const PROGRAMS: &str = "programs";
const EXCEPT: &str = "except";
/// Stands for every program in `--for`.
pub const ALL: &str = "all";

impl Rollout {
    /// Reads the lines of a section.
    pub fn of(settings: &[(String, String)]) -> Self {
        let list = |wanted: &str| {
            let setting = settings.iter().find(|(name, _)| name == wanted)?;
            Some(names(&setting.1).map(str::to_owned).collect::<Vec<_>>())
        };
        Self {
            programs: list(PROGRAMS).filter(|list| !list.is_empty()),
            except: list(EXCEPT).unwrap_or_default(),
        }
    }

    /// Puts it in the place of what the lines said before.
    pub fn write(&self, settings: &mut Vec<(String, String)>) {
        settings.retain(|(name, _)| name != PROGRAMS && name != EXCEPT);
        if let Some(programs) = &self.programs {
            settings.push((PROGRAMS.to_owned(), programs.join(",")));
        }
        if !self.except.is_empty() {
            settings.push((EXCEPT.to_owned(), self.except.join(",")));
        }
    }

    /// Serves these programs too. `is_new`: no program was served before.
    pub fn include(&mut self, wanted: &[String], is_new: bool) {
        if wanted.iter().any(|name| name == ALL) {
            *self = Self::default();
        }
        if wanted.is_empty() || wanted.iter().any(|name| name == ALL) {
            return;
        }
        self.except.retain(|name| !wanted.contains(name));
        let programs = match &mut self.programs {
            Some(programs) => programs,
            None if is_new => self.programs.insert(Vec::new()),
            None => return,
        };
        for name in wanted {
            if !programs.contains(name) {
                programs.push(name.clone());
            }
        }
    }

    /// No longer serves these programs; answers whether any program may still be served.
    pub fn exclude(&mut self, unwanted: &[String]) -> bool {
        if unwanted.iter().any(|name| name == ALL) {
            return false;
        }
        match &mut self.programs {
            Some(programs) => programs.retain(|name| !unwanted.contains(name)),
            None => {
                let new = unwanted.iter().filter(|name| !self.except.contains(name));
                self.except.extend(new.cloned().collect::<Vec<_>>());
            }
        }
        self.programs
            .as_ref()
            .is_none_or(|programs| !programs.is_empty())
    }

    /// Whether it serves every program, without an exception.
    pub fn is_of_every_program(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it serves that program.
    pub fn serves(&self, program: &str) -> bool {
        let programs = self.programs.as_ref().map(|programs| programs.join(","));
        let except = Some(self.except.join(",")).filter(|list| !list.is_empty());
        serves(programs.as_deref(), except.as_deref(), program)
    }

    /// `every program but ssh`.
    pub fn text(&self) -> String {
        let mut text = match &self.programs {
            None => "every program".to_owned(),
            Some(programs) => programs.join(", "),
        };
        if !self.except.is_empty() {
            text += &format!(" but {}", self.except.join(", "));
        }
        text
    }
}

/// The names of programs that `--for` was given: of their files, without directories.
///
/// # Errors
/// For a name that no configuration can hold, in words.
pub fn programs(given: &[String]) -> Result<Vec<String>, String> {
    let name = |given: &String| {
        let name = given.rsplit('/').next().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        match !name.is_empty() && name.chars().all(is_plain) {
            true => Ok(name.to_owned()),
            false => Err(format!(
                "'{given}' is not the name of a program (example: --for nginx)"
            )),
        }
    };
    given.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn programs_come_one_by_one() {
        let mut rollout = Rollout::default();
        rollout.include(&list(&["nginx"]), true);
        rollout.include(&list(&["haproxy", "nginx"]), false);
        assert_eq!(rollout.text(), "nginx, haproxy");
        assert!(rollout.serves("haproxy") && !rollout.serves("sshd"));
        assert!(rollout.exclude(&list(&["nginx"])));
        assert!(!rollout.exclude(&list(&["haproxy"])), "none is left");
    }

    #[test]
    fn one_program_is_left_out() {
        let mut rollout = Rollout::default();
        rollout.include(&[], true);
        assert_eq!(rollout, Rollout::default(), "nothing named: every program");
        assert!(rollout.exclude(&list(&["ssh"])));
        assert_eq!(rollout.text(), "every program but ssh");
        assert!(rollout.serves("nginx") && !rollout.serves("ssh"));
        let mut settings = vec![("cards".to_owned(), "2".to_owned())];
        rollout.write(&mut settings);
        assert_eq!(Rollout::of(&settings), rollout);
        rollout.include(&list(&["ssh"]), false);
        assert_eq!(rollout, Rollout::default());
        rollout.write(&mut settings);
        assert_eq!(settings.len(), 1);
    }

    #[test]
    fn names_are_of_files() {
        let given = list(&["/usr/sbin/nginx", "python3.11"]);
        assert_eq!(programs(&given).expect("names"), ["nginx", "python3.11"]);
        for wrong in ["", "a b", "a\nb", "/"] {
            assert!(programs(&list(&[wrong])).is_err(), "{wrong:?}");
        }
    }
}
