//! A request whose answer is not waited for.

use std::sync::Arc;
use std::time::Instant;

use zeroize::Zeroizing;

use super::{Client, Failed, Outgoing, Pauses, Sent};
use crate::connection;
use crate::error::{Error, Problem};

/// A request that is sent, or is sent again at some time. Dropped, its connection is closed, and the service's answer lost.
pub struct Pending {
    pub(super) client: Arc<Client>,
    pub(super) key: String,
    pub(super) request: Outgoing,
    /// None between two tries.
    pub(super) sent: Option<Sent>,
    pub(super) pauses: Pauses,
    /// When the next try is, where there is none now.
    pub(super) again: Instant,
}

/// How a request goes on ([`Pending::go_on`]).
pub enum Progress {
    /// It is answered, or it failed.
    Done(Result<(), Error>),
    /// Something else may be done meanwhile.
    Later(Pending),
}

impl Pending {
    /// Becomes readable when the request can [`go_on`](Self::go_on); none where only its time comes.
    pub fn descriptor(&self) -> Option<i32> {
        self.sent.as_ref().map(|sent| sent.descriptor)
    }

    /// When the request can go on at the latest.
    pub fn until(&self) -> Instant {
        match self.sent {
            Some(_) => self.request.until,
            None => self.again.min(self.request.until),
        }
    }

    /// Whether it can go on: there is an answer or the end of the connection, or its time has come. In a child forked
    /// meanwhile always: the answer is its parent's, and it asks once more.
    pub fn is_ready(&self) -> bool {
        let is_quiet =
            |sent: &Sent| sent.is_under_way() && !connection::is_readable(sent.descriptor);
        Instant::now() >= self.until() || !self.sent.as_ref().is_none_or(is_quiet)
    }

    /// Goes on with a request that is ready: hears the answer and writes it into `result`, which is emptied first, or sends
    /// the request again. Does not wait.
    pub fn go_on(mut self, result: &mut Zeroizing<Vec<u8>>) -> Progress {
        result.clear();
        let sent = self.sent.take().filter(Sent::is_under_way);
        let gone_on = match sent {
            Some(sent) => match self.client.hear(sent, &self.request, result) {
                Ok(()) => return Progress::Done(Ok(())),
                Err(failed) => self.again(failed),
            },
            None => self.send(),
        };
        match gone_on {
            Ok(()) => Progress::Later(self),
            Err(problem) => Progress::Done(Err(Error {
                key: self.key,
                problem,
            })),
        }
    }

    /// The answer, written into `result`, which is emptied first. Waited for if it is not there; asked for once more
    /// if the connection ended.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn collect(self, result: &mut Zeroizing<Vec<u8>>) -> Result<(), Error> {
        result.clear();
        let Self {
            client,
            key,
            request,
            sent,
            ..
        } = self;
        let mut sent = sent.filter(Sent::is_under_way);
        let once = || match sent.take() {
            Some(sent) => client.hear(sent, &request, result),
            None => client.once(&request, result),
        };
        let outcome = client.keep_trying(&request, once);
        outcome.map_err(|problem| Error { key, problem })
    }

    pub(super) fn send(&mut self) -> Result<(), Problem> {
        match self.client.send(&self.request) {
            Ok(sent) => {
                self.sent = Some(sent);
                Ok(())
            }
            Err(failed) => self.again(failed),
        }
    }

    /// Sends it again, now or later.
    fn again(&mut self, failed: Failed) -> Result<(), Problem> {
        match self.pauses.before_another(&self.request, failed)? {
            Some(pause) => {
                self.again = Instant::now() + pause;
                Ok(())
            }
            None => self.send(),
        }
    }
}
