//! The queue of a card under loom, which runs every order of its threads' steps: nothing is lost,
//! answered twice, read before it is written, or waited for in vain.
//!
//! `src/card/queue.rs` itself, on loom's primitives in place of `std`'s. A model with more threads
//! takes minutes: `LOOM_MAX_PREEMPTIONS=3` for a longer look.

// The model uses a part of it.
#![allow(dead_code)]

/// In place of `src/card/sync.rs`.
mod sync {
    pub(super) use loom::sync::atomic::AtomicU32;
    pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};

    /// As loom's, with the one way in that the queue uses.
    pub(super) struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(super) fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        pub(super) fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
            self.0.with_mut(access)
        }
    }
}

#[path = "../src/card/queue.rs"]
mod queue;

use std::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};

use loom::thread;
use queue::{Job, Look, Pushed, Woken};
use sync::{Arc, AtomicU32};

/// Counts how often it was told.
struct Told(Arc<AtomicU32>);

type Asked = Job<u32, u32, Told>;
/// Two kinds; two of each may wait.
type Queue = queue::Queue<Asked, 2, 2>;

/// Two preemptions find what there is to find, by experience (loom's documentation); more by
/// `LOOM_MAX_PREEMPTIONS`.
fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(body);
}

/// What a worker does: answers with the double, until the queue is closed.
fn work(queue: &Queue) {
    while queue.wait_for_work().is_some() {
        for job in queue.take_oldest().1 {
            answer(&job);
        }
    }
}

fn answer(job: &Asked) {
    if let Some(told) = job.finish(Some(2 * job.question)) {
        told.0.fetch_add(1, SeqCst);
    }
}

/// Runs `body` beside a worker, then closes the queue and waits for the worker to end.
fn beside_a_worker(body: impl FnOnce(&Arc<Queue>)) {
    let queue = Arc::new(Queue::new(true));
    let worker = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || work(&queue))
    };
    body(&queue);
    queue.close_if(|| true);
    worker.join().expect("the worker does not panic");
}

#[test]
fn a_thread_gets_its_answer() {
    model(|| {
        beside_a_worker(|queue| {
            let job = Arc::new(Asked::of_thread(21));
            assert_ne!(queue.push(0, &job), Pushed::Full);
            job.wait();
            assert_eq!(job.collect(), Some(42));
        });
    });
}

#[test]
fn two_threads_get_their_own() {
    model(|| {
        beside_a_worker(|queue| {
            let other = {
                let queue = Arc::clone(queue);
                thread::spawn(move || {
                    let job = Arc::new(Asked::of_thread(5));
                    queue.push(1, &job);
                    job.wait();
                    assert_eq!(job.collect(), Some(10));
                })
            };
            let job = Arc::new(Asked::of_thread(3));
            queue.push(0, &job);
            job.wait();
            assert_eq!(job.collect(), Some(6));
            other.join().expect("it does not panic");
        });
    });
}

/// What is cancelled in time is neither run nor told; else it is told at most once.
#[test]
fn a_cancelled_job_is_not_run() {
    model(|| {
        let (told, ran) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let queue = Arc::new(Queue::new(true));
        let worker = {
            let (queue, ran) = (Arc::clone(&queue), Arc::clone(&ran));
            thread::spawn(move || {
                while queue.wait_for_work().is_some() {
                    for job in queue.take_oldest().1 {
                        ran.fetch_add(1, SeqCst);
                        answer(&job);
                    }
                }
            })
        };
        let job = Arc::new(Asked::of_notify(1, Told(Arc::clone(&told))));
        queue.push(0, &job);
        let in_time = job.cancel();
        assert!(job.is_cancelled() || job.is_done());
        queue.close_if(|| true);
        worker.join().expect("the worker does not panic");
        let (told, ran) = (told.load(SeqCst), ran.load(SeqCst));
        assert!(
            told <= ran && ran == u32::from(!in_time),
            "{told} {ran} {in_time}"
        );
    });
}

/// Who looks whether it is done, and is told by nobody, finds the whole answer.
#[test]
fn who_looks_finds_the_answer() {
    model(|| {
        let told = Arc::new(AtomicU32::new(0));
        let job = Arc::new(Asked::of_notify(4, Told(told)));
        beside_a_worker(|queue| {
            queue.push(0, &job);
            assert!(matches!(job.collect(), None | Some(8)));
            assert!(!job.is_done() || matches!(job.collect(), None | Some(8)));
        });
    });
}

/// Who is told finds the answer.
#[test]
fn who_is_told_finds_the_answer() {
    model(|| {
        let told = Arc::new(AtomicU32::new(0));
        let job = Arc::new(Asked::of_notify(4, Told(Arc::clone(&told))));
        beside_a_worker(|queue| {
            queue.push(0, &job);
            if told.load(SeqCst) == 1 {
                assert_eq!(job.collect(), Some(8));
            }
        });
        assert_eq!(
            told.load(SeqCst),
            1,
            "the worker did what waited before it ended"
        );
    });
}

/// The caller who finds it full takes what waits, beside the worker: each job is run once.
#[test]
fn helper_and_worker_share_the_work() {
    model(|| {
        let told = Arc::new(AtomicU32::new(0));
        beside_a_worker(|queue| {
            for number in 0..3 {
                let job = Arc::new(Asked::of_notify(number, Told(Arc::clone(&told))));
                if queue.push(0, &job) == Pushed::Full {
                    assert!(job.take());
                    run_with_others(queue, &job);
                    told.fetch_add(1, SeqCst);
                }
            }
        });
        assert_eq!(told.load(SeqCst), 3);
    });
}

/// A worker that dies gives everything back; what is pushed after that asks for another.
#[test]
fn a_dead_workers_jobs_come_back() {
    model(|| {
        let queue = Arc::new(Queue::new(true));
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                queue.wait_for_work().expect("it is not closed");
                let (_, jobs) = queue.take_oldest();
                for job in jobs.iter().chain(&queue.abandon()) {
                    job.finish(None);
                }
            })
        };
        let first = Arc::new(Asked::of_thread(1));
        queue.push(0, &first);
        let second = Arc::new(Asked::of_thread(2));
        let pushed = queue.push(0, &second);
        first.wait();
        assert_eq!(first.collect(), None);
        if pushed == Pushed::WantsWorker {
            // The death came between: whoever is told to starts another.
            queue.abandon().iter().for_each(|job| answer(job));
        }
        second.wait();
        assert!(matches!(second.collect(), None | Some(4)));
        worker.join().expect("it does not panic");
    });
}

/// A closed queue takes nothing more, and what it took is answered.
#[test]
fn closing_races_with_asking() {
    model(|| {
        let queue = Arc::new(Queue::new(true));
        let asker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let job = Arc::new(Asked::of_thread(7));
                match queue.push(0, &job) {
                    Pushed::Closed => {}
                    _ => {
                        job.wait();
                        assert_eq!(job.collect(), Some(14));
                    }
                }
            })
        };
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || work(&queue))
        };
        queue.close_if(|| true);
        asker.join().expect("it does not panic");
        worker.join().expect("it does not panic");
    });
}

/// The last one leaves while another comes: it ends open.
#[test]
fn who_opens_while_another_closes_finds_it_open() {
    model(|| {
        let (queue, openers) = (Arc::new(Queue::new(true)), Arc::new(AtomicU32::new(1)));
        let leaver = {
            let (queue, openers) = (Arc::clone(&queue), Arc::clone(&openers));
            thread::spawn(move || {
                if openers.fetch_sub(1, AcqRel) == 1 {
                    queue.close_if(|| openers.load(Acquire) == 0);
                }
            })
        };
        if openers.fetch_add(1, AcqRel) == 0 {
            queue.close_if(|| openers.load(Acquire) == 0);
        }
        leaver.join().expect("it does not panic");
        let job = Arc::new(Asked::of_thread(1));
        assert_eq!(queue.push(0, &job), Pushed::WantsWorker);
    });
}

/// What a caller does that has taken its job.
fn run_with_others(queue: &Queue, own: &Arc<Asked>) {
    queue
        .take_beside(0, 1, own)
        .iter()
        .for_each(|job| answer(job));
    own.finish(Some(2 * own.question));
}

/// What a thread does where there is no worker: leads if it is told to, and asserts its answer.
fn without_a_worker(queue: &Queue, number: u32) {
    let job = Arc::new(Asked::of_thread(number));
    let lead = || {
        if job.take() {
            run_with_others(queue, &job);
        }
        queue.pass_on();
    };
    match queue.push(0, &job) {
        Pushed::WantsCaller => lead(),
        Pushed::Queued => {}
        pushed => panic!("{pushed:?}"),
    }
    while job.wait() == Woken::Leads {
        lead();
    }
    assert_eq!(job.collect(), Some(2 * number));
}

/// Threads without a worker lead in turn: each gets its answer, and nobody waits for a leader that has gone.
#[test]
fn threads_without_a_worker_lead_in_turn() {
    model(|| {
        let queue = Arc::new(Queue::new(false));
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                without_a_worker(&queue, 5);
                without_a_worker(&queue, 6);
            })
        };
        without_a_worker(&queue, 3);
        other.join().expect("it does not panic");
        // The one that comes last leads.
        without_a_worker(&queue, 4);
    });
}

/// Somebody who is told comes; while another one runs the job, it is told again.
fn comes(queue: &Queue, job: &Arc<Asked>, told: &AtomicU32) -> Option<u32> {
    let mut looked = 0;
    loop {
        while told.load(SeqCst) == looked {
            thread::yield_now();
        }
        looked += 1;
        match job.look() {
            Look::Done => return job.collect(),
            Look::Taken => {
                run_with_others(queue, job);
                return job.collect();
            }
            Look::Running => {}
        }
    }
}

/// Two event loops without a worker: whoever comes first runs both jobs, and neither waits in vain.
#[test]
fn who_is_told_to_come_is_never_forgotten() {
    model(|| {
        let queue = Arc::new(Queue::new(false));
        let ask = |number| {
            let told = Arc::new(AtomicU32::new(0));
            let job = Arc::new(Asked::of_notify(number, Told(Arc::clone(&told))));
            assert_eq!(queue.push(0, &job), Pushed::WantsCaller);
            let prompted = job.prompt().expect("somebody is told");
            prompted.0.fetch_add(1, SeqCst);
            (job, told)
        };
        let (first, second) = (ask(1), ask(2));
        let other = {
            let (queue, (job, told)) = (Arc::clone(&queue), (Arc::clone(&first.0), first.1));
            thread::spawn(move || assert_eq!(comes(&queue, &job, &told), Some(2)))
        };
        assert_eq!(comes(&queue, &second.0, &second.1), Some(4));
        other.join().expect("it does not panic");
    });
}

/// A worker cannot be started: who waited meanwhile is told to come, or leads.
#[test]
fn who_waited_for_a_worker_that_cannot_be_had_leads() {
    model(|| {
        fn prompt(job: &Asked) {
            let told = job.prompt().expect("somebody is told");
            told.0.fetch_add(1, SeqCst);
        }
        let queue = Arc::new(Queue::new(true));
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let job = Arc::new(Asked::of_thread(7));
                let pushed = queue.push(0, &job);
                if pushed == Pushed::WantsWorker {
                    queue.do_without().iter().for_each(|job| prompt(job));
                }
                let lead = || {
                    if job.take() {
                        run_with_others(&queue, &job);
                    }
                    queue.pass_on();
                };
                if pushed == Pushed::WantsCaller {
                    lead();
                }
                while job.wait() == Woken::Leads {
                    lead();
                }
                assert_eq!(job.collect(), Some(14));
            })
        };
        let told = Arc::new(AtomicU32::new(0));
        let job = Arc::new(Asked::of_notify(1, Told(Arc::clone(&told))));
        match queue.push(0, &job) {
            Pushed::WantsWorker => queue.do_without().iter().for_each(|job| prompt(job)),
            Pushed::WantsCaller => prompt(&job),
            Pushed::Queued => {}
            pushed => panic!("{pushed:?}"),
        }
        other.join().expect("it does not panic");
        assert!(told.load(SeqCst) > 0);
        if job.look() == Look::Taken {
            run_with_others(&queue, &job);
        }
        assert_eq!(job.collect(), Some(2));
    });
}
