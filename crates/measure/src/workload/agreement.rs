//! Making keys and agreeing on secrets, as a handshake does.

use outboard_libcrypto::{Context, Deriver, Key, Params, Selection};

use super::Prepared;
use crate::{KeyKind, Keys, Result};

/// A fresh key, everything made anew.
pub(super) fn generate(context: &Context, kind: KeyKind) -> Result<Prepared> {
    let context = context.clone();
    let params = kind.generation();
    let served_by = Key::generate(&context, kind.type_name(), &params)?.provider_name();
    Ok(Prepared::new(served_by, move || {
        Key::generate(&context, kind.type_name(), &params)?;
        Ok(())
    }))
}

/// A secret between our key and a peer's, the context new each time. Both keys are there already,
/// as a handshake makes them: ours generated, the peer's from the bytes that it sent. (Neither ever
/// was a file, so the side that makes keys holds both.)
pub(super) fn derive(context: &Context, keys: &Keys, kind: KeyKind) -> Result<Prepared> {
    let key = Key::generate(context, kind.type_name(), &kind.generation())?;
    let peer = keys.peer(keys.maker(), kind)?.bytes(c"encoded-pub-key")?;
    let mut params = kind.generation().bytes(c"pub", &peer);
    let peer = Key::from_params(context, kind.type_name(), Selection::Public, &mut params)?;
    let params = Params::new();
    let served_by = Deriver::new(&key, &params)?.provider_name();
    Ok(Prepared::new(served_by, move || {
        let mut deriver = Deriver::new(&key, &params)?;
        deriver.set_peer(&peer)?;
        deriver.derive()?;
        Ok(())
    }))
}
