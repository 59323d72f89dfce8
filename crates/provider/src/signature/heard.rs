//! What a program has set since it began a message, to be told to another context of stock's.

use std::ffi::CStr;

use outboard_provider_abi::signature::Of;
use outboard_provider_abi::{ParamList, Params};

use crate::outboard::Shared;
use crate::stock::Signing;

/// The parameters of each call. Those that stock refused are among them: it may have taken a part.
#[derive(Clone, Default)]
pub(super) struct Heard(Vec<Call>);

#[derive(Clone)]
struct Call {
    params: ParamList,
    refused: bool,
}

/// What names a digest.
const DIGEST: [&CStr; 3] = [c"digest", c"properties", c"digest-size"];

/// How many calls are remembered of one message. Those that were taken one after the other count as one.
const MOST: usize = 16;

impl Heard {
    /// Notes the parameters of a call. A message that has begun keeps its digest, whichever they name.
    pub(super) fn note(&mut self, params: Params<'_>, refused: bool, begun: bool) {
        let mut noted = ParamList::new();
        noted.record(params);
        if begun {
            noted = noted.without(|name| DIGEST.contains(&name));
        }
        // SAFETY: the list's own array, whole for the call.
        noted.with_array(|noted| self.add(unsafe { Params::new(noted) }, refused));
    }

    fn add(&mut self, params: Params<'_>, refused: bool) {
        let last = self.0.last_mut();
        if let Some(last) = last.filter(|last| !last.refused && !refused) {
            return last.join(params);
        }
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        let mut call = Call {
            params: ParamList::new(),
            refused,
        };
        call.params.record(params);
        self.0.push(call);
    }

    /// Tells a fresh context of stock's the digest and all of it; false where that one refuses what the other took.
    pub(super) fn repeat(
        &self,
        digest: Option<&CStr>,
        shared: &Shared,
        fresh: &mut Signing,
    ) -> bool {
        let digest = digest.map(|name| Call {
            params: ParamList::new().text(c"digest", &name.to_string_lossy()),
            refused: false,
        });
        digest.iter().chain(&self.0).all(|call| {
            let mut set = || {
                // SAFETY: the list's own array, whole for the call.
                let set = |params| fresh.set(Of::Context, unsafe { Params::new(params) });
                call.params.with_array(set)
            };
            match shared.stock().filter(|_| call.refused) {
                // The program has read that error.
                Some(stock) => {
                    stock.in_silence(set);
                    true
                }
                None => set() == 1,
            }
        })
    }
}

impl Call {
    /// As if later parameters had come with these. A query belongs to the digest that is named with it: alone it does
    /// nothing, and it does not hold for the next digest.
    fn join(&mut self, params: Params<'_>) {
        let mut later = ParamList::new();
        later.record(params);
        for (digest, query) in [
            (c"digest", c"properties"),
            (c"mgf1-digest", c"mgf1-properties"),
        ] {
            let list = match params.find(digest) {
                Some(_) => &mut self.params,
                None => &mut later,
            };
            *list = list.without(|name| name == query);
        }
        // SAFETY: the list's own array, whole for the call.
        later.with_array(|later| self.params.record(unsafe { Params::new(later) }));
    }
}
