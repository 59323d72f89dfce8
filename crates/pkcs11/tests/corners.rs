//! The module where programs leave little to stand on: signals that fork, exits in the midst of calls, no threads, no
//! descriptors, sandboxes, and after it is closed.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::{ptr, thread};

use common::calls::{Functions, attribute, call, load, mechanism, open, session};
use cryptoki_sys::*;
use outboard_programs::child::ends_well;
use outboard_programs::sandbox;

/// A key pair's private half.
fn key(functions: &Functions, session: CK_SESSION_HANDLE) -> CK_OBJECT_HANDLE {
    let p256 = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
    let mut public = [attribute(CKA_EC_PARAMS, p256)];
    let mut generate = mechanism(CKM_EC_KEY_PAIR_GEN);
    let (mut public_key, mut private_key) = (0, 0);
    let made = call!(
        functions,
        C_GenerateKeyPair(
            session,
            &raw mut generate,
            public.as_mut_ptr(),
            1,
            ptr::null_mut(),
            0,
            &raw mut public_key,
            &raw mut private_key,
        )
    );
    assert_eq!(made, CKR_OK);
    private_key
}

/// Signs a digest.
fn sign(functions: &Functions, session: CK_SESSION_HANDLE, key: CK_OBJECT_HANDLE) -> CK_RV {
    let mut ecdsa = mechanism(CKM_ECDSA);
    let begun = call!(functions, C_SignInit(session, &raw mut ecdsa, key));
    if begun != CKR_OK {
        return begun;
    }
    let (mut digest, mut signature, mut length) = ([7; 32], [0; 64], 64);
    let (digest, signature) = (digest.as_mut_ptr(), signature.as_mut_ptr());
    call!(
        functions,
        C_Sign(session, digest, 32, signature, &raw mut length)
    )
}

/// A handler that forks as the thread stands in a call: neither the child nor the thread waits for what the thread itself
/// holds.
#[test]
fn a_signals_handler_forks() {
    static FORKS: AtomicU32 = AtomicU32::new(0);
    extern "C" fn fork(_: i32) {
        // SAFETY: the child leaves at once; it is ours to wait for.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(0),
                child => libc::waitpid(child, ptr::null_mut(), 0),
            };
        }
        FORKS.fetch_add(1, Relaxed);
    }
    assert!(ends_well(|| {
        let (functions, session) = session();
        let handler: extern "C" fn(i32) = fork;
        // SAFETY: a handler of the right type.
        unsafe { libc::signal(libc::SIGALRM, handler as libc::sighandler_t) };
        for round in 0..20 {
            let mut soon = libc::itimerval {
                it_interval: libc::timeval {
                    tv_sec: 0,
                    tv_usec: 0,
                },
                it_value: libc::timeval {
                    tv_sec: 0,
                    tv_usec: 500,
                },
            };
            // SAFETY: a timer that lives through the call.
            unsafe { libc::setitimer(libc::ITIMER_REAL, &raw mut soon, ptr::null_mut()) };
            while FORKS.load(Relaxed) == round {
                let mut info = CK_SESSION_INFO::default();
                let told = call!(functions, C_GetSessionInfo(session, &raw mut info));
                assert_eq!(told, CKR_OK);
            }
        }
        true
    }));
}

/// A program ends while its threads sign: with its own status.
#[test]
fn a_program_ends_while_its_threads_sign() {
    for _ in 0..20 {
        assert!(ends_well(|| {
            let (functions, first) = session();
            let key = key(functions, first);
            let are_there = AtomicU32::new(0);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let session = open(functions);
                        loop {
                            sign(functions, session, key);
                            are_there.fetch_add(1, Relaxed);
                        }
                    });
                }
                while are_there.load(Relaxed) < 20 {
                    thread::yield_now();
                }
                // SAFETY: as a program does that has done its work.
                unsafe { libc::exit(0) }
            })
        }));
    }
}

/// Finalised while threads sign: they are told so, or get what they asked for.
#[test]
fn it_is_finalised_while_threads_sign() {
    assert!(ends_well(|| {
        let (functions, _) = session();
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !ended.load(Relaxed) {
                        let mut session = 0;
                        let opened = call!(
                            functions,
                            C_OpenSession(
                                1,
                                CKF_SERIAL_SESSION,
                                ptr::null_mut(),
                                None,
                                &raw mut session
                            )
                        );
                        assert!([CKR_OK, CKR_CRYPTOKI_NOT_INITIALIZED].contains(&opened));
                        let mut random = [0; 64];
                        let drawn = call!(
                            functions,
                            C_GenerateRandom(session, random.as_mut_ptr(), 64)
                        );
                        assert!(
                            [
                                CKR_OK,
                                CKR_SESSION_HANDLE_INVALID,
                                CKR_CRYPTOKI_NOT_INITIALIZED
                            ]
                            .contains(&drawn)
                        );
                    }
                });
            }
            for _ in 0..300 {
                assert_eq!(call!(functions, C_Finalize(ptr::null_mut())), CKR_OK);
                assert_eq!(call!(functions, C_Initialize(ptr::null_mut())), CKR_OK);
            }
            ended.store(true, Relaxed);
        });
        let mut info = CK_TOKEN_INFO::default();
        assert_eq!(call!(functions, C_Finalize(ptr::null_mut())), CKR_OK);
        assert_eq!(call!(functions, C_Initialize(ptr::null_mut())), CKR_OK);
        assert_eq!(call!(functions, C_GetTokenInfo(1, &raw mut info)), CKR_OK);
        info.ulSessionCount == 0
    }));
}

/// Workers of its cards end when they like, and so do threads that used the module.
#[test]
fn a_program_that_closes_it_does_not_unload_it() {
    assert!(ends_well(|| {
        let used = thread::spawn(|| {
            let (functions, session) = session();
            let key = key(functions, session);
            assert_eq!(sign(functions, session, key), CKR_OK);
            assert_eq!(call!(functions, C_Finalize(ptr::null_mut())), CKR_OK);
        });
        used.join().expect("it signs");
        let handle = load(libc::RTLD_NOLOAD);
        // SAFETY: opened twice: here, and where the functions were found.
        unsafe {
            libc::dlclose(handle);
            libc::dlclose(handle);
        }
        !load(libc::RTLD_NOLOAD).is_null()
    }));
}

#[test]
fn neither_threads_nor_descriptors_are_needed() {
    assert!(ends_well(|| {
        sandbox::refuse(libc::SYS_clone).expect("a filter");
        sandbox::refuse(libc::SYS_clone3).expect("a filter");
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        let functions = common::calls::functions();
        // SAFETY: a limit that lives through the call.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none) };
        assert_eq!(call!(functions, C_Initialize(ptr::null_mut())), CKR_OK);
        let session = open(functions);
        let key = key(functions, session);
        sign(functions, session, key) == CKR_OK
    }));
}

/// Less than filters of servers leave, which allow what `malloc` needs: the process is killed for any other call.
#[test]
fn a_sandbox_after_the_beginning_is_no_matter() {
    assert!(ends_well(|| {
        let (functions, session) = session();
        let key = key(functions, session);
        assert_eq!(sign(functions, session, key), CKR_OK);
        sandbox::allow_only(&[
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_exit,
            libc::SYS_exit_group,
            libc::SYS_futex,
            libc::SYS_getpid,
            libc::SYS_mmap,
            libc::SYS_munmap,
            libc::SYS_mprotect,
            libc::SYS_brk,
        ])
        .expect("a filter");
        (0..100).all(|_| sign(functions, session, key) == CKR_OK)
    }));
}
