//! The process of the verbs: it carries out what callers ask of the coprocessor, and has none of the service's keys.
//!
//! ```text
//!             ──── the state, connections ───▶
//!   service        a pair of sockets           outboardd --verbs ◀──requests, answers──▶ callers
//!             ◀─ changes, connections back ───     (sandbox)
//! ```
//!
//! The service starts this process when a verb is asked for that its caller may call, and hands the caller's connection over. The process
//! answers on that connection itself, until the connection ends or asks for something else: then the service has it again. A verb
//! that ends the process ends nothing else: the service keeps every connection, too, and starts the process anew.
//!
//! A request stays in its socket until it is answered. So the next process finds what the last one did not answer.
//!
//! ```text
//! workers.rs  requests in, answers out    client.rs  a connection
//! sandbox.rs  what the kernel does for it crash.rs   which request ended it
//! state.rs    what it stores              watchdog.rs  a request that computes without end
//! ```

mod client;
mod crash;
mod sandbox;
mod state;
mod watchdog;
mod workers;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use outboard_cca as cca;
use rustix::net::{RecvFlags, SendFlags};
use serde::Serialize;

use crate::coprocessor::board::Board;
use crate::coprocessor::pair::{self, FromVerbs, Receiver, ToVerbs};
use crate::gate::lock;
use crate::{Error, cannot, process};
use workers::Verbs;

/// The name of the process in lists, where it has room for 15 characters.
const NAME: &std::ffi::CStr = c"outboard-verbs";

/// What is told to the service: whole messages.
pub(crate) struct Out {
    pair: OwnedFd,
    turn: Mutex<()>,
}

impl Out {
    fn say(&self, message: &impl Serialize) {
        let Ok(packets) = pair::packets(message) else {
            return;
        };
        let _turn = lock(&self.turn);
        for packet in packets {
            // Where the service is gone, this process ends.
            let _ = pair::send(&self.pair, &packet, None, SendFlags::empty());
        }
    }
}

/// Carries out verbs for the service that started this process: its standard input is the pair, its standard output the board.
///
/// # Errors
/// It was started by something else.
pub fn serve_verbs() -> Result<(), Error> {
    process::confine(NAME);
    crash::watch();
    let prepare = || -> io::Result<_> {
        let [pair, board] = process::inherited()?;
        let board = Board::open(board)?;
        // What looks at files does so now.
        outboard_engine::scalar::randomise(&mut [0; 32]).map_err(io::Error::other)?;
        let processors = std::thread::available_parallelism()?.get();
        let watched = workers::Watched::new()?;
        sandbox::enter()?;
        Ok((pair, board, watched, processors))
    };
    let (pair, board, watched, processors) = prepare().map_err(cannot("prepare for verbs"))?;
    // Both stay as long as the process.
    let turn = Mutex::default();
    let out: &Out = Box::leak(Box::new(Out { pair, turn }));
    let changes: &state::Changes = Box::leak(Box::default());
    let mut receiver = Receiver::new();
    let mut next = || {
        let next = receiver.receive::<ToVerbs>(&out.pair, RecvFlags::empty());
        next.map_err(cannot("hear the service"))
    };
    let mut entries = Vec::new();
    loop {
        match next()? {
            Some((ToVerbs::Entries(more), _)) => entries.extend(more.into_iter().map(state::entry)),
            Some((ToVerbs::Loaded, _)) => break,
            Some(_) => {}
            None => return Ok(()),
        }
    }
    let stored = state::Stored::new(entries, out, changes);
    let card = match cca::Coprocessor::new(Box::new(stored)) {
        Ok(card) => card,
        Err(error) => {
            out.say(&FromVerbs::Failed(error.to_string()));
            return Ok(());
        }
    };
    let verbs = Arc::new(Verbs::new(card, board, out, watched, processors));
    let mut workers = verbs
        .start(processors)
        .map_err(cannot("start its workers"))?;
    watchdog::start(board).map_err(cannot("watch its workers"))?;
    while let Some((message, attached)) = next()? {
        match message {
            ToVerbs::Stored { number, done } => changes.tell(number, done),
            ToVerbs::Serve {
                number,
                administrator,
                user,
                process,
            } => {
                let caller = cca::Caller {
                    administrator,
                    user,
                };
                if let Some(socket) = attached {
                    verbs.serve(client::Client::new(number, socket, caller, process));
                }
            }
            ToVerbs::GiveBack(number) => verbs.give_back(number),
            ToVerbs::Ask(number) => out.say(&FromVerbs::Heard(number)),
            ToVerbs::End => {
                verbs.end();
                let workers = std::mem::take(&mut workers);
                // This thread goes on hearing that changes are stored.
                std::thread::spawn(move || {
                    workers.into_iter().for_each(|worker| drop(worker.join()));
                    std::process::exit(0);
                });
            }
            ToVerbs::Entries(_) | ToVerbs::Loaded => {}
        }
    }
    // The service is gone.
    Ok(())
}
