//! Verbs of the coprocessor: on the worker that read them, on others that are free, or on a thread of their own.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use outboard_wire::Status;

use super::{Connection, Gate, Pending, lock};
use crate::coprocessor::Call;

/// A verb that has passed all checks.
pub(super) struct Verb {
    connection: Arc<Connection>,
    id: u32,
    call: Call,
}

impl Gate {
    /// Takes a verb in, or refuses it.
    pub(super) fn hear_verb(
        &self,
        connection: &Arc<Connection>,
        id: u32,
        request: &[u8],
    ) -> Option<Pending> {
        match self.coprocessor.admit(connection.client(), request) {
            Ok(call) => {
                let verb = Verb {
                    connection: Arc::clone(connection),
                    id,
                    call,
                };
                lock(&self.verbs).push(verb);
                None
            }
            Err(refusal) => self.refuse(connection, id, None, refusal.status, &refusal.sentence),
        }
    }

    /// Whether verbs wait for a worker. The worker that read them sees to all of them, so none waits for ever.
    pub(super) fn has_verbs(&self) -> bool {
        !lock(&self.verbs).is_empty()
    }

    /// Carries out what waits, until nothing does.
    pub(super) fn run_verbs(self: &Arc<Self>) {
        loop {
            // The lock must be free while the verb runs.
            let next = lock(&self.verbs).pop();
            match next {
                Some(verb) if verb.call.takes_long() => self.run_apart(verb),
                Some(verb) => self.run_verb(&verb),
                None => return,
            }
        }
    }

    fn run_verb(&self, verb: &Verb) {
        let answer = self.coprocessor.run(&verb.call);
        self.counts.done.fetch_add(1, Relaxed);
        self.answer(&verb.connection, verb.id, Status::Done, &answer);
    }

    /// Carries out a verb that may take long, while the workers go on.
    fn run_apart(self: &Arc<Self>, verb: Verb) {
        let uid = verb.connection.client().uid;
        let Some(permit) = self.coprocessor.permit(uid) else {
            // The client tries again, for as long as it likes.
            self.answer(
                &verb.connection,
                verb.id,
                Status::Busy,
                b"the coprocessor has too many verbs under way that take long",
            );
            return;
        };
        let verb = Arc::new(verb);
        let (gate, apart) = (Arc::clone(self), Arc::clone(&verb));
        let run = move || {
            gate.run_verb(&apart);
            drop(permit);
        };
        let thread = std::thread::Builder::new().name("coprocessor".into());
        if thread.spawn(run).is_err() {
            self.run_verb(&verb);
        }
    }
}
