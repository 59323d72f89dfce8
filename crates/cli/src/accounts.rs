//! Users and groups: names for people, numbers for the kernel.

use std::ffi::{CStr, CString, c_char};

use outboard_wording::printable;

use crate::Failure;

/// Users or groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    User,
    Group,
}

/// The number of an account that is given by name or number. A number need not have a name.
pub(crate) fn find(account: Account, given: &str) -> Result<u32, Failure> {
    if let Ok(number) = given.parse() {
        return Ok(number);
    }
    let wanted = CString::new(given).map_err(|_| "a name has no zero byte")?;
    let number = match account {
        Account::User => {
            // SAFETY: a name that ends with a zero byte; the command has one thread, and the result is read at once.
            unsafe { libc::getpwnam(wanted.as_ptr()).as_ref() }.map(|user| user.pw_uid)
        }
        Account::Group => {
            // SAFETY: as above.
            unsafe { libc::getgrnam(wanted.as_ptr()).as_ref() }.map(|group| group.gr_gid)
        }
    };
    number.ok_or_else(|| {
        let (what, file) = match account {
            Account::User => ("user", "passwd"),
            Account::Group => ("group", "group"),
        };
        let given = printable(given);
        format!("there is no {what} '{given}' (see 'getent {file}', or give a number)").into()
    })
}

/// The name of an account, or its number where it has none.
pub(crate) fn name(account: Account, number: u32) -> String {
    let name: Option<*mut c_char> = match account {
        Account::User => {
            // SAFETY: the command has one thread, and the result is read at once.
            unsafe { libc::getpwuid(number).as_ref() }.map(|user| user.pw_name)
        }
        Account::Group => {
            // SAFETY: as above.
            unsafe { libc::getgrgid(number).as_ref() }.map(|group| group.gr_name)
        }
    };
    match name {
        // SAFETY: a name that ends with a zero byte, valid until the next question.
        Some(name) => printable(&unsafe { CStr::from_ptr(name) }.to_string_lossy()),
        None => number.to_string(),
    }
}

/// The group that a user's programs start in.
pub(crate) fn group_of(uid: u32) -> Option<u32> {
    // SAFETY: the command has one thread, and the result is read at once.
    unsafe { libc::getpwuid(uid).as_ref() }.map(|user| user.pw_gid)
}

/// Whether a user is a member of a group.
pub(crate) fn is_member(uid: u32, gid: u32) -> bool {
    // SAFETY: the command has one thread, and the results are read at once.
    let user = unsafe { libc::getpwuid(uid).as_ref() };
    let Some(user) = user else { return false };
    if user.pw_gid == gid {
        return true;
    }
    // SAFETY: a name that ends with a zero byte, valid until the next question about users.
    let name = unsafe { CStr::from_ptr(user.pw_name) }.to_owned();
    // SAFETY: as above.
    let Some(group) = (unsafe { libc::getgrgid(gid).as_ref() }) else {
        return false;
    };
    let mut member = group.gr_mem;
    // SAFETY: a list of names that ends with a null pointer.
    unsafe {
        while !(*member).is_null() {
            if CStr::from_ptr(*member) == name.as_c_str() {
                return true;
            }
            member = member.add(1);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_0() {
        assert_eq!(find(Account::User, "root").unwrap(), 0);
        assert_eq!(find(Account::Group, "4711").unwrap(), 4711);
        assert_eq!(name(Account::User, 0), "root");
        assert!(is_member(0, 0) && !is_member(3_999_999_999, 0) && !is_member(0, 3_999_999_999));
        assert_eq!(name(Account::Group, 0), "root");
        assert_eq!(name(Account::User, 3_999_999_999), "3999999999");
        let error = find(Account::User, "nobody-of-that-name").unwrap_err();
        assert!(error.to_string().contains("getent passwd"), "{error}");
    }
}
