//! Sandboxes as services put on, for tests of what they do to a library. They hold for the calling thread, and for
//! all that it starts or forks or becomes by `exec`.

use std::io;

use libc::sock_filter as Statement;

/// `struct seccomp_data` in `linux/seccomp.h` begins with the number of the system call.
const NUMBER: u32 = 0;

/// From now on the system answers this call with `EPERM`.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn refuse(call: libc::c_long) -> io::Result<()> {
    confine(&mut [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER),
        skip_unless(call, 1),
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ])
}

/// From now on the system kills the process for any call but these two.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn allow_only([first, second]: [libc::c_long; 2]) -> io::Result<()> {
    let allow = statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW);
    confine(&mut [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER),
        skip_unless(first, 1),
        allow,
        skip_unless(second, 1),
        allow,
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_KILL_PROCESS),
    ])
}

fn statement(code: u32, k: u32) -> Statement {
    Statement {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

/// Skips so many statements if it is another call.
fn skip_unless(call: libc::c_long, statements: u8) -> Statement {
    Statement {
        jf: statements,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32)
    }
}

fn confine(filter: &mut [Statement]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program and its filter live through the calls, which copy them.
    let confined = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) == 0
    };
    if confined {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
