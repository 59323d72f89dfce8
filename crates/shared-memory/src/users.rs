//! Where each user's file is.

use std::path::PathBuf;

/// In memory, writable by everybody, and each user removes only their own.
const DIRECTORY: &str = "/dev/shm";

/// One file per user, named by the user's id.
#[derive(Clone, Copy, Debug)]
pub struct UserFiles {
    /// What the names begin with; the id follows.
    pub prefix: &'static str,
}

impl UserFiles {
    /// Where that user's is.
    pub fn path(self, uid: u32) -> PathBuf {
        format!("{DIRECTORY}/{}{uid}", self.prefix).into()
    }

    /// Those that there are, of all users, in the order of their ids.
    pub fn all(self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
        let mut users: Vec<u32> = entries
            .filter_map(|entry| self.user(entry.file_name().to_str()?))
            .collect();
        users.sort_unstable();
        users.into_iter().map(|uid| self.path(uid)).collect()
    }

    /// Whose the file of that name is. `+0` and `00`, too, would be read as 0, and are no user's.
    fn user(self, name: &str) -> Option<u32> {
        let id = name.strip_prefix(self.prefix)?;
        id.parse().ok().filter(|user: &u32| user.to_string() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_one_name() {
        let files = UserFiles {
            prefix: "outboard.",
        };
        assert_eq!(files.user("outboard.0"), Some(0));
        assert_eq!(files.user("outboard.1000"), Some(1000));
        for name in [
            "outboard.+0",
            "outboard.00",
            "outboard.",
            "other.0",
            "outboard.run.1",
        ] {
            assert_eq!(files.user(name), None, "{name}");
        }
    }
}
