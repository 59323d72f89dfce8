//! OBAUDX and OBUDXC: user-defined extensions, added by administrators and called by those who may.

use std::sync::Arc;

use outboard_engine::scalar::digest::{Digest, Hasher};

use super::Verb;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::extensions::Extensions;
use crate::extension::{Added, Extension};
use crate::request::*;

#[derive(Clone, Copy)]
enum What {
    Add,
    Remove,
    Grant,
    Revoke,
    List,
}

impl Verb for UserExtensions {
    type Reply = AddedExtensions;

    fn run(&self, call: &Call<'_>) -> Outcome<AddedExtensions> {
        let mut rules = self.rule_array.parse();
        let what = rules.required(&[
            ("ADD", What::Add),
            ("REMOVE", What::Remove),
            ("GRANT", What::Grant),
            ("REVOKE", What::Revoke),
            ("LIST", What::List),
        ])?;
        rules.end()?;
        call.administers()?;
        if !matches!(what, What::List) {
            self.change(call, what)?;
        }
        let state = call.state();
        let infos = state.extensions.all().map(|(name, of)| info(name, of));
        Ok(AddedExtensions {
            extensions: infos.collect::<Outcome<_>>()?,
        })
    }
}

impl UserExtensions {
    fn change(&self, call: &Call<'_>, what: What) -> Outcome<()> {
        let name = Extensions::name(&self.name)?;
        // A module takes a while to compile: the card goes on meanwhile.
        let new = match what {
            What::Add => {
                let added = Added {
                    module: self.module.clone(),
                    keys: self.keys.clone(),
                    verbs: self.verbs.clone(),
                    users: Default::default(),
                };
                added.check()?;
                let new = Extension::new(added);
                if !new.is_ready() {
                    return Err(Refusal::ExtensionInvalid);
                }
                Some(Arc::new(new))
            }
            _ => None,
        };
        let mut state = call.change();
        let entry = Extensions::entry(&name);
        let changed = match new {
            Some(new) => {
                state.extensions.has_room(&name)?;
                Some(new)
            }
            None => {
                let known = state.extensions.find(&name)?;
                let mut added = known.added.clone();
                match what {
                    What::Grant => added.users.insert(self.user),
                    What::Revoke => added.users.remove(&self.user),
                    _ => {
                        call.forget(&entry)?;
                        state.extensions.set(name, None);
                        return Ok(());
                    }
                };
                added.check()?;
                Some(Arc::new(known.with(added)))
            }
        };
        if let Some(changed) = changed {
            call.keep(&entry, &Extensions::value(&changed.added)?)?;
            state.extensions.set(name, Some(changed));
        }
        Ok(())
    }
}

fn info(name: &str, extension: &Extension) -> Outcome<ExtensionInfo> {
    let added = &extension.added;
    let mut hasher = Hasher::new(Digest::Sha256)?;
    hasher.update(&added.module)?;
    let hash = hasher.end()?;
    Ok(ExtensionInfo {
        name: name.to_owned(),
        size: added.module.len() as u32,
        sha_256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        keys: added.keys.iter().map(|(name, _)| name.clone()).collect(),
        verbs: added.verbs.clone(),
        users: added.users.iter().copied().collect(),
        ready: extension.is_ready(),
    })
}

impl Verb for CallExtension {
    type Reply = ExtensionAnswer;

    fn run(&self, call: &Call<'_>) -> Outcome<ExtensionAnswer> {
        let name = Extensions::name(&self.name)?;
        let extension = call.state().extensions.find(&name)?;
        let caller = call.caller();
        // Who may not call it does not learn that it is there.
        if !caller.administrator && !extension.added.users.contains(&caller.user) {
            return Err(Refusal::NoSuchExtension);
        }
        let (code, output) = extension.run(call, &self.input)?;
        Ok(ExtensionAnswer { code, output })
    }
}
