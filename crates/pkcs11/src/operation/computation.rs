//! Who computes: this thread while the program waits, or, for an asynchronous session (PKCS #11 3.2, 5.21), a card or the card
//! service while the program does something else.
//!
//! ```text
//! C_Sign ──▶ Computation ──▶ Done: its result
//!                 └─ Elsewhere ──▶ session: Outstanding ──C_AsyncComplete──▶ its result
//! ```
//!
//! What is outstanding has a name, that of the function that began it: a session has at most one of each. It points into the
//! program's memory only for the result, which the thread writes that calls `C_AsyncComplete`.

use cryptoki_sys::*;
use outboard_client::{Pending, Progress};
use outboard_engine::card::{self, Answer, Request, Ticket};
use outboard_wire::Operation;
use zeroize::Zeroizing;

use crate::abi::{Kept, Output};
use crate::coprocessor::{ServiceKey, refusal};
use crate::error::{Error, Result};
use crate::module::Module;
use crate::slot::Slot;

/// What comes out of a computation.
pub(crate) type Bytes = Zeroizing<Vec<u8>>;

/// Whether the program waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Waits,
    /// It asks again with `C_AsyncComplete`.
    Returns,
}

/// A computation of a `T`.
pub(crate) enum Computation<T> {
    Done(Result<T>),
    /// Somebody else has it. What comes out is made a `T`.
    Elsewhere(Work, Then<T>),
}

/// What is made of bytes.
type Then<T> = Box<dyn FnOnce(Result<Bytes>) -> Result<T> + Send>;

/// Who has a computation.
pub(crate) enum Work {
    Card(Ticket),
    /// With a key of that slot.
    Service(Slot, Box<Pending>),
}

/// A function whose result may be outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Sign,
    SignFinal,
    Decrypt,
    DeriveKey,
}

/// What a function gives a program.
pub(crate) enum Product {
    Bytes(Bytes),
    Object(CK_OBJECT_HANDLE),
}

/// What a session waits for.
pub(crate) struct Outstanding {
    pub(crate) function: Function,
    work: Work,
    then: Then<Product>,
    /// Where bytes go.
    place: Kept,
}

impl Function {
    /// The function of that name.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"C_Sign" => Self::Sign,
            b"C_SignFinal" => Self::SignFinal,
            b"C_Decrypt" => Self::Decrypt,
            b"C_DeriveKey" => Self::DeriveKey,
            _ => return None,
        })
    }

    /// What `C_SessionCancel` calls it.
    pub(crate) fn flag(self) -> CK_FLAGS {
        match self {
            Self::Sign | Self::SignFinal => CKF_SIGN,
            Self::Decrypt => CKF_DECRYPT,
            Self::DeriveKey => CKF_DERIVE,
        }
    }
}

impl<T: 'static> Computation<T> {
    /// Makes something else of what comes out.
    pub(super) fn map<U>(
        self,
        make: impl FnOnce(Result<T>) -> Result<U> + Send + 'static,
    ) -> Computation<U> {
        match self {
            Self::Done(result) => Computation::Done(make(result)),
            Self::Elsewhere(work, then) => {
                Computation::Elsewhere(work, Box::new(move |bytes| make(then(bytes))))
            }
        }
    }

    /// What comes out, waited for.
    pub(super) fn wait(self) -> Result<T> {
        match self {
            Self::Done(result) => result,
            Self::Elsewhere(work, then) => then(work.wait()),
        }
    }
}

impl Work {
    /// What came out, or the same where nothing did yet.
    fn look(self) -> std::result::Result<Result<Bytes>, Self> {
        match self {
            Self::Card(ticket) if ticket.is_done() => Ok(ticket.collect().map_err(Error::from)),
            Self::Service(slot, pending) if pending.is_ready() => {
                let mut bytes = Bytes::default();
                match pending.go_on(&mut bytes) {
                    Progress::Done(done) => {
                        let done = done.map(|()| bytes);
                        Ok(done.map_err(|error| refusal(slot, error)))
                    }
                    Progress::Later(pending) => Err(Self::Service(slot, Box::new(pending))),
                }
            }
            later => Err(later),
        }
    }

    fn wait(self) -> Result<Bytes> {
        match self {
            Self::Card(ticket) => Ok(ticket.collect()?),
            Self::Service(slot, pending) => {
                let mut bytes = Bytes::default();
                let collected = pending.collect(&mut bytes);
                collected.map_err(|error| refusal(slot, error))?;
                Ok(bytes)
            }
        }
    }
}

impl Module {
    /// Has a private-key operation run where the profile says: with others on a card, or alone.
    pub(super) fn compute(&self, request: Request, manner: Manner) -> Computation<Bytes> {
        let alone = match self.paths.get() {
            Some(paths) => paths.run_alone(request),
            None => Err(request),
        };
        let done = match (alone, manner) {
            (Ok(done), _) => done,
            (Err(request), Manner::Waits) => card::run(request),
            (Err(request), Manner::Returns) => match card::leave(request) {
                Answer::Now(done) => done,
                Answer::Later(ticket) => {
                    return Computation::Elsewhere(Work::Card(ticket), Box::new(|bytes| bytes));
                }
            },
        };
        Computation::Done(done.map_err(Error::from))
    }

    /// Has the card service do an operation with a key.
    pub(super) fn ask(
        &self,
        key: &ServiceKey,
        operation: Operation<'_>,
        manner: Manner,
    ) -> Computation<Bytes> {
        match manner {
            Manner::Waits => Computation::Done(key.ask(&self.coprocessor, operation)),
            Manner::Returns => match key.begin(&self.coprocessor, operation) {
                Ok(pending) => Computation::Elsewhere(
                    Work::Service(key.slot, Box::new(pending)),
                    Box::new(|bytes| bytes),
                ),
                Err(error) => Computation::Done(Err(error)),
            },
        }
    }

    /// Gives the program the bytes that come out, or leaves that to `C_AsyncComplete`. There is room for them.
    ///
    /// # Errors
    /// `CKR_PENDING`, and the computation's.
    pub(super) fn give(
        &self,
        session: CK_SESSION_HANDLE,
        function: Function,
        computation: Computation<Bytes>,
        mut output: Output<'_>,
    ) -> Result<()> {
        match computation {
            Computation::Done(bytes) => output.put(&bytes?),
            Computation::Elsewhere(work, then) => {
                let then: Then<Product> = Box::new(|bytes| then(bytes).map(Product::Bytes));
                self.leave(session, function, (work, then), output.keep())
            }
        }
    }

    /// Gives the program the handle of the object that is made of what comes out, or leaves that to `C_AsyncComplete`.
    ///
    /// # Errors
    /// As [`give`](Self::give).
    pub(super) fn give_object(
        &self,
        session: CK_SESSION_HANDLE,
        function: Function,
        computation: Computation<CK_OBJECT_HANDLE>,
    ) -> Result<CK_OBJECT_HANDLE> {
        match computation {
            Computation::Done(handle) => handle,
            Computation::Elsewhere(work, then) => {
                let then: Then<Product> = Box::new(|bytes| then(bytes).map(Product::Object));
                self.leave(session, function, (work, then), Kept::nowhere())?;
                Err(CKR_PENDING.into())
            }
        }
    }

    fn leave(
        &self,
        session: CK_SESSION_HANDLE,
        function: Function,
        (work, then): (Work, Then<Product>),
        place: Kept,
    ) -> Result<()> {
        let outstanding = Outstanding {
            function,
            work,
            then,
            place,
        };
        self.session(session, |session| session.outstanding.push(outstanding))?;
        Err(CKR_PENDING.into())
    }

    /// Whether the program of a session waits for what begins there. Nothing begins where something of its kind is outstanding:
    /// two could not be told apart.
    pub(super) fn manner(&self, session: CK_SESSION_HANDLE, flag: CK_FLAGS) -> Result<Manner> {
        let is_there = |one: &Outstanding| one.function.flag() == flag;
        self.session(session, |session| match session.is_asynchronous {
            true if session.outstanding.iter().any(is_there) => Err(CKR_OPERATION_ACTIVE.into()),
            true => Ok(Manner::Returns),
            false => Ok(Manner::Waits),
        })?
    }

    /// Gives up what is under way at a place of the session, or outstanding, of that kind.
    pub(crate) fn give_up<T>(
        &self,
        session: CK_SESSION_HANDLE,
        flag: CK_FLAGS,
        place: impl FnOnce(&mut crate::session::Session) -> &mut Option<T>,
    ) -> Result<()> {
        let is_meant = |one: &mut Outstanding| one.function.flag() == flag;
        let given_up: Vec<_> = self.session(session, |session| {
            session.outstanding.extract_if(.., is_meant).collect()
        })?;
        match given_up.is_empty() {
            true => self.take(session, place).map(drop),
            false => Ok(()),
        }
    }

    /// `C_AsyncComplete`: what the function gives the program, and where bytes go.
    ///
    /// # Errors
    /// `CKR_PENDING`: nothing yet. `CKR_OPERATION_NOT_INITIALIZED`: nothing of that function is outstanding.
    pub(crate) fn complete(
        &self,
        session: CK_SESSION_HANDLE,
        function: Function,
    ) -> Result<(Result<Product>, Kept)> {
        let outstanding = self.session(session, |session| {
            let all = &mut session.outstanding;
            let at = all.iter().position(|one| one.function == function)?;
            Some(all.swap_remove(at))
        })?;
        let outstanding = outstanding.ok_or(CKR_OPERATION_NOT_INITIALIZED)?;
        match outstanding.work.look() {
            Ok(bytes) => Ok(((outstanding.then)(bytes), outstanding.place)),
            Err(work) => {
                let Outstanding { then, place, .. } = outstanding;
                self.leave(session, function, (work, then), place)?;
                Err(CKR_PENDING.into())
            }
        }
    }

    /// Whether a result of that function is outstanding.
    pub(crate) fn is_outstanding(
        &self,
        session: CK_SESSION_HANDLE,
        function: Function,
    ) -> Result<bool> {
        let is_there = |one: &Outstanding| one.function == function;
        self.session(session, |session| session.outstanding.iter().any(is_there))
    }
}
