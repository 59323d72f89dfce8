//! Work for a program with an event loop: OpenSSL's asynchronous jobs (ASYNC_start_job(3)).
//!
//! A job is a function, as a rule libssl's handshake, on a small stack of its own. While a card or the card service
//! works for it, it is paused and the program goes on with its other connections; the wait context tells the program when to
//! resume it.
//!
//! ```text
//! wait context (libssl's, one per connection)
//!   └─ Place      what of ours lives with it: freed by the cleanup callback, when the connection is. One for cards,
//!        │          one for the service
//!        ├─ Work       what the job is paused for; dropped, it is cancelled
//!        └─ Signal     a descriptor that the program polls, or the program's callback
//! ```
//!
//! A connection may be freed while its job is paused: its stack is then forgotten and nothing on it is ever
//! dropped. So across a pause the job's frames hold pointers only, and all that is ours belongs to the
//! [`Place`]. A program may resume a job for reasons of its own: it pauses again.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use once_cell::race::OnceBox;
use outboard_client::{self as client, Client, Pending, Progress};
use outboard_engine::card::{self, Answer, Notify, Output, Request, Ticket};
use outboard_engine::{Error, Result, fork};
use outboard_libcrypto::sys::{ASYNC_WAIT_CTX, WaitCallback};
use outboard_libcrypto::{Functions, Library};
use outboard_provider_abi::guest::cancellation::outside;
use outboard_wire::Operation;
use zeroize::Zeroizing;

use signal::{CallOnce, Callback, EventFd, Watch};

mod signal;

/// How often a job is resumed for nothing before it waits in the thread: a program that blocks pausing
/// (ASYNC_block_pause(3)) returns at once, for ever.
const PATIENCE: u32 = 64;

/// How many jobs a process may lose before none is paused any more. A connection that is freed while its job is
/// paused loses the job's stack and what libssl keeps on it, which nobody can free: clients that reset in
/// mid-handshake must not fill the memory with that.
const MOST_LOST: u32 = 1024;

/// How many it has lost.
static LOST: AtomicU32 = AtomicU32::new(0);

/// Who works while a job is paused. Each has an entry of its own in a wait context.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worker {
    Card,
    Service,
}

impl Worker {
    /// Where the entry is found: an address is the key.
    fn key(self) -> *const c_void {
        static KEYS: [u8; 2] = [0; 2];
        (&raw const KEYS[self as usize]).cast()
    }
}

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
            let found = self.place(Worker::Card)?;
            place = Some(found);
            found.notify()
        });
        let result = match (answer, place) {
            (Answer::Now(result), _) => result,
            (Answer::Later(ticket), Some(place)) => {
                place.hold(Work::Card(ticket));
                self.pause_until_done(place);
                match place.release() {
                    Some(Work::Card(ticket)) => ticket.collect(),
                    _ => Err(Error::Failed),
                }
            }
            (Answer::Later(ticket), None) => ticket.collect(),
        };
        if place.is_some_and(|place| !place.was_shown()) {
            self.withdraw(Worker::Card);
        }
        result
    }

    /// Asks the service, and pauses the job until it has answered.
    pub(crate) fn ask(
        &self,
        client: &Arc<Client>,
        key: client::Key<'_>,
        operation: Operation<'_>,
        result: &mut Zeroizing<Vec<u8>>,
    ) -> std::result::Result<(), client::Error> {
        // Nobody would call back: a thread would have to wait for the answer.
        let may_pause = LOST.load(Ordering::Relaxed) < MOST_LOST && self.callback().is_none();
        let place = may_pause.then(|| self.place(Worker::Service)).flatten();
        let answer = place.and_then(|place| match client.begin(key, operation) {
            Ok(pending) => self.await_answer(place, pending, result),
            Err(error) => Some(Err(error)),
        });
        let answer = answer.unwrap_or_else(|| client.ask_meanwhile(key, operation, result));
        if place.is_some_and(|place| !place.was_shown()) {
            self.withdraw(Worker::Service);
        }
        answer
    }

    /// Pauses the job until the service has answered, or no answer comes any more. While the service is busy or away, the job
    /// is paused as well: the program's other connections go on. None where the place has lost the request.
    fn await_answer(
        &self,
        place: &Place,
        mut pending: Pending,
        result: &mut Zeroizing<Vec<u8>>,
    ) -> Option<std::result::Result<(), client::Error>> {
        loop {
            let descriptor = pending.descriptor();
            if !place.watch(&pending) {
                return Some(pending.collect(result));
            }
            place.hold(Work::Service(pending));
            self.pause_until_done(place);
            place.forget(descriptor);
            let Some(Work::Service(held)) = place.release() else {
                return None;
            };
            if !held.is_ready() {
                return Some(held.collect(result));
            }
            match held.go_on(result) {
                Progress::Done(outcome) => return Some(outcome),
                Progress::Later(later) => pending = later,
            }
        }
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
    fn place(&self, worker: Worker) -> Option<&'a Place> {
        let key = worker.key();
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
            self.withdraw(worker);
        }
        let place = Box::into_raw(Box::new(Place::new(worker, program)?));
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
    fn withdraw(&self, worker: Worker) {
        let key = worker.key();
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
    work: Mutex<Option<Work>>,
}

/// What a job is paused for.
enum Work {
    Card(Ticket),
    Service(Pending),
}

impl Work {
    fn is_done(&self) -> bool {
        match self {
            Self::Card(ticket) => ticket.is_done(),
            Self::Service(pending) => pending.is_ready(),
        }
    }
}

/// How the program learns that the job can go on.
enum Signal {
    Descriptor(Arc<EventFd>),
    Callback(Arc<CallOnce>),
    Service(Watch),
}

impl Place {
    fn new(worker: Worker, callback: Option<Callback>) -> Option<Self> {
        let call = |callback| Signal::Callback(Arc::new(CallOnce(Mutex::new(Some(callback)))));
        Some(Self {
            process: fork::process(),
            signal: match (worker, callback) {
                (Worker::Service, _) => Signal::Service(Watch::new()?),
                (Worker::Card, None) => Signal::Descriptor(Arc::new(EventFd::new()?)),
                (Worker::Card, Some(callback)) => call(callback),
            },
            shown: AtomicBool::new(false),
            work: Mutex::new(None),
        })
    }

    /// Whether it tells by that callback, or by none.
    fn is_for(&self, callback: Option<Callback>) -> bool {
        match &self.signal {
            Signal::Descriptor(_) | Signal::Service(_) => callback.is_none(),
            Signal::Callback(ours) => {
                let told = |callback: Option<Callback>| {
                    callback.map(|one| (one.function as usize, one.argument as usize))
                };
                told(*lock(&ours.0)) == told(callback)
            }
        }
    }

    /// How a card tells.
    fn notify(&self) -> Option<Arc<dyn Notify>> {
        match &self.signal {
            Signal::Descriptor(descriptor) => Some(Arc::clone(descriptor) as Arc<dyn Notify>),
            Signal::Callback(callback) => Some(Arc::clone(callback) as Arc<dyn Notify>),
            Signal::Service(_) => None,
        }
    }

    /// Tells while the service's connection has something to say, and when the request goes on at the latest; whether it can.
    fn watch(&self, pending: &Pending) -> bool {
        let left = pending.until().saturating_duration_since(Instant::now());
        matches!(&self.signal, Signal::Service(watch) if watch.begin(pending.descriptor(), left))
    }

    fn forget(&self, descriptor: Option<c_int>) {
        // In a forked child the watch is the parent's, too.
        if let (Signal::Service(watch), true) = (&self.signal, self.process == fork::process()) {
            watch.end(descriptor);
        }
    }

    /// What is registered in the wait context. Where the program has a callback it is one that never becomes
    /// readable: without any, there would be no cleanup.
    fn descriptor(&self) -> c_int {
        static SILENT: OnceBox<Option<EventFd>> = OnceBox::new();
        match &self.signal {
            Signal::Descriptor(descriptor) => descriptor.0,
            Signal::Service(watch) => watch.descriptor(),
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

    fn hold(&self, work: Work) {
        *lock(&self.work) = Some(work);
    }

    fn is_done(&self) -> bool {
        lock(&self.work).as_ref().is_none_or(Work::is_done)
    }

    fn release(&self) -> Option<Work> {
        lock(&self.work).take()
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
    let work = place.work.get_mut();
    if work.is_ok_and(|work| work.is_some()) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
    // With it go the work, which cancels, and the descriptor, once no card tells it any more.
    drop(place);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
