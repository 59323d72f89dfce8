//! A card's work for a program with an event loop: OpenSSL's asynchronous jobs (ASYNC_start_job(3)).
//!
//! A job is a function, as a rule libssl's handshake, on a small stack of its own. While a card works for it,
//! it is paused and the program goes on with its other connections; the wait context tells the program when to
//! resume it.
//!
//! ```text
//! wait context (libssl's, one per connection)
//!   └─ Place      what of ours lives with it: freed by the cleanup callback, when the connection is
//!        ├─ Ticket     the request that the job is paused for; dropped, it is cancelled
//!        └─ Signal     an eventfd that the program polls, or the program's callback
//! ```
//!
//! A connection may be freed while its job is paused: its stack is then forgotten and nothing on it is ever
//! dropped. So across a pause the job's frames hold pointers only, and all that is ours belongs to the
//! [`Place`]. A program may resume a job for reasons of its own: it pauses again.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use once_cell::race::OnceBox;
use outboard_engine::card::{self, Answer, Notify, Output, Request, Ticket};
use outboard_engine::{Error, Result, fork};
use outboard_libcrypto::sys::{ASYNC_WAIT_CTX, WaitCallback};
use outboard_libcrypto::{Functions, Library};
use outboard_provider_abi::outside;

/// How often a job is resumed for nothing before it waits in the thread: a program that blocks pausing
/// (ASYNC_block_pause(3)) returns at once, for ever.
const PATIENCE: u32 = 64;

/// How many jobs a process may lose before none is paused any more. A connection that is freed while its job is
/// paused loses the job's stack and what libssl keeps on it, which nobody can free: clients that reset in
/// mid-handshake must not fill the memory with that.
const MOST_LOST: u32 = 1024;

/// How many it has lost.
static LOST: AtomicU32 = AtomicU32::new(0);

/// Where our entry in a wait context is found: its address is the key.
static KEY: u8 = 0;

/// The job that the caller runs in.
pub(crate) struct Job<'a> {
    functions: &'a Functions,
    waits: *mut ASYNC_WAIT_CTX,
}

impl<'a> Job<'a> {
    /// None where the caller is not in a job.
    pub(crate) fn current(library: &'a Library) -> Option<Self> {
        let functions = library.functions();
        // SAFETY: the first takes nothing, the second a job, which lives while we are in it.
        let waits = unsafe {
            let job = (functions.ASYNC_get_current_job)();
            if job.is_null() {
                return None;
            }
            (functions.ASYNC_get_wait_ctx)(job)
        };
        (!waits.is_null()).then_some(Self { functions, waits })
    }

    /// Runs the request, and pauses the job while a card has it.
    pub(crate) fn run(&self, request: Request) -> Result<Output> {
        let mut place: Option<&Place> = None;
        let answer = card::submit(request, || {
            if LOST.load(Ordering::Relaxed) >= MOST_LOST {
                return None;
            }
            let found = self.place()?;
            place = Some(found);
            found.signal()
        });
        let result = match (answer, place) {
            (Answer::Now(result), _) => result,
            (Answer::Later(ticket), Some(place)) => {
                place.hold(ticket);
                self.pause_until_done(place);
                place.release().map_or(Err(Error::Failed), Ticket::collect)
            }
            (Answer::Later(ticket), None) => ticket.collect(),
        };
        if place.is_some_and(|place| !place.was_shown()) {
            self.withdraw();
        }
        result
    }

    /// Returns when the ticket is done, or the program has shown that it does not wait for that.
    fn pause_until_done(&self, place: &Place) {
        for _ in 0..PATIENCE {
            place.show();
            // SAFETY: we are in a job; what the frames below us hold across this is libssl's matter, what
            // ours hold are references to what outlives the job's run.
            let pause = || unsafe { (self.functions.ASYNC_pause_job)() };
            if outside(pause) != 1 {
                return;
            }
            // Before the question whether it is done: a signal that comes between the two stays.
            place.quieten();
            if place.is_done() {
                return;
            }
        }
    }

    /// Ours in the wait context; made if there is none, or only one inherited from a parent process, whose
    /// eventfd is the parent's. None where that fails.
    fn place(&self) -> Option<&'a Place> {
        let key = (&raw const KEY).cast::<c_void>();
        let program = self.callback();
        let mut descriptor: c_int = -1;
        let mut data: *mut c_void = ptr::null_mut();
        // SAFETY: the job's wait context, and variables that live.
        let found = unsafe {
            (self.functions.ASYNC_WAIT_CTX_get_fd)(
                self.waits,
                key,
                &raw mut descriptor,
                &raw mut data,
            )
        };
        if found == 1 {
            // SAFETY: set below for that key, and freed only with the wait context, which outlives the job's run,
            // or by `withdraw`, after which nothing of ours refers to it.
            let place = unsafe { &*data.cast::<Place>() };
            if place.process == fork::process() && place.is_for(program) {
                return Some(place);
            }
            self.withdraw();
        }
        let place = Box::into_raw(Box::new(Place::new(program)?));
        // SAFETY: from `Box::into_raw` just now.
        let descriptor = unsafe { (*place).descriptor() };
        // SAFETY: the job's wait context; `place` stays until `clean_up`.
        let set = unsafe {
            (self.functions.ASYNC_WAIT_CTX_set_wait_fd)(
                self.waits,
                key,
                descriptor,
                place.cast(),
                Some(clean_up),
            )
        };
        if set != 1 {
            // SAFETY: nobody else has it.
            drop(unsafe { Box::from_raw(place) });
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { &*place })
    }

    /// Takes ours out of the wait context, as if it had never been there: the program has not seen it, and
    /// HAProxy ends itself when a connection closes with a descriptor that it was never told of.
    fn withdraw(&self) {
        let key = (&raw const KEY).cast::<c_void>();
        let mut descriptor: c_int = -1;
        let mut data: *mut c_void = ptr::null_mut();
        // SAFETY: the job's wait context, and variables that live. Cleared before it is freed, so that nobody
        // finds it then; it came from `Box::into_raw`.
        unsafe {
            let f = self.functions;
            if (f.ASYNC_WAIT_CTX_get_fd)(self.waits, key, &raw mut descriptor, &raw mut data) == 1 {
                (f.ASYNC_WAIT_CTX_clear_fd)(self.waits, key);
                clean_up(self.waits, key, descriptor, data);
            }
        }
    }

    /// The program's callback in the wait context.
    fn callback(&self) -> Option<Callback> {
        let mut function: Option<WaitCallback> = None;
        let mut argument: *mut c_void = ptr::null_mut();
        // SAFETY: the job's wait context, and variables that live.
        let found = unsafe {
            (self.functions.ASYNC_WAIT_CTX_get_callback)(
                self.waits,
                &raw mut function,
                &raw mut argument,
            )
        };
        let function = function.filter(|_| found == 1)?;
        Some(Callback { function, argument })
    }
}

/// What of ours lives as long as a wait context.
struct Place {
    process: u64,
    signal: Signal,
    /// Whether a pause has told the program of its descriptor.
    shown: AtomicBool,
    /// What the job is paused for.
    ticket: Mutex<Option<Ticket>>,
}

/// How the program learns that the job can go on.
enum Signal {
    Descriptor(Arc<EventFd>),
    Callback(Arc<CallOnce>),
}

impl Place {
    fn new(callback: Option<Callback>) -> Option<Self> {
        Some(Self {
            process: fork::process(),
            signal: match callback {
                None => Signal::Descriptor(Arc::new(EventFd::new()?)),
                Some(callback) => Signal::Callback(Arc::new(CallOnce(Mutex::new(Some(callback))))),
            },
            shown: AtomicBool::new(false),
            ticket: Mutex::new(None),
        })
    }

    /// Whether it tells by that callback, or by none.
    fn is_for(&self, callback: Option<Callback>) -> bool {
        match &self.signal {
            Signal::Descriptor(_) => callback.is_none(),
            Signal::Callback(ours) => {
                let told = |callback: Option<Callback>| {
                    callback.map(|one| (one.function as usize, one.argument as usize))
                };
                told(*lock(&ours.0)) == told(callback)
            }
        }
    }

    fn signal(&self) -> Option<Arc<dyn Notify>> {
        Some(match &self.signal {
            Signal::Descriptor(descriptor) => Arc::clone(descriptor) as Arc<dyn Notify>,
            Signal::Callback(callback) => Arc::clone(callback) as Arc<dyn Notify>,
        })
    }

    /// What is registered in the wait context. Where the program has a callback it is one that never becomes
    /// readable: without any, there would be no cleanup.
    fn descriptor(&self) -> c_int {
        static SILENT: OnceBox<Option<EventFd>> = OnceBox::new();
        match &self.signal {
            Signal::Descriptor(descriptor) => descriptor.0,
            Signal::Callback(_) => {
                let silent = SILENT.get_or_init(|| Box::new(EventFd::new())).as_ref();
                silent.map_or(-1, |silent| silent.0)
            }
        }
    }

    fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }

    fn was_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    fn hold(&self, ticket: Ticket) {
        *lock(&self.ticket) = Some(ticket);
    }

    fn is_done(&self) -> bool {
        lock(&self.ticket).as_ref().is_none_or(Ticket::is_done)
    }

    fn release(&self) -> Option<Ticket> {
        lock(&self.ticket).take()
    }

    /// Forgets signals that came.
    fn quieten(&self) {
        // In a forked child the signal would be the parent's.
        if let (Signal::Descriptor(descriptor), true) =
            (&self.signal, self.process == fork::process())
        {
            descriptor.reset();
        }
    }
}

/// Called when the wait context is freed, on whatever thread does that.
unsafe extern "C" fn clean_up(
    _waits: *mut ASYNC_WAIT_CTX,
    _key: *const c_void,
    _descriptor: c_int,
    place: *mut c_void,
) {
    // SAFETY: from `Box::into_raw`, and given to us once.
    let mut place = unsafe { Box::from_raw(place.cast::<Place>()) };
    // Where it was the parent process's, nobody calls any more, and a lock may be held by a thread that was
    // left there.
    if let Signal::Callback(callback) = &place.signal
        && place.process == fork::process()
    {
        callback.cancel();
    }
    let ticket = place.ticket.get_mut();
    if ticket.is_ok_and(|ticket| ticket.is_some()) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
    // With it go the ticket, which cancels, and the descriptor, once no card tells it any more.
    drop(place);
}

/// A counter that can be polled (eventfd(2)).
///
/// Used by system calls, not by the C library's functions: in these a thread may be cancelled (pthread_cancel(3)), and
/// some are called where a cancellation must not pass.
struct EventFd(c_int);

impl EventFd {
    fn new() -> Option<Self> {
        // SAFETY: makes a descriptor that is ours alone.
        let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        (descriptor >= 0).then_some(Self(descriptor))
    }

    fn reset(&self) {
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

/// The program's function, with what it wants to be called with.
#[derive(Clone, Copy)]
struct Callback {
    function: WaitCallback,
    argument: *mut c_void,
}

// SAFETY: a program that sets a callback lets it be called from another thread: that is what it is for
// (ASYNC_WAIT_CTX_set_callback(3)).
unsafe impl Send for Callback {}

/// A callback that is never called after it was cancelled: what it is called with may then be gone.
struct CallOnce(Mutex<Option<Callback>>);

impl CallOnce {
    /// Returns when no call is under way.
    fn cancel(&self) {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
