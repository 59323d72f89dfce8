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
use queue::{Job, Pushed};
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
    let queue = Arc::new(Queue::new());
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
        let queue = Arc::new(Queue::new());
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
                    let others = queue.take(0, 2);
                    others.iter().for_each(|job| answer(job));
                    answer(&job);
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
        let queue = Arc::new(Queue::new());
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
            queue.take(0, 2).iter().for_each(|job| answer(job));
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
        let queue = Arc::new(Queue::new());
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
        let (queue, openers) = (Arc::new(Queue::new()), Arc::new(AtomicU32::new(1)));
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
