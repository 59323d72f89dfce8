//! The request of a verb, field by field, and the fields of what it makes: postcard's format, as `request` has it.

use serde::Serialize;
use zeroize::Zeroizing;

use super::fuel_of;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::{Description, Request};
use crate::value::{Bytes, Keyword, Rules};

/// A verb that a module is about to call, or has called.
pub(super) struct Calling {
    verb: &'static Description,
    /// Encoded; None if it was not set.
    fields: Vec<Option<Zeroizing<Vec<u8>>>>,
    /// What the verb made, encoded. None before it is called, and after it was refused.
    reply: Option<Zeroizing<Vec<u8>>>,
}

fn encoded(value: &impl Serialize) -> Option<Zeroizing<Vec<u8>>> {
    crate::encoded(value).ok().map(Zeroizing::new)
}

impl Calling {
    pub(super) fn new(verb: &'static Description) -> Self {
        let fields = verb.parameters.iter().map(|_| None).collect();
        Self {
            verb,
            fields,
            reply: None,
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        let mut parameters = self.verb.parameters.iter();
        parameters.position(|parameter| parameter.name == name)
    }

    /// Sets bytes, a keyword, or keywords of eight characters each. None: the verb has no such parameter, or it is no such bytes.
    pub(super) fn set_bytes(&mut self, name: &str, bytes: &[u8]) -> Option<()> {
        let keyword = |bytes: &[u8]| {
            let mut keyword = [b' '; 8];
            keyword.get_mut(..bytes.len())?.copy_from_slice(bytes);
            Some(Keyword(keyword))
        };
        let place = self.place(name)?;
        let field = match self.verb.parameters[place].kind {
            "Bytes" => encoded(&Bytes::from(bytes)),
            "Keyword" => encoded(&keyword(bytes)?),
            "Rules" if bytes.len() <= 8 * 64 => {
                let keywords = bytes.chunks(8).map(keyword);
                encoded(&Rules(keywords.collect::<Option<_>>()?))
            }
            _ => None,
        };
        self.fields[place] = Some(field?);
        Some(())
    }

    /// Sets a number.
    pub(super) fn set_number(&mut self, name: &str, number: u32) -> Option<()> {
        let place = self.place(name)?;
        if self.verb.parameters[place].kind != "u32" {
            return None;
        }
        self.fields[place] = Some(encoded(&number)?);
        Some(())
    }

    /// Carries the verb out: return code and reason code.
    pub(super) fn run(&mut self, call: &Call<'_>) -> Outcome<(u32, u32)> {
        let number = Request::VERBS
            .iter()
            .position(|verb| verb.name == self.verb.name);
        let number = u32::try_from(number.ok_or(Refusal::Resource)?).unwrap_or(u32::MAX);
        // An enumeration's number is encoded as a number.
        let number = encoded(&number).ok_or(Refusal::Resource)?;
        let room = self.fields.iter().flatten().map(|field| field.len());
        let room = number.len() + room.sum::<usize>() + 8 * self.fields.len();
        let mut request = Zeroizing::new(Vec::with_capacity(room));
        request.extend_from_slice(&number);
        for (field, parameter) in self.fields.iter().zip(self.verb.parameters) {
            match (field, parameter.kind) {
                (Some(field), _) => request.extend_from_slice(field),
                (None, "Keyword") => request.extend_from_slice(&[b' '; 8]),
                // No bytes, no keywords, zero.
                (None, _) => request.push(0),
            }
        }
        let request = Request::decode(&request).map_err(|_| Refusal::Resource)?;
        self.reply = None;
        match request.run(call) {
            Ok(reply) => {
                self.reply = Some(encoded(&reply).ok_or(Refusal::Resource)?);
                Ok((0, 0))
            }
            Err(refusal) => Ok(refusal.codes()),
        }
    }

    /// What the verb costs of the module's fuel: a MAC of 64 KiB takes some milliseconds, with one unit a byte.
    pub(super) fn fuel(&self) -> u64 {
        let bytes = self.fields.iter().flatten().map(|field| field.len());
        fuel_of(self.verb.name) + bytes.sum::<usize>() as u64
    }

    /// How many bytes the verb made.
    pub(super) fn made(&self) -> usize {
        self.reply.as_ref().map_or(0, |reply| reply.len())
    }

    /// What the verb made, as bytes; a number as four, the lowest first. None: it made nothing of that name.
    pub(super) fn result(&self, name: &str) -> Option<Zeroizing<Vec<u8>>> {
        let (_, mut rest) = postcard::take_from_bytes::<u32>(self.reply.as_ref()?).ok()?;
        for result in self.verb.results {
            let (bytes, after) = match result.kind {
                "Bytes" | "String" => {
                    let (bytes, after) = postcard::take_from_bytes::<Bytes>(rest).ok()?;
                    (Zeroizing::new(bytes.to_vec()), after)
                }
                "Keyword" => {
                    let (bytes, after) = rest.split_at_checked(8)?;
                    (Zeroizing::new(bytes.to_vec()), after)
                }
                "Rules" => {
                    let (rules, after) = postcard::take_from_bytes::<Rules>(rest).ok()?;
                    let bytes = rules.0.iter().flat_map(|keyword| keyword.0).collect();
                    (Zeroizing::new(bytes), after)
                }
                "u32" => {
                    let (number, after) = postcard::take_from_bytes::<u32>(rest).ok()?;
                    (Zeroizing::new(number.to_le_bytes().to_vec()), after)
                }
                _ => return None,
            };
            if result.name == name {
                return Some(bytes);
            }
            rest = after;
        }
        None
    }
}
