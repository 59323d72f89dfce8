//! Sandboxes as services put on, for tests of what they do to a library. They hold for the calling thread, and for
//! all that it starts or forks or becomes by `exec`.

use std::io;

use libc::sock_filter as Statement;

/// `struct seccomp_data` in `linux/seccomp.h` begins with the number of the system call.
const NUMBER: u32 = 0;

/// What is answered with `EPERM`.
const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;

/// From now on the system answers this call with `EPERM`.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn refuse(call: libc::c_long) -> io::Result<()> {
    put_on(&[(call, REFUSED)], libc::SECCOMP_RET_ALLOW)
}

/// From now on the system kills the process for this call.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn kill_for(call: libc::c_long) -> io::Result<()> {
    put_on(
        &[(call, libc::SECCOMP_RET_KILL_PROCESS)],
        libc::SECCOMP_RET_ALLOW,
    )
}

/// From now on the system kills the process for any call but these.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn allow_only(calls: &[libc::c_long]) -> io::Result<()> {
    allow_and_refuse(calls, &[])
}

/// From now on the system kills the process for any call but these, the latter of which it refuses.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn allow_and_refuse(allowed: &[libc::c_long], refused: &[libc::c_long]) -> io::Result<()> {
    let allowed = allowed.iter().map(|&call| (call, libc::SECCOMP_RET_ALLOW));
    let refused = refused.iter().map(|&call| (call, REFUSED));
    let calls: Vec<_> = allowed.chain(refused).collect();
    put_on(&calls, libc::SECCOMP_RET_KILL_PROCESS)
}

/// From now on the system does not know this option of sockets (`setsockopt(2)`), as an older one.
///
/// # Errors
/// The system's, where it knows no such filters.
pub fn forget_socket_option(option: i32) -> io::Result<()> {
    /// The third argument, of a processor whose lower half of a number comes first.
    const OPTION: u32 = 16 + 2 * 8;
    const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOPROTOOPT as u32;
    let load = |place| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place);
    let answer = |answer| statement(libc::BPF_RET | libc::BPF_K, answer);
    confine(&mut [
        load(NUMBER),
        skip_unless(libc::SYS_setsockopt, 3),
        load(OPTION),
        skip_unless(option.into(), 1),
        answer(UNKNOWN),
        answer(libc::SECCOMP_RET_ALLOW),
    ])
}

/// What becomes of each of these calls, and of all others.
fn put_on(calls: &[(libc::c_long, u32)], others: u32) -> io::Result<()> {
    let answer = |answer| statement(libc::BPF_RET | libc::BPF_K, answer);
    let number = statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER);
    let each = |&(call, becomes): &(_, u32)| [skip_unless(call, 1), answer(becomes)];
    let mut filter = vec![number];
    filter.extend(calls.iter().flat_map(each));
    filter.push(answer(others));
    confine(&mut filter)
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
