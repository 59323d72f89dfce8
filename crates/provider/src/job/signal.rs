//! How a program learns that a paused job can go on.
//!
//! Used by system calls, not by the C library's functions: in these a thread may be cancelled (pthread_cancel(3)), and
//! some are called where a cancellation must not pass.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Mutex;
use std::time::Duration;

use outboard_engine::card::Notify;
use outboard_libcrypto::sys::WaitCallback;

use super::lock;

/// A counter that can be polled (eventfd(2)).
pub(super) struct EventFd(pub(super) c_int);

impl EventFd {
    pub(super) fn new() -> Option<Self> {
        // SAFETY: makes a descriptor that is ours alone.
        let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        (descriptor >= 0).then_some(Self(descriptor))
    }

    pub(super) fn reset(&self) {
        let mut count = 0_u64;
        // That there is nothing to read is an answer, too.
        // SAFETY: a live descriptor, and as many bytes as are written.
        unsafe { libc::syscall(libc::SYS_read, self.0, &raw mut count, size_of_val(&count)) };
    }
}

impl Notify for EventFd {
    fn notify(&self) {
        let one = 1_u64;
        // It fails only at 2⁶⁴ − 1 signals that nobody read.
        // SAFETY: a live descriptor, and as many bytes as are read.
        unsafe { libc::syscall(libc::SYS_write, self.0, &raw const one, size_of_val(&one)) };
    }
}

impl Drop for EventFd {
    fn drop(&mut self) {
        // SAFETY: ours, and used by nobody any more.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

/// A descriptor that is readable while another one is, and from some moment on (epoll(7), timerfd_create(2)):
/// connections to the service are lent from job to job, and a program wants one that stays.
pub(super) struct Watch {
    both: c_int,
    timer: c_int,
}

impl Watch {
    pub(super) fn new() -> Option<Self> {
        // SAFETY: makes descriptors that are ours alone.
        let [both, timer] = unsafe {
            let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
            [
                libc::epoll_create1(libc::EPOLL_CLOEXEC),
                libc::timerfd_create(libc::CLOCK_MONOTONIC, flags),
            ]
        };
        let watch = Self { both, timer };
        (both >= 0 && timer >= 0 && watch.change(libc::EPOLL_CTL_ADD, timer)).then_some(watch)
    }

    /// What a program polls.
    pub(super) fn descriptor(&self) -> c_int {
        self.both
    }

    /// Watches that descriptor from now on, or none, for so long; whether that can be done.
    pub(super) fn begin(&self, descriptor: Option<c_int>, limit: Duration) -> bool {
        let is_watched = |descriptor| self.change(libc::EPOLL_CTL_ADD, descriptor);
        // Zero would be never.
        self.set(limit.max(Duration::from_nanos(1))) && descriptor.is_none_or(is_watched)
    }

    /// Watches it no more.
    pub(super) fn end(&self, descriptor: Option<c_int>) {
        if let Some(descriptor) = descriptor {
            self.change(libc::EPOLL_CTL_DEL, descriptor);
        }
        self.set(Duration::ZERO);
    }

    fn set(&self, limit: Duration) -> bool {
        let time = |time: Duration| libc::timespec {
            tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: time.subsec_nanos().into(),
        };
        let value = libc::itimerspec {
            it_interval: time(Duration::ZERO),
            it_value: time(limit),
        };
        // SAFETY: a descriptor of ours, and a value that lives.
        unsafe { libc::timerfd_settime(self.timer, 0, &raw const value, ptr::null_mut()) == 0 }
    }

    fn change(&self, how: c_int, descriptor: c_int) -> bool {
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: 0,
        };
        // SAFETY: descriptors, which the kernel checks, and an event of ours.
        unsafe { libc::epoll_ctl(self.both, how, descriptor, &raw mut event) == 0 }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for descriptor in [self.both, self.timer] {
            if descriptor >= 0 {
                // SAFETY: ours, and used by nobody any more.
                unsafe { libc::syscall(libc::SYS_close, descriptor) };
            }
        }
    }
}

/// The program's function, with what it wants to be called with.
#[derive(Clone, Copy)]
pub(super) struct Callback {
    pub(super) function: WaitCallback,
    pub(super) argument: *mut c_void,
}

// SAFETY: a program that sets a callback lets it be called from another thread: that is what it is for
// (ASYNC_WAIT_CTX_set_callback(3)).
unsafe impl Send for Callback {}

/// A callback that is never called after it was cancelled: what it is called with may then be gone.
pub(super) struct CallOnce(pub(super) Mutex<Option<Callback>>);

impl CallOnce {
    /// Returns when no call is under way.
    pub(super) fn cancel(&self) {
        *lock(&self.0) = None;
    }
}

impl Notify for CallOnce {
    fn notify(&self) {
        let callback = lock(&self.0);
        if let Some(Callback { function, argument }) = *callback {
            // SAFETY: not cancelled, so the wait context that it was set in is alive.
            unsafe { function(argument) };
        }
    }
}
