//! CSNBMGN and CSNBMVR: MACs with DES keys.

use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use outboard_engine::scalar::mac::equal;

use super::{MOST, SEGMENTS, Segment};
use crate::AccessPoint;
use crate::algorithm::mac::{CbcMac, Method};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::master::Kind;
use crate::request::*;
use crate::token::uses::*;
use crate::value::{Bytes, Rules};
use crate::verb::Verb;

struct MacRules {
    method: Option<Method>,
    segment: Segment,
    length: usize,
    /// As digits: none, without a blank, with one after the fourth.
    digits: Option<bool>,
}

fn mac_rules(rules: &Rules) -> Outcome<MacRules> {
    let mut rules = rules.parse();
    let method = rules.one(&[
        ("X9.9-1", Method::X99),
        ("X9.19OPT", Method::X919),
        ("EMVMAC", Method::Emv),
        ("EMVMACD", Method::EmvDouble),
        ("TDES-MAC", Method::TripleDes),
    ])?;
    let segment = rules.one(SEGMENTS)?.unwrap_or(Segment::Only);
    let (length, digits) = rules
        .one(&[
            ("MACLEN4", (4, None)),
            ("MACLEN6", (6, None)),
            ("MACLEN8", (8, None)),
            ("HEX-8", (4, Some(false))),
            ("HEX-9", (4, Some(true))),
        ])?
        .unwrap_or((4, None));
    rules.end()?;
    Ok(MacRules {
        method,
        segment,
        length,
        digits,
    })
}

/// Goes on with a text. The chaining vector is encrypted: the chain inside would let its reader forge codes.
fn mac<U>(
    call: &Call<'_>,
    key: &Key<U>,
    rules: &MacRules,
    text: &[u8],
    chaining: &[u8],
) -> Outcome<(Bytes, Option<[u8; 8]>)> {
    if text.len() > MOST {
        return Err(Refusal::TextTooLong);
    }
    let method = rules.method.unwrap_or(match key.bytes().len() {
        8 => Method::X99,
        16 => Method::X919,
        _ => Method::TripleDes,
    });
    let mut code = CbcMac::new(method, key.bytes()).ok_or(Refusal::KeyLength)?;
    // Belongs to this key and this method.
    let said = [b"chain".as_slice(), &[method as u8], key.bytes()].concat();
    let hiding = call
        .state()
        .masters
        .current(Kind::Symmetric)?
        .derive(&zeroize::Zeroizing::new(said))?;
    let hide = |state: &mut [u8; 16], is_hidden: bool| {
        aes::begin(&hiding, Mode::Ecb, is_hidden)?.update(InOutBuf::from(&mut state[..]))
    };
    if !rules.segment.begins() {
        let mut state: [u8; 16] = chaining
            .get(..16)
            .and_then(|state| state.try_into().ok())
            .ok_or(Refusal::Size)?;
        hide(&mut state, false)?;
        code.resume(&state).ok_or(Refusal::Inconsistent)?;
    }
    code.update(text);
    if rules.segment.ends() {
        return Ok(([0; 18].into(), Some(*code.finish())));
    }
    let mut state = code.state();
    hide(&mut state, true)?;
    let mut chaining = state.to_vec();
    chaining.resize(18, 0);
    Ok((chaining.into(), None))
}

/// A code as the rules say: bytes or digits.
fn written(code: &[u8; 8], rules: &MacRules) -> Vec<u8> {
    let code = &code[..rules.length];
    let Some(has_blank) = rules.digits else {
        return code.to_vec();
    };
    let mut text: String = code.iter().map(|byte| format!("{byte:02X}")).collect();
    if has_blank {
        text.insert(4, ' ');
    }
    text.into_bytes()
}

impl Verb for MacGenerate {
    type Reply = Mac;

    fn run(&self, call: &Call<'_>) -> Outcome<Mac> {
        let rules = mac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacGenerate)?;
        let key = call.des_key::<MakeMac>(&self.key_identifier)?;
        let (chaining_vector, code) = mac(call, &key, &rules, &self.text, &self.chaining_vector)?;
        let mac = code.map_or(Bytes::default(), |code| written(&code, &rules).into());
        Ok(Mac {
            chaining_vector,
            mac,
        })
    }
}

impl Verb for MacVerify {
    type Reply = MacVerified;

    fn run(&self, call: &Call<'_>) -> Outcome<MacVerified> {
        let rules = mac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacVerify)?;
        let key = call.des_key::<VerifyMac>(&self.key_identifier)?;
        let (chaining_vector, code) = mac(call, &key, &rules, &self.text, &self.chaining_vector)?;
        if let Some(code) = code {
            let wanted = written(&code, &rules);
            let given = self.mac.get(..wanted.len()).ok_or(Refusal::Size)?;
            is_verified(&wanted, given)?;
        }
        Ok(MacVerified { chaining_vector })
    }
}

pub(super) fn is_verified(wanted: &[u8], given: &[u8]) -> Outcome<()> {
    match equal(wanted, given) {
        true => Ok(()),
        false => Err(Refusal::TestFailed),
    }
}
