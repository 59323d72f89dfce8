//! A thread that is cancelled (pthread_cancel(3)) while Outboard works for it ends when Outboard has returned, and the
//! program goes on: a cancellation that unwinds Rust would abort it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use outboard_libcrypto::Library;
use outboard_programs::child;

unsafe extern "C" {
    fn pthread_testcancel();
}

/// What the thread does with libcrypto alone, and whether it got so far.
struct Task {
    library: Library,
    name: *const c_char,
    loaded: AtomicBool,
}

/// Cancels itself, and loads the provider, which reads files: in each of these calls the C library would end the thread.
extern "C-unwind" fn load(task: *mut c_void) -> *mut c_void {
    // SAFETY: a task that outlives the thread. Nothing here is owned when the thread ends.
    unsafe {
        let task = &*task.cast::<Task>();
        let f = task.library.functions();
        libc::pthread_cancel(libc::pthread_self());
        let loaded = (f.OSSL_PROVIDER_load)(ptr::null_mut(), task.name);
        task.loaded.store(!loaded.is_null(), Ordering::SeqCst);
        pthread_testcancel();
    }
    ptr::null_mut()
}

/// As `PTHREAD_CANCELED`.
const CANCELLED: usize = usize::MAX;

#[test]
fn a_cancelled_thread_ends_alone() {
    assert!(child::ends_well(|| {
        let name = std::ffi::CString::new(common::module().to_str().unwrap()).unwrap();
        let task = Task {
            library: Library::open(std::path::Path::new(Library::SYSTEM)).unwrap(),
            name: name.as_ptr(),
            loaded: AtomicBool::new(false),
        };
        // SAFETY: the thread is joined before what it uses is dropped.
        let ended = unsafe {
            // So that libcrypto has read its own files.
            (task.library.functions().OSSL_PROVIDER_load)(ptr::null_mut(), c"default".as_ptr());
            let mut thread: libc::pthread_t = 0;
            let argument = (&raw const task).cast_mut().cast();
            let start: extern "C-unwind" fn(*mut c_void) -> *mut c_void = load;
            let start = std::mem::transmute::<
                extern "C-unwind" fn(*mut c_void) -> *mut c_void,
                extern "C" fn(*mut c_void) -> *mut c_void,
            >(start);
            let status: c_int = libc::pthread_create(&raw mut thread, ptr::null(), start, argument);
            assert_eq!(status, 0);
            let mut ended = ptr::null_mut();
            libc::pthread_join(thread, &raw mut ended);
            ended
        };
        ended.addr() == CANCELLED && task.loaded.load(Ordering::SeqCst)
    }));
}
