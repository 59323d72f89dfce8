//! One file per command: its arguments, what it does, how it says so.

pub(crate) mod advise;
pub(crate) mod calibrate;
pub(crate) mod cards;
pub(crate) mod cca;
pub(crate) mod disable;
pub(crate) mod doctor;
pub(crate) mod enable;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod java;
pub(crate) mod keys;
pub(crate) mod observe;
pub(crate) mod probe;
pub(crate) mod run;
pub(crate) mod service;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod token;
