//! Asynchronous jobs (ASYNC_start_job(3)), run as a program with an event loop runs them.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::sys::{self, ASYNC_JOB, ASYNC_WAIT_CTX};
use crate::{Library, Result};

/// A function on a stack of its own, which may pause in the midst of what it does.
///
/// It is resumed on the thread that started it. Dropped while it is paused, it is never run again: that is
/// what libssl does with a connection that is freed in mid-handshake, and OpenSSL forgets the stack then. What
/// the function holds on that stack is lost, too.
pub struct Job {
    library: Library,
    /// Null once the function has ended.
    raw: *mut ASYNC_JOB,
    waits: *mut ASYNC_WAIT_CTX,
    body: *mut Body,
    result: Option<bool>,
}

type Body = Box<dyn FnMut() -> bool>;

impl Job {
    /// Runs `body` until it pauses or ends; its answer is [`Job::result`].
    ///
    /// # Errors
    /// If OpenSSL cannot make a job.
    pub fn start(library: &Library, body: impl FnMut() -> bool + 'static) -> Result<Self> {
        let job = Self::new(library, body)?;
        job.resumed()
    }

    /// The same, with a callback that is called with `argument` when a paused job can go on.
    ///
    /// # Errors
    /// If OpenSSL cannot make a job.
    ///
    /// # Safety
    /// `callback` may be called with `argument` from any thread until the job ends or is dropped.
    pub unsafe fn start_with_callback(
        library: &Library,
        callback: sys::WaitCallback,
        argument: *mut c_void,
        body: impl FnMut() -> bool + 'static,
    ) -> Result<Self> {
        let job = Self::new(library, body)?;
        // SAFETY: a live wait context; the caller vouches for the rest.
        let set = unsafe {
            (library.functions().ASYNC_WAIT_CTX_set_callback)(job.waits, Some(callback), argument)
        };
        library.check("cannot set a callback", set)?;
        job.resumed()
    }

    /// Goes on with a paused function until it pauses again or ends.
    ///
    /// # Errors
    /// If OpenSSL cannot switch to it.
    pub fn resume(&mut self) -> Result<()> {
        if self.result.is_some() {
            return Ok(());
        }
        let mut answer: c_int = 0;
        // The argument is copied: a pointer to the body.
        let mut argument = self.body;
        // SAFETY: a job of this thread, or null for a new one; `run` takes what is copied.
        let state = unsafe {
            (self.library.functions().ASYNC_start_job)(
                &raw mut self.raw,
                self.waits,
                &raw mut answer,
                run,
                (&raw mut argument).cast(),
                size_of::<*mut Body>(),
            )
        };
        match state {
            sys::ASYNC_PAUSE => Ok(()),
            sys::ASYNC_FINISH => {
                self.result = Some(answer == 1);
                Ok(())
            }
            _ => Err(self.library.error("cannot run a job")),
        }
    }

    /// What the function answered; none while it is paused.
    pub fn result(&self) -> Option<bool> {
        self.result
    }

    /// The file descriptors of which one becomes readable when the function can go on.
    pub fn descriptors(&self) -> Vec<c_int> {
        let f = self.library.functions();
        let mut count = 0;
        // SAFETY: a live wait context, asked first for the number.
        unsafe {
            (f.ASYNC_WAIT_CTX_get_all_fds)(self.waits, ptr::null_mut(), &raw mut count);
            let mut all = vec![0; count];
            (f.ASYNC_WAIT_CTX_get_all_fds)(self.waits, all.as_mut_ptr(), &raw mut count);
            all
        }
    }

    /// Pauses the job that calls this; does nothing outside of one.
    pub fn pause(library: &Library) {
        // SAFETY: takes nothing.
        unsafe { (library.functions().ASYNC_pause_job)() };
    }

    /// Whether the caller is within a job.
    pub fn is_current(library: &Library) -> bool {
        // SAFETY: takes nothing.
        unsafe { !(library.functions().ASYNC_get_current_job)().is_null() }
    }

    fn new(library: &Library, body: impl FnMut() -> bool + 'static) -> Result<Self> {
        // SAFETY: takes nothing.
        let waits = unsafe { (library.functions().ASYNC_WAIT_CTX_new)() };
        let waits = library.check_pointer("cannot make a wait context", waits)?;
        Ok(Self {
            library: library.clone(),
            raw: ptr::null_mut(),
            waits,
            body: Box::into_raw(Box::new(Box::new(body))),
            result: None,
        })
    }

    fn resumed(mut self) -> Result<Self> {
        self.resume().map(|()| self)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: both are ours, and the function is never run again.
        unsafe {
            (self.library.functions().ASYNC_WAIT_CTX_free)(self.waits);
            drop(Box::from_raw(self.body));
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("result", &self.result).finish()
    }
}

/// What the job runs; `argument` is where OpenSSL copied the pointer to.
unsafe extern "C" fn run(argument: *mut c_void) -> c_int {
    // SAFETY: the pointer that `resume` passed, to a body that lives as long as the job.
    let body = unsafe { &mut **argument.cast::<*mut Body>() };
    // A panic must not cross C.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))
        .unwrap_or(false)
        .into()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn a_job_pauses_and_goes_on() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let steps = Rc::new(Cell::new(0));
        let (ours, inner) = (Rc::clone(&steps), library.clone());
        let mut job = Job::start(&library, move || {
            assert!(Job::is_current(&inner));
            for _ in 0..2 {
                ours.set(ours.get() + 1);
                Job::pause(&inner);
            }
            true
        })
        .unwrap();
        assert!(!Job::is_current(&library));
        assert_eq!((steps.get(), job.result()), (1, None));
        job.resume().unwrap();
        assert_eq!((steps.get(), job.result()), (2, None));
        job.resume().unwrap();
        assert_eq!(job.result(), Some(true));
        assert_eq!(Rc::strong_count(&steps), 2);
        drop(job);
        assert_eq!(Rc::strong_count(&steps), 1);
    }

    #[test]
    fn a_panic_is_an_answer() {
        let library = Library::open(Library::SYSTEM).unwrap();
        // Without the panic's hook, which may want more stack than a job has.
        let panic = || std::panic::resume_unwind(Box::new("on purpose"));
        let job = Job::start(&library, panic).unwrap();
        assert_eq!(job.result(), Some(false));
    }
}
