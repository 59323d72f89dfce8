//! A sandbox as services put on, for tests of what it does to a library.

use std::io;

/// `struct seccomp_data` in `linux/seccomp.h` begins with the number of the system call.
const NUMBER: u32 = 0;

/// From now on the system answers this call of the calling thread, and of all that it starts or forks or becomes by
/// `exec`, with `EPERM`.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn refuse(call: libc::c_long) -> io::Result<()> {
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER),
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: call as u32,
        },
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
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
