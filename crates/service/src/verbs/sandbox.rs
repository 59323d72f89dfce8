//! What the process of the verbs can ask of the kernel: to compute, to answer, and nothing else.
//!
//! No file, no new socket, no other process, no new code. The filter holds for the process as long as it lives, for all of its threads.
//! A call that is not listed fails with `EPERM`, as systemd has it for the service.

use std::io;

use libc::{c_long, sock_filter as Statement};

/// `struct seccomp_data`: the call's number, the processor's kind, and the lower halves of arguments.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const fn argument(number: u32) -> u32 {
    16 + 8 * number + if cfg!(target_endian = "big") { 4 } else { 0 }
}

#[cfg(target_arch = "x86_64")]
const THIS_MACHINE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const THIS_MACHINE: u32 = 0xc000_00b7;

/// Memory, time, threads, and what they wait for; the sockets that are there.
const ALLOWED: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_shutdown,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_ctl,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_futex,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_getpid,
    libc::SYS_gettid,
];

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

/// Puts the sandbox on, for this thread and those that it starts: so it must be the only one.
///
/// # Errors
/// The kernel knows no such filters.
pub(super) fn enter() -> io::Result<()> {
    let mut filter = filter(std::process::id());
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
    match confined {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// The filter of the process of that number.
fn filter(process: u32) -> Vec<Statement> {
    let mut filter = vec![
        load(MACHINE),
        unless(THIS_MACHINE, 1),
        skip(1),
        answer(KILL),
        load(NUMBER),
    ];
    for &call in ALLOWED {
        filter.extend([unless(call as u32, 1), answer(ALLOW)]);
    }
    // Memory that can be run is code.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        filter.extend([
            unless(call as u32, 4),
            load(argument(2)),
            unless_any(libc::PROT_EXEC as u32, 1),
            answer(REFUSE),
            answer(ALLOW),
        ]);
    }
    // Threads, and no processes. The flags of the newer call are where no filter can look: the C library then takes the older one.
    filter.extend([unless(libc::SYS_clone3 as u32, 1), answer(UNKNOWN)]);
    filter.extend([
        unless(libc::SYS_clone as u32, 4),
        load(argument(0)),
        unless_any(libc::CLONE_THREAD as u32, 1),
        answer(ALLOW),
        answer(REFUSE),
    ]);
    // A signal to itself: how a process aborts.
    filter.extend([
        unless(libc::SYS_tgkill as u32, 4),
        load(argument(0)),
        unless(process, 1),
        answer(ALLOW),
        answer(REFUSE),
    ]);
    // A thread's name.
    filter.extend([
        unless(libc::SYS_prctl as u32, 4),
        load(argument(0)),
        unless(libc::PR_SET_NAME as u32, 1),
        answer(ALLOW),
        answer(REFUSE),
    ]);
    filter.push(answer(REFUSE));
    filter
}

fn load(place: u32) -> Statement {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place)
}

fn answer(answer: u32) -> Statement {
    statement(libc::BPF_RET | libc::BPF_K, answer)
}

fn skip(statements: u32) -> Statement {
    statement(libc::BPF_JMP | libc::BPF_JA, statements)
}

/// Skips so many statements if what was loaded is another number.
fn unless(number: u32, statements: u8) -> Statement {
    Statement {
        jf: statements,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number)
    }
}

/// Skips so many statements if what was loaded has none of those bits.
fn unless_any(bits: u32, statements: u8) -> Statement {
    Statement {
        jf: statements,
        ..statement(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bits)
    }
}

fn statement(code: u32, k: u32) -> Statement {
    Statement {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    /// A name, and what is tried: whether it succeeds.
    type Attempt = (&'static str, fn() -> bool);

    /// What the sandbox is to refuse, each in a process of its own: none may be there afterwards.
    const ATTEMPTS: &[Attempt] = &[
        ("open", || std::fs::File::open("/dev/null").is_ok()),
        ("socket", || {
            std::os::unix::net::UnixDatagram::unbound().is_ok()
        }),
        ("pair", || std::os::unix::net::UnixStream::pair().is_ok()),
        ("process", || Command::new("/bin/true").status().is_ok()),
        ("fork", || {
            // SAFETY: a child would end at once.
            let forked = unsafe { libc::fork() };
            if forked == 0 {
                std::process::abort();
            }
            forked > 0
        }),
        ("signal", || {
            // SAFETY: signal 0 does nothing.
            unsafe { libc::kill(libc::getppid(), 0) == 0 }
        }),
        ("code", || {
            let access = libc::PROT_READ | libc::PROT_EXEC;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: a new mapping, wherever there is room.
            let start = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0) };
            start != libc::MAP_FAILED
        }),
        ("dumpable", || {
            // SAFETY: has no preconditions.
            unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 }
        }),
        ("limit", || {
            let limit = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: a value of ours.
            unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) == 0 }
        }),
    ];

    /// A child of the tests below.
    #[test]
    fn child() {
        let Some(wanted) = std::env::var_os("OUTBOARD_TEST_ATTEMPT") else {
            return;
        };
        enter().unwrap();
        let (_, attempt) = ATTEMPTS.iter().find(|(name, _)| wanted == *name).unwrap();
        let is_refused = !attempt();
        // Threads, memory and random numbers are there.
        let computed = std::thread::spawn(|| {
            let mut bytes = vec![0; 1 << 20];
            outboard_engine::scalar::randomise(&mut bytes).is_ok()
        });
        let computes = computed.join().unwrap();
        // SAFETY: ends the process, without what would run after a test.
        unsafe { libc::_exit(if is_refused && computes { 42 } else { 1 }) };
    }

    #[test]
    fn what_is_not_listed_is_refused() {
        for (name, _) in ATTEMPTS {
            let mut child = Command::new(std::env::current_exe().unwrap());
            let child = child
                .args(["--exact", "verbs::sandbox::tests::child", "--nocapture"])
                .args(["--test-threads", "1"])
                .env("OUTBOARD_TEST_ATTEMPT", name);
            let output = child.output().unwrap();
            let status = output.status;
            assert_eq!(status.code(), Some(42), "{name} {:?}", status.signal());
        }
    }

    #[test]
    fn a_jump_ends_inside_the_filter() {
        let filter = filter(1);
        assert!(filter.len() < 256);
        for (place, statement) in filter.iter().enumerate() {
            let furthest = place + 1 + usize::from(statement.jt.max(statement.jf));
            assert!(
                furthest < filter.len() || statement.code == (libc::BPF_RET | libc::BPF_K) as u16
            );
        }
    }
}
