//! What can be measured: one workload a file.

mod cards;
pub mod coprocessor;
mod gate;
mod java;
mod layers;
mod pq;
mod process;
mod rampup;
mod scores;
mod service;
mod sides;
mod speed;
mod ssh;
mod steady;
mod terminal;
pub(crate) mod tls;
pub mod token;
mod trading;
mod versions;

use std::io;

use outboard_programs::hold_to;

use crate::suite::Workload;

/// All of them, in the order in which they run: from single operations to whole systems.
pub fn all() -> Vec<Box<dyn Workload>> {
    vec![
        Box::new(speed::Speed),
        Box::new(layers::Layers),
        Box::new(pq::PostQuantum),
        Box::new(cards::Cards),
        Box::new(ssh::Ssh),
        Box::new(tls::Tls),
        Box::new(service::Service),
        Box::new(token::Token),
        Box::new(coprocessor::Coprocessor),
        Box::new(java::Java),
        Box::new(trading::Trading),
        Box::new(rampup::RampUp),
        Box::new(steady::Steady),
    ]
}

/// Does a client's work in a thread of its own that is held to a core, so that this one stays free to
/// run anywhere. Where it cannot be held, it runs anyway.
fn client_thread<T: Send>(core: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            core.map(|core| hold_to(core).ok());
            work()
        });
        match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Lets this process, and what it starts, have so many files and sockets open.
pub(crate) fn allow_files(number: u64) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= number) {
        return Ok(());
    }
    let allowed = Rlimit {
        current: Some(limit.maximum.map_or(number, |maximum| maximum.min(number))),
        ..limit
    };
    Ok(setrlimit(Resource::Nofile, allowed)?)
}
