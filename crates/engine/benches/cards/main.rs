//! What cards cost and gain: `make bench-cards`, or `cargo bench -p outboard-engine --bench cards --
//! [PART OF A NAME…]`.
//!
//! Programs with concurrency in one process, in miniature: an event loop with jobs that pause, and a
//! pool of threads. The scalar path and cards take turns of half a second in one process; what is
//! printed are medians of the turns, and of their ratios.
//!
//! ```text
//! requests.rs   what is asked for          cost.rs      processor time beside other work
//!                                          latency.rs   from a request's arrival to its answer
//! ```

mod cost;
mod latency;
mod requests;

use std::time::Duration;

use outboard_engine::card::{self, Settings};

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let is_wanted = |name: &str, scenario: &str| {
        let is = |part: &String| name.contains(part.as_str()) || scenario.contains(part.as_str());
        wanted.iter().all(is)
    };
    card::open(Settings::default());
    let operations = requests::operations();
    cost::table(&operations, is_wanted);
    latency::table(&operations, is_wanted);
}

/// Runs `body` in a process of its own.
fn in_child(body: impl FnOnce()) {
    // SAFETY: the child runs what follows and leaves without returning; it was forked from a single
    // thread.
    let child = unsafe { libc::fork() };
    if child != 0 {
        // SAFETY: our child.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        return;
    }
    body();
    // SAFETY: ends the child at once.
    unsafe { libc::_exit(0) };
}

/// Leaves this thread, and those that it will start, so many processors.
fn pin(processors: usize) {
    // SAFETY: a set of bits; this thread and those it will start.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (0..processors).for_each(|one| libc::CPU_SET(one, &mut set));
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The one in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
