//! Users and groups: names for people, numbers for the kernel.
//!
//! Knows what the C library says of accounts (nsswitch.conf(5)). Any number of threads may ask.

use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::MaybeUninit;

use outboard_wording::printable;

/// Users or groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Users.
    User,
    /// Groups.
    Group,
}

/// Why an account was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Such a name cannot be asked for.
    #[error("a name has no zero byte")]
    ZeroByte,
    /// There is no user of that name.
    #[error("there is no user '{0}' (see 'getent passwd', or give a number)")]
    NoUser(String),
    /// There is no group of that name.
    #[error("there is no group '{0}' (see 'getent group', or give a number)")]
    NoGroup(String),
    /// The kernel's word for no account.
    #[error("{NOBODY} is no user and no group: system calls use it for 'none'")]
    Nobody,
}

/// What system calls say instead of a number: (uid_t)-1.
const NOBODY: u32 = u32::MAX;

/// The number of an account that is given by name or number. A number need not have a name.
///
/// # Errors
/// If no account has that name, or none can have that number.
pub fn find(account: Account, given: &str) -> Result<u32, Error> {
    match given.parse() {
        Ok(NOBODY) => return Err(Error::Nobody),
        Ok(number) => return Ok(number),
        Err(_) => {}
    }
    let wanted = CString::new(given).map_err(|_| Error::ZeroByte)?;
    let number = match account {
        Account::User => user(User::Named(&wanted)).map(|user| user.number),
        Account::Group => group(Group::Named(&wanted)).map(|group| group.number),
    };
    number.ok_or_else(|| match account {
        Account::User => Error::NoUser(printable(given)),
        Account::Group => Error::NoGroup(printable(given)),
    })
}

/// The name of an account, or its number where it has none.
pub fn name(account: Account, number: u32) -> String {
    let name = match account {
        Account::User => user(User::Numbered(number)).map(|user| user.name),
        Account::Group => group(Group::Numbered(number)).map(|group| group.name),
    };
    match name {
        Some(name) => printable(&name.to_string_lossy()),
        None => number.to_string(),
    }
}

/// The group that a user's programs start in.
pub fn group_of(uid: u32) -> Option<u32> {
    user(User::Numbered(uid)).map(|user| user.group)
}

/// Whether a user is a member of a group.
pub fn is_member(uid: u32, gid: u32) -> bool {
    let Some(user) = user(User::Numbered(uid)) else {
        return false;
    };
    user.group == gid
        || group(Group::Numbered(gid)).is_some_and(|group| group.members.contains(&user.name))
}

/// How a user is asked for.
enum User<'a> {
    Named(&'a CStr),
    Numbered(u32),
}

/// How a group is asked for.
enum Group<'a> {
    Named(&'a CStr),
    Numbered(u32),
}

struct UserEntry {
    name: CString,
    number: u32,
    group: u32,
}

struct GroupEntry {
    name: CString,
    number: u32,
    members: Vec<CString>,
}

fn user(wanted: User<'_>) -> Option<UserEntry> {
    let ask = |entry: *mut libc::passwd, room: *mut c_char, size, found| match wanted {
        // SAFETY: `looked_up` passes room for the entry and `size` bytes for its texts; the name ends with a zero byte.
        User::Named(name) => unsafe { libc::getpwnam_r(name.as_ptr(), entry, room, size, found) },
        // SAFETY: as above.
        User::Numbered(uid) => unsafe { libc::getpwuid_r(uid, entry, room, size, found) },
    };
    looked_up(ask, |entry: &libc::passwd| UserEntry {
        // SAFETY: the C library filled the entry: its name ends with a zero byte, in the room that still is there.
        name: unsafe { CStr::from_ptr(entry.pw_name) }.to_owned(),
        number: entry.pw_uid,
        group: entry.pw_gid,
    })
}

fn group(wanted: Group<'_>) -> Option<GroupEntry> {
    let ask = |entry: *mut libc::group, room: *mut c_char, size, found| match wanted {
        // SAFETY: `looked_up` passes room for the entry and `size` bytes for its texts; the name ends with a zero byte.
        Group::Named(name) => unsafe { libc::getgrnam_r(name.as_ptr(), entry, room, size, found) },
        // SAFETY: as above.
        Group::Numbered(gid) => unsafe { libc::getgrgid_r(gid, entry, room, size, found) },
    };
    looked_up(ask, |entry: &libc::group| GroupEntry {
        // SAFETY: the C library filled the entry: its name ends with a zero byte, in the room that still is there.
        name: unsafe { CStr::from_ptr(entry.gr_name) }.to_owned(),
        number: entry.gr_gid,
        // SAFETY: a list of such names that ends with a null pointer.
        members: unsafe { names(entry.gr_mem) },
    })
}

/// # Safety
/// `list` is null, or a list of names with a null pointer after the last.
unsafe fn names(mut list: *mut *mut c_char) -> Vec<CString> {
    let mut names = Vec::new();
    // SAFETY: the caller's promise; the null pointer is not passed.
    unsafe {
        while !list.is_null() && !(*list).is_null() {
            names.push(CStr::from_ptr(*list).to_owned());
            list = list.add(1);
        }
    }
    names
}

/// Asks the C library for an entry, with as much room as its texts need, and copies what `read` takes of it.
fn looked_up<Entry, Copied>(
    ask: impl Fn(*mut Entry, *mut c_char, usize, *mut *mut Entry) -> c_int,
    read: impl FnOnce(&Entry) -> Copied,
) -> Option<Copied> {
    /// The longest entry that is read: a group of ten thousand members has some hundred thousand bytes.
    const MOST: usize = 16 << 20;
    let mut entry = MaybeUninit::uninit();
    let mut room: Vec<c_char> = vec![0; 4096];
    loop {
        let mut found = std::ptr::null_mut();
        match ask(
            entry.as_mut_ptr(),
            room.as_mut_ptr(),
            room.len(),
            &mut found,
        ) {
            // SAFETY: null, or the entry above, which the C library filled.
            0 => return unsafe { found.as_ref() }.map(read),
            libc::EINTR => {}
            libc::ERANGE if room.len() < MOST => room.resize(room.len() * 2, 0),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_0() {
        assert_eq!(find(Account::User, "root").expect("there is root"), 0);
        assert_eq!(find(Account::Group, "4711").expect("a number"), 4711);
        assert_eq!(name(Account::User, 0), "root");
        assert!(is_member(0, 0) && !is_member(3_999_999_999, 0) && !is_member(0, 3_999_999_999));
        assert_eq!(name(Account::Group, 0), "root");
        assert_eq!(name(Account::User, 3_999_999_999), "3999999999");
        let error = find(Account::User, "nobody-of-that-name").expect_err("there is none");
        assert!(error.to_string().contains("getent passwd"), "{error}");
        assert_eq!(find(Account::User, "4294967295"), Err(Error::Nobody));
    }
}
