//! Key tokens. A key comes out of a token only for a use that the token allows ([`uses`]).

pub(crate) mod aes;
mod aeskw;
pub(crate) mod certificate;
pub(crate) mod clear;
pub(crate) mod clone_info;
mod compact;
pub(crate) mod control_vector;
mod der;
pub(crate) mod des;
pub(crate) mod external;
pub(crate) mod pka;
pub(crate) mod uses;
