//! What an administrator does with the CCA coprocessor.

use outboard_administration::{Code, CoprocessorRequest, Refusal, Reply};

use super::translate::{of_vault, refused};
use super::{Administration, Result, administrator};
use crate::peer::Peer;

impl Administration {
    pub(super) fn coprocessor(&self, peer: &Peer, what: CoprocessorRequest) -> Result<Reply> {
        let coprocessor = &self.gate.coprocessor;
        if what != CoprocessorRequest::Show {
            administrator(peer)?;
        }
        let done = match what {
            CoprocessorRequest::Show => Ok(()),
            CoprocessorRequest::Enable => coprocessor.enable(peer.uid),
            CoprocessorRequest::Disable => coprocessor.disable(peer.uid),
            CoprocessorRequest::Destroy => coprocessor.destroy(peer.uid),
            CoprocessorRequest::Grant { grant, given } => {
                coprocessor.grant(peer.uid, of_vault(grant), given)
            }
        };
        done.map_err(|error| match refused(error) {
            Refusal {
                code: Code::NoKey, ..
            } => Refusal {
                code: Code::NoKey,
                message: format!(
                    "there is no coprocessor (as root or the service's own user, run 'outboard cca enable{}')",
                    self.keys.option
                ),
            },
            refusal => refusal,
        })?;
        let info = coprocessor.info(peer).map_err(refused)?;
        Ok(Reply::Coprocessor(Box::new(info)))
    }
}
