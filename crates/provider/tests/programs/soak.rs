//! HAProxy at full load for as long as `OUTBOARD_SOAK` says, in seconds (a few otherwise): reloads, clients that
//! reset their connections in mid-handshake, full queues. Nothing fails, memory stays flat, counts add up.

use std::time::{Duration, Instant};

use outboard_engine::{Operation, card};
use outboard_programs::Server;

use crate::clients::{Droppers, assert_all_answered, hello, load};
use crate::haproxy::start;
use crate::stand::{is_stock_alone, served, site};

const CLIENTS: u32 = 64;
const REQUESTS: u32 = 1000;

#[test]
fn haproxy_bears_full_load() {
    let programs = ["haproxy", "h2load", "openssl"];
    let Some((stand, certificate)) = site(&programs, "rsa:2048") else {
        return;
    };
    let asked = std::env::var("OUTBOARD_SOAK").ok();
    let seconds = asked.and_then(|seconds| seconds.parse().ok()).unwrap_or(4);
    let half = Duration::from_secs(seconds) / 2;

    let mut haproxy = start(&stand, &[&certificate], 2);
    let hello = hello(&stand.stock);
    let droppers = Droppers::start(&hello, haproxy.port, 8);

    let mut requests = 0;
    let mut round = |haproxy: &Server| {
        let load = load(&stand.stock, haproxy.port, CLIENTS, REQUESTS);
        let load = load.start_quietly().unwrap();
        requests += u64::from(REQUESTS);
        load
    };
    let answered = |load: outboard_programs::Process| {
        let load = load.finish(Duration::from_secs(180)).unwrap();
        assert_all_answered(&load.output, REQUESTS);
    };
    // With reloads: new processes again and again, old ones that end with work in flight.
    let begun = Instant::now();
    let mut reloads = 1; // the one below
    while begun.elapsed() < half {
        let load = round(&haproxy);
        haproxy.reload().unwrap();
        reloads += 1;
        answered(load);
    }
    // Without, and without resets, of which each that meets a paused handshake loses the job's stack to OpenSSL (see
    // docs/servers.md): one process, whose memory has to stay what it was when all was warm.
    let dropped = droppers.stop();
    haproxy.reload().unwrap();
    answered(round(&haproxy));
    let warm = resident(&haproxy);
    let begun = Instant::now();
    while begun.elapsed() < half {
        answered(round(&haproxy));
    }
    let end = resident(&haproxy);
    assert!(
        end < warm + warm / 4 + (8 << 20),
        "memory grew from {warm} to {end} bytes"
    );
    assert!(dropped > 0 && haproxy.is_running(), "{}", haproxy.log());
    assert!(has_no_failure(&haproxy.log()), "{}", haproxy.log());
    haproxy.stop().unwrap();

    println!("{requests} requests, {dropped} reset in mid-handshake, {warm} to {end} bytes");
    if is_stock_alone() {
        return;
    }
    // A request that is cancelled while its batch runs is counted when that is done. Where it was the last that a
    // process had, the process may end before.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let in_batches = (card::DEPTH * card::MOST.min(processors)) as u64;
    let uncounted = in_batches * (reloads + 1);
    let counts = stand.counts();
    assert!(served(&counts, Operation::Rsa2048Sign) >= requests);
    for (operation, work) in counts.queueing_rows() {
        println!("{}: {work:?}", operation.name());
        let done = work.in_lanes + work.one_by_one + work.cancelled + work.returned;
        assert!(
            (done..=done + uncounted).contains(&work.accepted),
            "{}: {} accepted, {done} answered, of which {uncounted} may be missing",
            operation.name(),
            work.accepted
        );
    }
}

/// Whether every process that ended did so because it was told to, if need be by a signal that it did not know yet
/// or no more.
fn has_no_failure(log: &str) -> bool {
    let told = [0, 128 + libc::SIGUSR1, 128 + libc::SIGTERM];
    let mut ends = log.split("exited with code ").skip(1);
    ends.all(|end| {
        let code = end.split(|c: char| !c.is_ascii_digit()).next();
        code.and_then(|code| code.parse().ok())
            .is_some_and(|code: i32| told.contains(&code))
    })
}

/// Memory of the processes that serve, in bytes.
fn resident(server: &Server) -> u64 {
    let of = |process: u32| {
        let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
        let pages = statm
            .split(' ')
            .nth(1)
            .and_then(|pages| pages.parse::<u64>().ok());
        pages.unwrap_or_default() * 4096
    };
    server.workers().into_iter().map(of).sum()
}
