//! OpenSSL's asynchronous jobs with keys of the card service: paused until it has answered, whatever becomes of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
#[path = "common/service.rs"]
#[allow(dead_code, reason = "each test uses its part")]
mod held;

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use common::jobs::{DIGEST, is_ready, sha256, signing, wait_for_any};
use held::Held;
use outboard_client::stand_in::{Reply, Service};
use outboard_libcrypto::{Context, Job, Key, Library, Params, Structure, Verifier};
use outboard_programs::Workplace;
use outboard_wire::Status;

/// As the stand's configuration says.
const LIMIT: Duration = Duration::from_secs(1);

/// Descriptors are the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Lets answers go, or not.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let is_open = self.is_open.lock().unwrap();
        drop(self.opened.wait_while(is_open, |is_open| !*is_open));
    }
}

/// A key of the service, and a program that has its reference.
struct Stand {
    workplace: Workplace,
    held: Arc<Vec<Held>>,
    key: Rc<Key>,
    public: Key,
    library: Library,
}

impl Stand {
    fn new() -> Self {
        let library = Library::open(Library::SYSTEM).unwrap();
        library.ignore_system_configuration().unwrap();
        let workplace = Workplace::new().unwrap();
        let text = format!(
            "openssl_conf = init\n[init]\nproviders = providers\nalg_section = properties\n[providers]\n\
             default = default_section\noutboard = outboard_section\n[default_section]\nactivate = 1\n\
             [outboard_section]\nmodule = {}\nactivate = 1\noffer = none\nledger = {}\nservice = {}\n\
             service-limit = 1\n[properties]\ndefault_properties = ?provider=outboard,?outboard.preferred=yes\n",
            common::module().display(),
            workplace.join("ledger").display(),
            workplace.path().display(),
        );
        let file = workplace.write("openssl.cnf", text).unwrap();
        let context = Context::from_configuration(&library, &file).unwrap();
        let maker = held::stock();
        let made = Key::generate(&maker, "RSA", &Params::new().unsigned(c"bits", 2048)).unwrap();
        let held = Held::adopt(&maker, "site", &made.to_pem(Structure::Pkcs8).unwrap());
        let reference = held.reference();
        let public = held.key.to_der(Structure::PublicKeyInfo).unwrap();
        Self {
            key: Rc::new(Key::from_pem(&context, reference.as_bytes(), None).unwrap()),
            public: Key::public_from_der(&maker, &public).unwrap(),
            held: Arc::new(vec![held]),
            workplace,
            library,
        }
    }

    /// The service; `first` is told of each request before it is answered, and may say something else.
    fn serve(&self, first: impl Fn(usize) -> Option<Reply> + Send + Sync + 'static) -> Service {
        let (held, asked) = (Arc::clone(&self.held), AtomicUsize::new(0));
        Service::start(self.workplace.path(), move |_, request| {
            first(asked.fetch_add(1, SeqCst)).unwrap_or_else(|| held::answer(&held, request))
        })
        .unwrap()
    }

    fn is_right(&self, signature: &[u8]) -> bool {
        let mut verifier = Verifier::new(&self.public, &sha256()).unwrap();
        verifier.verify(signature, DIGEST).unwrap()
    }
}

/// Resumes what can go on until all are done, as an event loop does; how often it was for nothing.
fn run(jobs: &mut [Job]) -> usize {
    let mut in_vain = 0;
    loop {
        let paused: Vec<&Job> = jobs.iter().filter(|job| job.result().is_none()).collect();
        if paused.is_empty() {
            return in_vain;
        }
        wait_for_any(&paused);
        for job in jobs.iter_mut().filter(|job| job.result().is_none()) {
            if is_ready(job) {
                job.resume().unwrap();
                in_vain += usize::from(job.result().is_none());
            }
        }
    }
}

#[test]
fn one_thread_waits_for_many_answers() {
    let _alone = alone();
    let stand = Stand::new();
    let gate = Arc::new(Gate::default());
    let door = Arc::clone(&gate);
    let service = stand.serve(move |_| {
        door.pass();
        None
    });
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) = (0..20)
        .map(|_| signing(&stand.library, &stand.key, 1))
        .unzip();
    assert!(
        jobs.iter().all(|job| job.result().is_none()),
        "each waits, and its thread does not"
    );
    assert!(
        jobs.iter()
            .all(|job| job.descriptors().len() == 1 && !is_ready(job))
    );
    // Resumed for reasons of the program's own, it pauses again.
    jobs[7].resume().unwrap();
    assert_eq!(jobs[7].result(), None);
    gate.open();
    assert_eq!(run(&mut jobs), 0, "resumed when there was an answer");
    assert_eq!(service.accepted(), 20);
    for signatures in &signatures {
        assert!(stand.is_right(&signatures.borrow()[0]));
    }
    drop(jobs);

    // The next ones find the connections.
    let (mut jobs, _): (Vec<Job>, Vec<_>) = (0..4)
        .map(|_| signing(&stand.library, &stand.key, 5))
        .unzip();
    run(&mut jobs);
    assert!(jobs.iter().all(|job| job.result() == Some(true)));
    assert_eq!(service.accepted(), 20);
}

#[test]
fn a_service_that_dies_is_asked_again() {
    let _alone = alone();
    let stand = Stand::new();
    let service = stand.serve(|asked| (asked % 3 == 0).then_some(Reply::Close));
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) = (0..8)
        .map(|_| signing(&stand.library, &stand.key, 10))
        .unzip();
    run(&mut jobs);
    assert!(jobs.iter().all(|job| job.result() == Some(true)));
    for signatures in &signatures {
        assert!(
            signatures
                .borrow()
                .iter()
                .all(|signature| stand.is_right(signature))
        );
    }
    // Gone for good: the job fails, and says so.
    drop(service);
    let (mut jobs, _): (Vec<Job>, Vec<_>) = [(); 1]
        .map(|()| signing(&stand.library, &stand.key, 1))
        .into_iter()
        .unzip();
    run(&mut jobs);
    assert_eq!(jobs[0].result(), Some(false));
}

/// A job that the service answers with "not now" asks again later, and the others go on meanwhile.
#[test]
fn no_job_waits_while_another_one_asks_again() {
    let _alone = alone();
    let stand = Stand::new();
    let one_is_done = Arc::new(AtomicBool::new(false));
    let is_free = Arc::clone(&one_is_done);
    // One job is answered, and the other one is not, until the first has gone on.
    let service = stand.serve(move |asked| match asked {
        1 => None,
        _ if is_free.load(SeqCst) => None,
        _ if asked % 2 == 0 => Some(Reply::Say(Status::Busy, Vec::new())),
        _ => Some(Reply::Close),
    });
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) = (0..2)
        .map(|_| signing(&stand.library, &stand.key, 1))
        .unzip();
    while jobs.iter().all(|job| job.result().is_none()) {
        wait_for_any(&jobs.iter().collect::<Vec<_>>());
        for job in &mut jobs {
            if is_ready(job) && job.result().is_none() {
                job.resume().unwrap();
            }
        }
    }
    let done = jobs.iter().filter(|job| job.result() == Some(true));
    let paused = jobs.iter().filter(|job| job.result().is_none());
    assert_eq!((done.count(), paused.count()), (1, 1));
    one_is_done.store(true, SeqCst);
    run(&mut jobs);
    drop(service);

    // A service that comes back: the program does something else meanwhile.
    let (job, late) = signing(&stand.library, &stand.key, 1);
    assert_eq!(job.result(), None);
    let _service = stand.serve(|_| None);
    let mut again = [job];
    run(&mut again);
    for signatures in signatures.iter().chain([&late]) {
        assert!(stand.is_right(&signatures.borrow()[0]));
    }
}

/// More than a process keeps connections for: each has one of its own meanwhile, and none waits for another.
#[test]
fn no_job_waits_for_another_s_connection() {
    let _alone = alone();
    let stand = Stand::new();
    let gate = Arc::new(Gate::default());
    let door = Arc::clone(&gate);
    let before = open_descriptors();
    let service = stand.serve(move |_| {
        door.pass();
        None
    });
    let started = Instant::now();
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) = (0..150)
        .map(|_| signing(&stand.library, &stand.key, 1))
        .unzip();
    assert!(jobs.iter().all(|job| job.result().is_none()));
    gate.open();
    run(&mut jobs);
    assert!(service.accepted() > 64);
    assert!(
        started.elapsed() < LIMIT * 10,
        "none waited for its time limit"
    );
    for signatures in &signatures {
        assert!(stand.is_right(&signatures.borrow()[0]));
    }
    drop(jobs);
    drop(service);
    let kept = open_descriptors().saturating_sub(before);
    // Both ends are in this process.
    assert!(kept <= 2 * 64, "{kept} descriptors stay open");
}

/// Jobs that have no place are resumed first: the others have all places of the process.
#[test]
fn no_job_waits_for_another_s_place_when_connections_end() {
    let _alone = alone();
    let stand = Stand::new();
    let gate = Arc::new(Gate::default());
    let door = Arc::clone(&gate);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let service = stand.serve(move |_| {
        count.fetch_add(1, SeqCst);
        door.pass();
        None
    });
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) = (0..80)
        .map(|_| signing(&stand.library, &stand.key, 1))
        .unzip();
    assert!(jobs.iter().all(|job| job.result().is_none()));
    while asked.load(SeqCst) < jobs.len() {
        std::thread::sleep(Duration::from_millis(1));
    }
    service.disconnect();
    gate.open();
    for job in jobs.iter_mut().rev() {
        wait_for_any(&[&*job]);
        job.resume().unwrap();
    }
    run(&mut jobs);
    assert!(jobs.iter().all(|job| job.result() == Some(true)));
    for signatures in &signatures {
        assert!(stand.is_right(&signatures.borrow()[0]));
    }
}

/// The program is woken when it is too late, and fails then.
#[test]
fn a_silent_service_is_not_waited_for_for_ever() {
    let _alone = alone();
    let stand = Stand::new();
    let _service = stand.serve(|_| Some(Reply::Nothing));
    let (mut jobs, _): (Vec<Job>, Vec<_>) = (0..3)
        .map(|_| signing(&stand.library, &stand.key, 1))
        .unzip();
    let started = Instant::now();
    run(&mut jobs);
    assert!(jobs.iter().all(|job| job.result() == Some(false)));
    assert!(started.elapsed() >= LIMIT / 2, "it waited");
}

/// A program that closes what is not its own, and has another descriptor of that number.
#[test]
fn another_descriptor_is_left_alone() {
    let _alone = alone();
    let stand = Stand::new();
    let gate = Arc::new(Gate::default());
    let door = Arc::clone(&gate);
    let asked_for = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&asked_for);
    let before: Vec<i32> = sockets();
    let _service = stand.serve(move |asked| {
        if asked == 0 {
            heard.store(true, SeqCst);
            door.pass();
        }
        None
    });
    let listening = sockets();
    let (mut job, signatures) = signing(&stand.library, &stand.key, 1);
    let ours = sockets()
        .into_iter()
        .find(|one| !listening.contains(one) && is_client(*one));
    let ours = ours.expect("the job's connection");
    // From then on the service opens nothing that could take the number.
    while !asked_for.load(SeqCst) {
        thread::yield_now();
    }
    let mut pair = [0; 2];
    // SAFETY: descriptors of this process; the number is closed and taken at once.
    unsafe {
        libc::close(ours);
        assert_eq!(
            libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, pair.as_mut_ptr()),
            0
        );
        assert_eq!(libc::send(pair[1], [7_u8; 12].as_ptr().cast(), 12, 0), 12);
    }
    assert!(pair.contains(&ours), "{pair:?} {ours} {before:?}");
    gate.open();
    while job.result().is_none() {
        job.resume().unwrap();
    }
    assert_eq!(job.result(), Some(true));
    assert!(stand.is_right(&signatures.borrow()[0]));
    let mut room = [0_u8; 64];
    // SAFETY: a descriptor of ours, and as much room as there is.
    let received = unsafe {
        let flags = libc::MSG_DONTWAIT;
        libc::recv(pair[0], room.as_mut_ptr().cast(), room.len(), flags)
    };
    assert_eq!(received, 12, "the program's message is the program's");
    // SAFETY: ours.
    pair.iter().for_each(|one| unsafe {
        libc::close(*one);
    });
}

fn sockets() -> Vec<i32> {
    let all = std::fs::read_dir("/proc/self/fd").unwrap();
    let names = all.filter_map(|one| one.ok()?.file_name().to_str()?.parse().ok());
    names.filter(|&one| is_socket(one)).collect()
}

fn is_socket(descriptor: i32) -> bool {
    let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}"));
    link.is_ok_and(|link| link.to_string_lossy().starts_with("socket:"))
}

/// Whether it is an end that connected: the service's end has the socket's address.
fn is_client(descriptor: i32) -> bool {
    // SAFETY: numbers, for which zeros are a value, and their length.
    unsafe {
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        let mut length = size_of_val(&address) as libc::socklen_t;
        libc::getsockname(descriptor, (&raw mut address).cast(), &raw mut length) == 0
            && length as usize <= size_of::<libc::sa_family_t>()
    }
}

/// A connection of the program's that is freed in the middle.
#[test]
fn what_is_dropped_leaves_nothing_open() {
    let _alone = alone();
    let stand = Stand::new();
    let gate = Arc::new(Gate::default());
    let door = Arc::clone(&gate);
    let service = stand.serve(move |_| {
        door.pass();
        None
    });
    let before = open_descriptors();
    for _ in 0..5 {
        let (jobs, _): (Vec<Job>, Vec<_>) = (0..10)
            .map(|_| signing(&stand.library, &stand.key, 1))
            .unzip();
        assert!(jobs.iter().all(|job| job.result().is_none()));
        drop(jobs);
    }
    gate.open();
    let started = Instant::now();
    while service.open() > 0 {
        assert!(started.elapsed() < common::jobs::PATIENCE);
        std::thread::yield_now();
    }
    drop(service);
    let left = open_descriptors();
    assert!(left <= before, "{left} descriptors, {before} before");
}

/// What a forked child inherits in mid-job is the parent's.
#[test]
fn a_child_asks_by_itself() {
    let _alone = alone();
    let stand = Stand::new();
    // Its threads hold no lock of libcrypto's when the process forks: nobody would release the child's copy.
    let gate = Arc::new(Gate::default());
    let door = Arc::clone(&gate);
    let _service = stand.serve(move |_| {
        door.pass();
        None
    });
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) = (0..2)
        .map(|_| signing(&stand.library, &stand.key, 3))
        .unzip();
    // SAFETY: the child makes no thread's lock its own: it runs jobs, and leaves.
    let child = unsafe { libc::fork() };
    if child != 0 {
        gate.open();
    }
    while child == 0 && jobs.iter().any(|job| job.result().is_none()) {
        // What its parent waits for is no sign for the child.
        jobs.iter_mut().for_each(|job| job.resume().unwrap());
    }
    run(&mut jobs);
    let right = signatures.iter().all(|signatures| {
        let signatures = signatures.borrow();
        signatures.len() == 3 && signatures.iter().all(|signature| stand.is_right(signature))
    });
    let all_done = right && jobs.iter().all(|job| job.result() == Some(true));
    if child == 0 {
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!all_done)) };
    }
    let mut status = 0;
    // SAFETY: the child, and a variable.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert!(all_done);
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        "{status:#x}"
    );
}
