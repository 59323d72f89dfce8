//! Digests.

use cryptoki_sys::*;
use outboard_engine::scalar::digest::Hasher;

use crate::abi::Output;
use crate::error::Result;
use crate::mechanism::{Mechanism, What};
use crate::module::Module;
use crate::session::Session;

/// A digest under way.
pub(crate) struct Digesting {
    hasher: Hasher,
    /// Whether a part of a message has come.
    has_begun: bool,
}

impl Digesting {
    fn update(&mut self, part: &[u8]) -> Result<()> {
        self.has_begun = true;
        Ok(self.hasher.update(part)?)
    }
}

fn place(session: &mut Session) -> &mut Option<Digesting> {
    &mut session.digest
}

impl Module {
    /// `C_DigestInit`
    pub(crate) fn digest_init(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
    ) -> Result<()> {
        let What::Digest(digest) = mechanism.what else {
            return Err(CKR_MECHANISM_INVALID.into());
        };
        let digesting = Digesting {
            hasher: Hasher::new(digest)?,
            has_begun: false,
        };
        self.begin(session, place, digesting)
    }

    /// `C_DigestUpdate`
    pub(crate) fn digest_update(&self, session: CK_SESSION_HANDLE, part: &[u8]) -> Result<()> {
        let mut hasher = self.take(session, place)?;
        hasher.update(part)?;
        self.put_back(session, place, hasher);
        Ok(())
    }

    /// `C_DigestKey`
    pub(crate) fn digest_key(
        &self,
        session: CK_SESSION_HANDLE,
        key: CK_OBJECT_HANDLE,
    ) -> Result<()> {
        let mut hasher = self.take(session, place)?;
        let key = self.object(session, key, CKR_KEY_HANDLE_INVALID)?;
        let attributes = &key.attributes;
        let is_secret = attributes.number(CKA_CLASS) == Some(CKO_SECRET_KEY);
        let value = attributes.get(CKA_VALUE).filter(|_| is_secret);
        hasher.update(value.ok_or(CKR_KEY_INDIGESTIBLE)?)?;
        self.put_back(session, place, hasher);
        Ok(())
    }

    /// `C_DigestFinal`, and `C_Digest` with the whole message.
    pub(crate) fn digest_final(
        &self,
        session: CK_SESSION_HANDLE,
        message: Option<&[u8]>,
        mut output: Output<'_>,
    ) -> Result<()> {
        let mut digesting = self.take(session, place)?;
        if message.is_some() && digesting.has_begun {
            return Err(CKR_OPERATION_ACTIVE.into());
        }
        match output.is_question(digesting.hasher.digest().length()) {
            Ok(false) => {}
            answer => {
                self.put_back(session, place, digesting);
                return answer.map(drop);
            }
        }
        if let Some(message) = message {
            digesting.update(message)?;
        }
        output.put(&digesting.hasher.end()?)
    }
}
