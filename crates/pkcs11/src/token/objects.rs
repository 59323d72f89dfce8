//! The objects of a token: what the process knows of them, and what it has made, changed and destroyed.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use cryptoki_sys::*;
use outboard_administration::{ObjectInfo, Reply, Secret, TokenRequest};

use super::{Login, Token};
use crate::abi::Template;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::object::{Attributes, Halves, Material, Object, Origin, What};
use crate::slot::Slot;

/// What the objects of a slot were made of.
#[derive(Default)]
pub(super) struct Known {
    generation: u64,
    /// How often this process has stored some.
    stored: u64,
    /// By their ids.
    handles: BTreeMap<String, Entry>,
}

/// An object in a token of many.
struct Entry {
    handle: CK_OBJECT_HANDLE,
    /// Of what programs search for: most objects differ in that, and need not be looked at.
    marks: [u64; MARKED.len()],
}

/// The attributes that programs search for most.
const MARKED: [CK_ATTRIBUTE_TYPE; 2] = [CKA_LABEL, CKA_ID];

fn marks(attributes: &Attributes) -> [u64; MARKED.len()] {
    MARKED.map(|kind| mark(attributes.get(kind).unwrap_or_default()))
}

fn mark(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value);
    hasher.finish()
}

impl Known {
    /// Some of the objects are no longer there, so all of them are asked for.
    pub(super) fn forget_generation(&mut self) {
        self.generation = 0;
    }
}

/// So often the objects may change while they are read.
const MOST_CHANGES: usize = 16;

impl Module {
    /// Makes the objects of a token's slot what the service says now.
    pub(crate) fn refresh_token(&self, slot: Slot) -> Result<()> {
        let look = |token: &mut Token| {
            let objects = &token.objects;
            (token.login.clone(), objects.generation, objects.stored)
        };
        let (login, known, stored) = self.tokens.with(slot, look)?;
        let user = login.filter(Login::is_user);
        let Some((generation, objects)) = self.objects_since(slot, user.as_ref(), known)? else {
            return Ok(());
        };
        for info in &objects {
            self.adopt(slot, info, user.as_ref())?;
        }
        let ids: BTreeSet<&str> = objects.iter().map(|info| &info.id[..]).collect();
        let gone = self.tokens.with(slot, |token| {
            let is_same_user =
                token.login.as_ref().filter(|login| login.is_user()) == user.as_ref();
            let objects = &mut token.objects;
            if !is_same_user || objects.generation != known || objects.stored != stored {
                // What another thread has learned or done meanwhile is newer.
                return Vec::new();
            }
            objects.generation = generation;
            let mut gone = Vec::new();
            objects.handles.retain(|id, entry| {
                let stays = ids.contains(&id[..]);
                if !stays {
                    gone.push(entry.handle);
                }
                stays
            });
            gone
        })?;
        for handle in gone {
            drop(self.objects.remove(handle));
        }
        Ok(())
    }

    /// All objects that the service has, and their generation; none where that is still the known one.
    fn objects_since(
        &self,
        slot: Slot,
        user: Option<&Login>,
        known: u64,
    ) -> Result<Option<(u64, Vec<ObjectInfo>)>> {
        let mut all: Vec<ObjectInfo> = Vec::new();
        let mut of = None;
        for _ in 0..MOST_CHANGES {
            loop {
                let after = all.last().map(|info| info.id.clone());
                let is_first = after.is_none();
                let known = if is_first { known } else { 0 };
                let question = TokenRequest::Objects { known, after };
                let answer = self.question_of(slot, user, question)?;
                let (generation, objects, more) = objects_of(answer)?;
                if is_first && generation == known {
                    return Ok(None);
                }
                if of.replace(generation) != Some(generation) && !is_first {
                    break;
                }
                let is_last = !more || objects.is_empty();
                all.extend(objects);
                if is_last {
                    return Ok(Some((generation, all)));
                }
            }
            all.clear();
        }
        Err(CKR_DEVICE_ERROR.into())
    }

    /// Makes an object of the slot of what the service says of one, or finds that it is there already: the answer is its handle.
    /// None is there for one that the module cannot use, or whose user has logged out meanwhile.
    fn adopt(
        &self,
        slot: Slot,
        info: &ObjectInfo,
        user: Option<&Login>,
    ) -> Result<Option<CK_OBJECT_HANDLE>> {
        let look = |token: &mut Token| {
            let known = token.objects.handles.get(&info.id);
            (Arc::clone(&token.info), known.map(|entry| entry.handle))
        };
        let (token, known) = self.tokens.with(slot, look)?;
        let Ok(attributes) = Attributes::of_store(info) else {
            return Ok(None);
        };
        let is_same = |known: &mut Arc<Object>| known.attributes == attributes;
        if let Some(known) = known
            && self.objects.with(known, is_same) == Some(true)
        {
            return Ok(Some(known));
        }
        let Ok(object) = Object::of_store(slot, &token.name, info, attributes) else {
            return Ok(None);
        };
        let marks = marks(&object.attributes);
        let mut object = Some(Arc::new(object));
        let (handle, before) = self.tokens.with(slot, |token| {
            // Nothing is put there once the module is finalised, or the user has logged out.
            Self::get()?;
            if info.private && token.login.as_ref() != user {
                return Ok::<_, Error>((None, None));
            }
            let handles = &mut token.objects.handles;
            let mut before = None;
            let mut handle = handles.get(&info.id).map(|entry| entry.handle);
            if let Some(handle) = handle {
                self.objects.with(handle, |place| {
                    before = object.take().map(|new| std::mem::replace(place, new));
                });
            }
            if let Some(object) = object.take() {
                handle = Some(self.objects.insert(object));
            }
            if let Some(handle) = handle {
                handles.insert(info.id.clone(), Entry { handle, marks });
            }
            Ok((handle, before))
        })??;
        // Without the lock.
        drop(before);
        Ok(handle)
    }

    /// The objects of a slot that may be what a search asks for; none where all of them may.
    pub(crate) fn candidates(
        &self,
        slot: Slot,
        template: &Template<'_>,
    ) -> Option<Vec<CK_OBJECT_HANDLE>> {
        let wanted = MARKED.map(|kind| template.get(kind).map(mark));
        if !slot.is_token() || wanted == [None; MARKED.len()] {
            return None;
        }
        let may_be = |entry: &&Entry| {
            let mut pairs = wanted.iter().zip(&entry.marks);
            pairs.all(|(wanted, mark)| wanted.is_none_or(|wanted| wanted == *mark))
        };
        let look = |token: &mut Token| {
            let entries = token.objects.handles.values().filter(may_be);
            entries.map(|entry| entry.handle).collect()
        };
        let mut candidates: Vec<_> = self.tokens.with(slot, look).ok()?;
        self.sessions.each(|session| {
            if session.slot == slot {
                candidates.extend(&session.own);
            }
        });
        candidates.sort_unstable();
        Some(candidates)
    }

    /// Gives the service an object to keep: the answer is its handle.
    pub(crate) fn store(&self, object: Object) -> Result<CK_OBJECT_HANDLE> {
        let slot = self.slot_for_writing(object.session)?;
        let attributes = &object.attributes;
        let key = match attributes.number(CKA_CLASS) {
            Some(CKO_PRIVATE_KEY) => {
                if matches!(object.material, Material::Service(_)) {
                    // Nobody has it but the service, under another id.
                    return Err(CKR_ACTION_PROHIBITED.into());
                }
                if attributes.flag(CKA_EXTRACTABLE) == Some(true) {
                    return Err(CKR_TEMPLATE_INCONSISTENT.into());
                }
                let info = object
                    .private_info()
                    .map_err(|_| CKR_TEMPLATE_INCONSISTENT)?;
                Some(Secret(info))
            }
            _ => None,
        };
        let object = attributes.to_store()?;
        let login = self.login_for_writing(slot, object.private)?;
        let insert = TokenRequest::Insert { object, key };
        let stored = self.store_by(slot, &login, insert)?;
        stored.first().copied().ok_or(CKR_DEVICE_ERROR.into())
    }

    /// Makes a key pair in the service, by that mechanism: the handles of the public and the private half.
    pub(crate) fn generate_inside(
        &self,
        session: CK_SESSION_HANDLE,
        (mechanism, what): (CK_MECHANISM_TYPE, What),
        public: &Template<'_>,
        private: &Template<'_>,
    ) -> Result<(CK_OBJECT_HANDLE, CK_OBJECT_HANDLE)> {
        let slot = self.slot_for_writing(session)?;
        let kind = what.of_service().ok_or(CKR_TEMPLATE_INCONSISTENT)?;
        let halves = Halves::expected(kind, public.get(CKA_EC_PARAMS));
        let made = Origin::Inside(mechanism);
        let public = Attributes::new(public, &halves.public(), made)?;
        let private = Attributes::new(private, &halves.private(), made)?;
        if private.flag(CKA_EXTRACTABLE) == Some(true) {
            return Err(CKR_TEMPLATE_INCONSISTENT.into());
        }
        let request = TokenRequest::Generate {
            kind: kind.to_string(),
            private: private.to_store()?,
            public: public.to_store()?,
        };
        let login = self.login_for_writing(slot, true)?;
        let [private, half] = self.store_by(slot, &login, request)?[..] else {
            return Err(CKR_DEVICE_ERROR.into());
        };
        let is_lasting = public.flag(CKA_TOKEN) == Some(true);
        let public = match is_lasting {
            true => half,
            false => {
                let copy = self.copy(session, half, &Template::one(CKA_TOKEN, &[CK_FALSE]))?;
                self.destroy(session, half)?;
                copy
            }
        };
        Ok((public, private))
    }

    /// Lets the service make, take or change objects: the answer is their handles.
    fn store_by(
        &self,
        slot: Slot,
        login: &Login,
        request: TokenRequest,
    ) -> Result<Vec<CK_OBJECT_HANDLE>> {
        let (_, objects, _) = objects_of(self.question_of(slot, Some(login), request)?)?;
        self.tokens.with(slot, |token| token.objects.stored += 1)?;
        let user = Some(login).filter(|login| login.is_user());
        let adopted = objects.iter().map(|info| self.adopt(slot, info, user));
        adopted
            .map(|handle| handle?.ok_or(CKR_DEVICE_ERROR.into()))
            .collect()
    }

    /// Changes an object of a token, in the service and here.
    pub(crate) fn change_stored(
        &self,
        session: CK_SESSION_HANDLE,
        object: &Object,
        attributes: &Attributes,
    ) -> Result<()> {
        let slot = self.slot_for_writing(session)?;
        let login = self.login_for_writing(slot, object.is_private())?;
        let change = TokenRequest::Change {
            object: object.id()?.to_owned(),
            attributes: attributes.to_change(&object.attributes)?,
        };
        let changed = self.store_by(slot, &login, change).map_err(of_object);
        changed.map(drop)
    }

    /// Destroys an object of a token in the service.
    pub(crate) fn destroy_stored(&self, session: CK_SESSION_HANDLE, object: &Object) -> Result<()> {
        let slot = self.slot_for_writing(session)?;
        let login = self.login_for_writing(slot, object.is_private())?;
        let id = object.id()?.to_owned();
        let destroy = TokenRequest::Destroy { object: id.clone() };
        self.question_of(slot, Some(&login), destroy)
            .map_err(of_object)?;
        let forget = |token: &mut Token| token.objects.handles.remove(&id);
        self.tokens.with(slot, forget)?;
        Ok(())
    }

    /// Who changes objects of a token: the officer changes public ones alone.
    fn login_for_writing(&self, slot: Slot, private: bool) -> Result<Login> {
        let login = self.tokens.with(slot, |token| token.login.clone())?;
        let login = login.filter(|login| login.is_user() || !private);
        login.ok_or(CKR_USER_NOT_LOGGED_IN.into())
    }
}

/// What an answer says of objects: their generation, the objects, and whether there are more.
fn objects_of(answer: Reply) -> Result<(u64, Vec<ObjectInfo>, bool)> {
    match answer {
        Reply::Objects {
            generation,
            objects,
            more,
            ..
        } => Ok((generation, objects, more)),
        _ => Err(CKR_DEVICE_ERROR.into()),
    }
}

/// What is missing is the object.
fn of_object(error: Error) -> Error {
    match error.code() {
        CKR_TOKEN_NOT_PRESENT => CKR_OBJECT_HANDLE_INVALID.into(),
        _ => error,
    }
}
