//! Key tokens. A key comes out of a token only for a use that the token allows ([`uses`]).

pub(crate) mod aes;
mod aeskw;
pub(crate) mod clear;
mod compact;
pub(crate) mod control_vector;
pub(crate) mod des;
pub(crate) mod external;
pub(crate) mod pka;
pub(crate) mod uses;
