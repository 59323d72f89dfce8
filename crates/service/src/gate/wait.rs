//! How a worker waits for clients: asleep, or for a moment awake.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use outboard_engine::card::DEPTH;
use outboard_wire::haste::NEXT;
use rustix::event::epoll::{self, Event, EventData, EventFlags};

use super::{Connection, END, FIRST_CONNECTION, Gate, Woken, lock};

impl Gate {
    /// Whether one worker at a time waits for clients.
    pub(super) fn one_leads(&self) -> bool {
        self.lanes.is_some() || self.was_short.load(Relaxed) && self.company.count() < 2
    }

    /// Waits for clients, until at most so many have something to read. Accepts those that are new.
    pub(super) fn wait(&self, most: usize, awaits: bool) -> Woken {
        loop {
            // Before the end: these requests are accepted.
            if let Some(pending) = lock(&self.left).pop() {
                return Woken::Left(pending);
            }
            if self.ends.load(Relaxed) {
                return Woken::End;
            }
            let soon = match awaits && self.haste.is_due() {
                true => self.poll_in_haste(most),
                false => Vec::new(),
            };
            let ready = match soon.is_empty() {
                true => self.poll(most, None),
                false => soon,
            };
            if !ready.is_empty() {
                return Woken::Requests(ready);
            }
        }
    }

    /// Polls again and again for a moment: a program that was just answered may ask again at once, and to wake a worker
    /// takes longer than a quick operation.
    fn poll_in_haste(&self, most: usize) -> Vec<Arc<Connection>> {
        let ready = self.poll(most, Some(Duration::ZERO));
        if !ready.is_empty() {
            self.haste.was_there();
            return ready;
        }
        let begun = Instant::now();
        loop {
            let ready = self.poll(most, Some(Duration::ZERO));
            let after = begun.elapsed();
            if !ready.is_empty() || after >= NEXT || self.ends.load(Relaxed) {
                self.haste.came(!ready.is_empty(), after, NEXT);
                return ready;
            }
            std::hint::spin_loop();
        }
    }

    /// The connections that have something to read, at most so many.
    pub(super) fn poll(&self, most: usize, limit: Option<Duration>) -> Vec<Arc<Connection>> {
        let limit = limit.map(|limit| rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: limit.subsec_nanos().into(),
        });
        let mut events = [Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        }; DEPTH];
        // None where a signal interrupts it.
        let room = &mut events[..most.min(DEPTH)];
        let count = epoll::wait(&self.epoll, room, limit.as_ref()).unwrap_or(0);
        let mut ready = Vec::with_capacity(count);
        for event in &events[..count] {
            match { event.data }.u64() {
                END => self.ends.store(true, Relaxed),
                number if number < FIRST_CONNECTION => self.accept(number as usize),
                number => ready.extend(lock(&self.connections).get(&number).cloned()),
            }
        }
        ready
    }
}
