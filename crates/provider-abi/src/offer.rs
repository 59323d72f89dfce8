//! Dispatch tables that offer what another provider's offer.

use crate::raw::{Dispatch, entries};

/// A function, to be cast to the type that its id stands for.
pub type Function = unsafe extern "C" fn();

/// What becomes of one of the other provider's functions.
#[derive(Clone, Copy)]
pub enum Offer {
    /// A function of ours stands in its place.
    Ours(Function),
    /// It stays: it takes nothing that a provider gives out.
    Theirs,
    /// It is left out: libcrypto calls it only with what the other provider itself gave out.
    Omitted,
    /// Nothing is known of it, and so of the algorithm.
    Unknown,
}

/// A table that offers what `theirs` does; none where that has a function that is not known, or lacks one of
/// those that libcrypto cannot do without (`needed`).
///
/// # Safety
/// `theirs` ends with id 0. Its functions that stay are called for as long as the table is used.
pub unsafe fn table(
    theirs: *const Dispatch,
    needed: &[i32],
    offer: impl Fn(i32) -> Offer,
) -> Option<Box<[Dispatch]>> {
    let mut ours: Vec<Dispatch> = Vec::new();
    // SAFETY: by the caller's word.
    for entry in unsafe { entries(theirs) } {
        let function = match offer(entry.function_id) {
            Offer::Ours(function) => Some(function),
            Offer::Theirs => entry.function,
            Offer::Omitted => continue,
            Offer::Unknown => return None,
        };
        ours.push(Dispatch {
            function_id: entry.function_id,
            function,
        });
    }
    let has = |id: &i32| ours.iter().any(|entry| entry.function_id == *id);
    if !needed.iter().all(has) {
        return None;
    }
    ours.push(Dispatch::END);
    Some(ours.into_boxed_slice())
}

/// A table of those functions of ours, for an algorithm that no other provider has.
pub fn own(ids: &[i32], offer: impl Fn(i32) -> Offer) -> Box<[Dispatch]> {
    let function = |&function_id: &i32| match offer(function_id) {
        Offer::Ours(function) => Some(Dispatch {
            function_id,
            function: Some(function),
        }),
        _ => None,
    };
    let entries = ids.iter().filter_map(function);
    entries.chain([Dispatch::END]).collect()
}

/// One of our functions. Its type is its id's by the match that it stands in.
macro_rules! ours {
    ($function:expr) => {{
        let function = $function;
        // SAFETY: a function pointer stays one; libcrypto casts it back by its id.
        $crate::offer::Offer::Ours(unsafe {
            std::mem::transmute::<*const (), unsafe extern "C" fn()>(function as *const ())
        })
    }};
}
pub(crate) use ours;
