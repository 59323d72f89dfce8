//! The module of a process: whether it is initialised, its sessions and its objects.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};

use cryptoki_sys::*;
use outboard_administration::Role;
use outboard_engine::front::{self, Paths, Settings};
use outboard_engine::{Operation, Path, fork};

use crate::abi::Template;
use crate::coprocessor::Coprocessor;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::object::{Material, Object, Origin};
use crate::profile;
use crate::session::Session;
use crate::slot::Slot;
use crate::table::Table;
use crate::token::Tokens;

/// The one of this process.
static MODULE: Module = Module {
    initialised: AtomicBool::new(false),
    turn: Mutex::new(()),
    by: AtomicU32::new(0),
    sessions: Table::new(),
    objects: Table::above(profile::LAST),
    coprocessor: Coprocessor::new(),
    tokens: Tokens::new(),
    paths: OnceLock::new(),
};

/// What lives between two calls.
pub(crate) struct Module {
    initialised: AtomicBool,
    /// Of the threads that initialise or finalise the module.
    turn: Mutex<()>,
    /// The process that said so: a child has what its parent had, and may say so once more.
    by: AtomicU32,
    pub(crate) sessions: Table<Session>,
    pub(crate) objects: Table<Arc<Object>>,
    pub(crate) coprocessor: Coprocessor,
    pub(crate) tokens: Tokens,
    /// Which paths operations take.
    pub(crate) paths: OnceLock<Paths>,
}

/// What the environment variable `OUTBOARD_PKCS11` says.
fn environment() -> String {
    // A program that has more rights than its user takes nothing from him.
    // SAFETY: has no preconditions.
    let text = match unsafe { libc::getauxval(libc::AT_SECURE) } {
        0 => std::env::var("OUTBOARD_PKCS11").ok(),
        _ => None,
    };
    text.unwrap_or_default()
}

/// The path of an operation of ML-KEM or ML-DSA.
pub(crate) fn path(operation: Operation) -> Path {
    let paths = MODULE.paths.get();
    paths.map_or(Path::Scalar, |paths| paths.of(operation))
}

/// What `C_Initialize` is told of threads.
pub(crate) struct Threads {
    /// Whether the module may start some.
    pub(crate) may_start: bool,
}

impl Module {
    /// The module, where it is initialised.
    pub(crate) fn get() -> Result<&'static Self> {
        match MODULE.initialised.load(SeqCst) {
            true => Ok(&MODULE),
            false => Err(CKR_CRYPTOKI_NOT_INITIALIZED.into()),
        }
    }

    /// Initialises it. A forked child goes on with what its parent had, whether it says this again, as programs do that know
    /// no module that can, or not.
    ///
    /// # Errors
    /// This process did so already.
    pub(crate) fn initialise(threads: &Threads) -> Result<()> {
        fork::watch();
        let _turn = lock(&MODULE.turn);
        let process = std::process::id();
        let by = MODULE.by.swap(process, SeqCst);
        if MODULE.initialised.load(SeqCst) {
            return match by == process {
                true => Err(CKR_CRYPTOKI_ALREADY_INITIALIZED.into()),
                false => Ok(()),
            };
        }
        let settings = Settings::read(&environment());
        MODULE.coprocessor.reach(&settings);
        let paths = settings.open(threads.may_start);
        MODULE.paths.get_or_init(|| paths);
        MODULE.initialised.store(true, SeqCst);
        Ok(())
    }

    /// Forgets everything.
    pub(crate) fn finalise(&self) -> Result<()> {
        let _turn = lock(&self.turn);
        if !self.initialised.swap(false, SeqCst) {
            return Err(CKR_CRYPTOKI_NOT_INITIALIZED.into());
        }
        drop(self.sessions.remove_all(|_| true));
        self.coprocessor.forget();
        self.tokens.forget();
        drop(self.objects.remove_all(|_| true));
        front::close();
        Ok(())
    }

    /// Opens a session.
    pub(crate) fn open(&self, slot: Slot, flags: CK_FLAGS) -> Result<CK_SESSION_HANDLE> {
        if flags & CKF_SERIAL_SESSION == 0 {
            return Err(CKR_SESSION_PARALLEL_NOT_SUPPORTED.into());
        }
        let writes = flags & CKF_RW_SESSION != 0;
        if !writes && self.tokens.role(slot) == Some(Role::Officer) {
            return Err(CKR_SESSION_READ_WRITE_SO_EXISTS.into());
        }
        let mut session = Session::new(slot, writes);
        session.is_asynchronous = flags & CKF_ASYNC_SESSION != 0;
        let handle = self.sessions.insert(session);
        // Another thread may have finalised the module meanwhile.
        if let Err(gone) = Self::get() {
            drop(self.sessions.remove(handle));
            return Err(gone);
        }
        Ok(handle)
    }

    /// Closes a session; its objects end with it.
    pub(crate) fn close(&self, handle: CK_SESSION_HANDLE) -> Result<()> {
        let session = self.sessions.remove(handle);
        let session = session.ok_or(CKR_SESSION_HANDLE_INVALID)?;
        for object in session.own {
            drop(self.objects.remove(object));
        }
        self.log_out_of_no_session(session.slot);
        Ok(())
    }

    /// Closes the sessions of a slot.
    pub(crate) fn close_all(&self, slot: Slot) {
        drop(self.sessions.remove_all(|session| session.slot == slot));
        let ends = |object: &Arc<Object>| object.slot == slot && object.session != 0;
        drop(self.objects.remove_all(ends));
        self.log_out_of_no_session(slot);
    }

    /// How many sessions a slot has, and how many of them write.
    pub(crate) fn sessions_of(&self, slot: Slot) -> (usize, usize) {
        let of_slot = |session: &Session| session.slot == slot;
        (
            self.sessions.count(of_slot),
            self.sessions
                .count(|session| of_slot(session) && session.writes),
        )
    }

    /// What `look` answers of a session.
    pub(crate) fn session<R>(
        &self,
        handle: CK_SESSION_HANDLE,
        look: impl FnOnce(&mut Session) -> R,
    ) -> Result<R> {
        let found = self.sessions.with(handle, look);
        found.ok_or(CKR_SESSION_HANDLE_INVALID.into())
    }

    /// Begins an operation in a session, where none of its kind is under way.
    pub(crate) fn begin<T>(
        &self,
        handle: CK_SESSION_HANDLE,
        place: impl FnOnce(&mut Session) -> &mut Option<T>,
        operation: T,
    ) -> Result<()> {
        self.session(handle, |session| match place(session) {
            Some(_) => Err(Error::from(CKR_OPERATION_ACTIVE)),
            none => {
                *none = Some(operation);
                Ok(())
            }
        })?
    }

    /// Takes an operation out of its session, to go on with it: what is under way holds no lock.
    pub(crate) fn take<T>(
        &self,
        handle: CK_SESSION_HANDLE,
        place: impl FnOnce(&mut Session) -> &mut Option<T>,
    ) -> Result<T> {
        let taken = self.session(handle, |session| place(session).take())?;
        taken.ok_or(CKR_OPERATION_NOT_INITIALIZED.into())
    }

    /// Puts it back.
    pub(crate) fn put_back<T>(
        &self,
        handle: CK_SESSION_HANDLE,
        place: impl FnOnce(&mut Session) -> &mut Option<T>,
        operation: T,
    ) {
        // The session may have been closed meanwhile: then the operation ends here.
        let _ = self.session(handle, |session| *place(session) = Some(operation));
    }

    /// An object that a session can use.
    pub(crate) fn object(
        &self,
        session: CK_SESSION_HANDLE,
        handle: CK_OBJECT_HANDLE,
        otherwise: CK_RV,
    ) -> Result<Arc<Object>> {
        let slot = self.session(session, |session| session.slot)?;
        let found = match handle {
            0..=profile::LAST => self.profile(slot, handle),
            _ => self.objects.with(handle, |object| Arc::clone(object)),
        };
        let found = found.filter(|object| object.slot == slot);
        found.ok_or(otherwise.into())
    }

    /// A key that a session begins an operation with. One whose user agrees to each operation is a key of that operation alone.
    pub(crate) fn key(
        &self,
        session: CK_SESSION_HANDLE,
        handle: CK_OBJECT_HANDLE,
    ) -> Result<Arc<Object>> {
        let object = self.object(session, handle, CKR_KEY_HANDLE_INVALID)?;
        let Material::Service(key) = &object.material else {
            return Ok(object);
        };
        let Some((key, consent)) = key.for_one_operation() else {
            return Ok(object);
        };
        let consent = Arc::downgrade(&consent);
        self.session(session, |session| session.consent = consent)?;
        Ok(Arc::new(Object {
            attributes: object.attributes.clone(),
            material: Material::Service(Arc::new(key)),
            ..*object
        }))
    }

    /// Creates an object of a program's own numbers.
    pub(crate) fn create(
        &self,
        session: CK_SESSION_HANDLE,
        template: &Template<'_>,
    ) -> Result<CK_OBJECT_HANDLE> {
        let slot = self.session(session, |session| session.slot)?;
        let object = Object::new(slot, session, template, &[], Origin::Created)?;
        self.keep(object)
    }

    /// Keeps an object, as long as its session, or in its token.
    pub(crate) fn keep(&self, object: Object) -> Result<CK_OBJECT_HANDLE> {
        if object.is_lasting() {
            return self.store(object);
        }
        if object.is_private() {
            self.tokens.ticket(object.slot)?;
        }
        let session = object.session;
        let handle = self.objects.insert(Arc::new(object));
        // Another thread may have closed the session meanwhile, and then has not seen the object.
        if let Err(gone) = self.session(session, |session| session.own.insert(handle)) {
            drop(self.objects.remove(handle));
            return Err(gone);
        }
        Ok(handle)
    }

    /// Copies an object, with changes.
    pub(crate) fn copy(
        &self,
        session: CK_SESSION_HANDLE,
        handle: CK_OBJECT_HANDLE,
        template: &Template<'_>,
    ) -> Result<CK_OBJECT_HANDLE> {
        let object = self.object(session, handle, CKR_OBJECT_HANDLE_INVALID)?;
        if object.attributes.flag(CKA_COPYABLE) == Some(false) {
            return Err(CKR_ACTION_PROHIBITED.into());
        }
        self.keep(object.changed(session, template, true)?)
    }

    /// Changes an object.
    pub(crate) fn change(
        &self,
        session: CK_SESSION_HANDLE,
        handle: CK_OBJECT_HANDLE,
        template: &Template<'_>,
    ) -> Result<()> {
        loop {
            let object = self.object(session, handle, CKR_OBJECT_HANDLE_INVALID)?;
            if object.attributes.flag(CKA_MODIFIABLE) == Some(false) {
                return Err(CKR_ACTION_PROHIBITED.into());
            }
            let changed = object.changed(object.session, template, false)?;
            if object.session == 0 {
                return self.change_stored(session, &object, &changed.attributes);
            }
            let changed = Arc::new(changed);
            let replace = |place: &mut Arc<Object>| {
                let is_same = Arc::ptr_eq(place, &object);
                is_same.then(|| std::mem::replace(place, changed))
            };
            let before = self.objects.with(handle, replace);
            // Another thread may have changed it meanwhile: then this change is one of what that left.
            if before.ok_or(CKR_OBJECT_HANDLE_INVALID)?.is_some() {
                return Ok(());
            }
        }
    }

    /// Destroys an object. What is under way with it goes on.
    pub(crate) fn destroy(
        &self,
        session: CK_SESSION_HANDLE,
        handle: CK_OBJECT_HANDLE,
    ) -> Result<()> {
        let object = self.object(session, handle, CKR_OBJECT_HANDLE_INVALID)?;
        if object.session == 0 {
            self.slot_for_writing(session)?;
        }
        if object.attributes.flag(CKA_DESTROYABLE) == Some(false) {
            return Err(CKR_ACTION_PROHIBITED.into());
        }
        if object.session == 0 {
            self.destroy_stored(session, &object)?;
        }
        let destroyed = self.objects.remove(handle);
        // It may be another session's.
        let _ = self.session(object.session, |session| session.own.remove(&handle));
        destroyed.map(drop).ok_or(CKR_OBJECT_HANDLE_INVALID.into())
    }

    /// Begins a search.
    pub(crate) fn search(&self, session: CK_SESSION_HANDLE, template: &Template<'_>) -> Result<()> {
        let (slot, is_active) =
            self.session(session, |session| (session.slot, session.found.is_some()))?;
        if is_active {
            return Err(CKR_OPERATION_ACTIVE.into());
        }
        match slot {
            Slot::Coprocessor => self.refresh()?,
            Slot::Accelerator => {}
            Slot::Token(_) => self.refresh_token(slot)?,
        }
        let is_it =
            |object: &Arc<Object>| object.slot == slot && object.attributes.match_all(template);
        let mut found = match self.candidates(slot, template) {
            Some(mut candidates) => {
                candidates.retain(|&handle| {
                    let is_it = |object: &mut Arc<Object>| is_it(object);
                    self.objects.with(handle, is_it) == Some(true)
                });
                candidates
            }
            None => self.objects.find(is_it),
        };
        found.extend(self.profiles_found(slot, template));
        found.reverse();
        self.begin(session, |session| &mut session.found, found)
    }

    /// Goes on with it: at most so many.
    pub(crate) fn found(
        &self,
        session: CK_SESSION_HANDLE,
        most: usize,
    ) -> Result<Vec<CK_OBJECT_HANDLE>> {
        self.session(session, |session| {
            let found = session
                .found
                .as_mut()
                .ok_or(CKR_OPERATION_NOT_INITIALIZED)?;
            let rest = found.len().saturating_sub(most);
            let mut next = found.split_off(rest);
            next.reverse();
            Ok(next)
        })?
    }
}
