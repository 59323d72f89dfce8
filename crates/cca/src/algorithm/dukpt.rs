//! Keys for one transaction, derived from a base key (DUKPT): Triple DES (ANSI X9.24-1:2009) and AES (X9.24-3:2017).

use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use zeroize::Zeroizing;

use super::des::{Cipher, xor};
use crate::answer::{Outcome, Refusal};

/// Bytes of a key serial number with Triple DES.
pub(crate) const SERIAL: usize = 10;
/// Bytes of a key serial number with AES.
pub(crate) const AES_SERIAL: usize = 12;

/// The bits of the counter.
const COUNTER: u64 = 0x1f_ffff;
const MASK: [u8; 16] = [
    0xc0, 0xc0, 0xc0, 0xc0, 0, 0, 0, 0, 0xc0, 0xc0, 0xc0, 0xc0, 0, 0, 0, 0,
];

/// A key of two parts.
pub(crate) type Double = Zeroizing<[u8; 16]>;

/// What a derived key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// PIN blocks.
    Pin,
    /// MACs of requests.
    MacRequest,
    /// MACs of answers.
    MacResponse,
    /// Data of requests.
    DataRequest,
    /// Data of answers.
    DataResponse,
}

impl Purpose {
    /// Which byte of each half is changed (X9.24-1, table A-1).
    fn place(self) -> usize {
        match self {
            Self::Pin => 7,
            Self::MacRequest => 6,
            Self::MacResponse => 4,
            Self::DataRequest => 5,
            Self::DataResponse => 3,
        }
    }
}

fn masked(key: &[u8; 16]) -> Double {
    let mut masked = Zeroizing::new(*key);
    xor(&mut *masked, &MASK);
    masked
}

fn double(key: &[u8; 16]) -> Cipher {
    Cipher::new(key).expect("a key of two parts")
}

/// The first key of a terminal (X9.24-1, A.6).
pub(crate) fn initial_key(base: &[u8; 16], serial: &[u8; SERIAL]) -> Double {
    let mut block = [0; 8];
    block.copy_from_slice(&serial[..8]);
    block[7] &= 0xe0;
    let mut key = Zeroizing::new([0; 16]);
    for (half, base) in key.chunks_mut(8).zip([Zeroizing::new(*base), masked(base)]) {
        let mut encrypted = Zeroizing::new(block);
        double(&base).encrypt(&mut encrypted);
        half.copy_from_slice(&*encrypted);
    }
    key
}

/// The key of a transaction, before it is changed for a purpose (X9.24-1, A.3).
pub(crate) fn transaction_key(base: &[u8; 16], serial: &[u8; SERIAL]) -> Outcome<Double> {
    let mut key = initial_key(base, serial);
    let mut last = [0; 8];
    last.copy_from_slice(&serial[2..]);
    let number = u64::from_be_bytes(last);
    let counter = number & COUNTER;
    // A terminal skips counters with more bits, and never uses the first key.
    if counter == 0 || counter.count_ones() > 10 {
        return Err(Refusal::KeySerialNumber);
    }
    let mut register = number & !COUNTER;
    for bit in (0..21)
        .rev()
        .map(|place| 1 << place)
        .filter(|bit| counter & bit != 0)
    {
        register |= bit;
        key = next(&key, register.to_be_bytes());
    }
    Ok(key)
}

/// The key that cannot be turned back (X9.24-1, A.2).
fn next(key: &[u8; 16], register: [u8; 8]) -> Double {
    let half = |key: &[u8; 16]| {
        let mut block = Zeroizing::new(register);
        xor(&mut *block, &key[8..]);
        Cipher::new(&key[..8])
            .expect("a key of one part")
            .encrypt(&mut block);
        xor(&mut *block, &key[8..]);
        block
    };
    let mut next = Zeroizing::new([0; 16]);
    next[..8].copy_from_slice(&*half(&masked(key)));
    next[8..].copy_from_slice(&*half(key));
    next
}

/// The key of a transaction for a purpose.
pub(crate) fn derive(base: &[u8; 16], serial: &[u8; SERIAL], purpose: Purpose) -> Outcome<Double> {
    let mut key = transaction_key(base, serial)?;
    key[purpose.place()] ^= 0xff;
    key[8 + purpose.place()] ^= 0xff;
    if matches!(purpose, Purpose::DataRequest | Purpose::DataResponse) {
        // The key encrypts itself (X9.24-1, A.4.1).
        let cipher = double(&key);
        let mut encrypted = key.clone();
        encrypted
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .for_each(|half| cipher.encrypt(half));
        return Ok(encrypted);
    }
    Ok(key)
}

/// What a key that AES DUKPT derives is for (X9.24-3, table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    PinEncryption = 0x1000,
    MacGeneration = 0x2000,
    MacVerification = 0x2001,
    MacBoth = 0x2002,
    DataEncryption = 0x3000,
    DataDecryption = 0x3001,
    DataBoth = 0x3002,
    KeyDerivation = 0x8000,
    InitialKey = 0x8001,
}

/// The derivation's input (X9.24-3, 6.3.2): version, number of the block, usage, algorithm, bits, serial number.
fn derivation_data(usage: Usage, bits: u16, serial: [u8; 8]) -> Outcome<[u8; 16]> {
    let algorithm: u16 = match bits {
        128 => 2,
        192 => 3,
        256 => 4,
        _ => return Err(Refusal::KeyLength),
    };
    let mut data = [0; 16];
    (data[0], data[1]) = (1, 1);
    data[2..4].copy_from_slice(&(usage as u16).to_be_bytes());
    data[4..6].copy_from_slice(&algorithm.to_be_bytes());
    data[6..8].copy_from_slice(&bits.to_be_bytes());
    data[8..].copy_from_slice(&serial);
    Ok(data)
}

/// A key of so many bits (X9.24-3, 6.3.3).
fn derived(key: &[u8], mut data: [u8; 16]) -> Outcome<Zeroizing<Vec<u8>>> {
    let length = usize::from(u16::from_be_bytes([data[6], data[7]]) / 8);
    let mut derived = Zeroizing::new(Vec::with_capacity(32));
    while derived.len() < length {
        let mut block = Zeroizing::new(data);
        aes::begin(key, Mode::Ecb, true)?.update(InOutBuf::from(&mut block[..]))?;
        derived.extend_from_slice(&*block);
        data[1] += 1;
    }
    derived.truncate(length);
    Ok(derived)
}

/// The first key of a terminal, as long as the base key.
pub(crate) fn aes_initial_key(base: &[u8], id: [u8; 8]) -> Outcome<Zeroizing<Vec<u8>>> {
    let bits = 8 * base.len() as u16;
    derived(base, derivation_data(Usage::InitialKey, bits, id)?)
}

/// The key of a transaction for a usage, as long as asked (X9.24-3, 6.3.1: host security module).
pub(crate) fn aes_derive(
    base: &[u8],
    serial: &[u8; AES_SERIAL],
    usage: Usage,
    bits: u16,
) -> Outcome<Zeroizing<Vec<u8>>> {
    let mut id = [0; 8];
    id.copy_from_slice(&serial[..8]);
    let mut counter = [0; 4];
    counter.copy_from_slice(&serial[8..]);
    let counter = u32::from_be_bytes(counter);
    // A terminal skips counters with more bits.
    if counter == 0 || counter.count_ones() > 16 {
        return Err(Refusal::KeySerialNumber);
    }
    // A key never derives a stronger one.
    if usize::from(bits / 8) > base.len() {
        return Err(Refusal::WeakWrapping);
    }
    let own = 8 * base.len() as u16;
    let mut key = aes_initial_key(base, id)?;
    let numbered = |counter: u32| {
        let mut number = [0; 8];
        number[..4].copy_from_slice(&id[4..]);
        number[4..].copy_from_slice(&counter.to_be_bytes());
        number
    };
    let mut working = 0;
    for bit in (0..32)
        .rev()
        .map(|place| 1 << place)
        .filter(|bit| counter & bit != 0)
    {
        working |= bit;
        key = derived(
            &key,
            derivation_data(Usage::KeyDerivation, own, numbered(working))?,
        )?;
    }
    derived(&key, derivation_data(usage, bits, numbered(counter))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        crate::value::from_hex(hex).unwrap()[..].try_into().unwrap()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// X9.24-1:2009, A.4: the initial key, the key of the first transaction, and the first counters that are refused.
    #[test]
    fn keys_are_those_of_x9_24_1() {
        let base = bytes("0123456789ABCDEFFEDCBA9876543210");
        let serial = bytes("FFFF9876543210E00001");
        assert_eq!(
            hex(&*initial_key(&base, &serial)),
            "6AC292FAA1315B4D858AB3A3D7D5933A"
        );
        assert_eq!(
            hex(&*transaction_key(&base, &serial).unwrap()),
            "042666B49184CFA368DE9628D0397BC9"
        );
        assert_eq!(
            hex(&*derive(&base, &serial, Purpose::Pin).unwrap()),
            "042666B49184CF5C68DE9628D0397B36"
        );
        assert!(transaction_key(&base, &bytes("FFFF9876543210E00000")).is_err());
        assert!(transaction_key(&base, &bytes("FFFF9876543210FFFFFF")).is_err());
    }

    /// X9.24-3:2017's test vectors.
    #[test]
    fn keys_are_those_of_x9_24_3() {
        let base = bytes::<16>("FEDCBA9876543210F1F1F1F1F1F1F1F1");
        assert_eq!(
            hex(&aes_initial_key(&base, bytes("1234567890123456")).unwrap()),
            "1273671EA26AC29AFA4D1084127652A1"
        );
        let serial = bytes("123456789012345600000001");
        for (usage, wanted) in [
            (Usage::PinEncryption, "AF8CB133A78F8DC2D1359F18527593FB"),
            (Usage::MacGeneration, "A2DC23DE6FDE0824A2BC321E08E4B8B7"),
            (Usage::MacVerification, "DBB463945B286C07CD3AD82EE96FD9C9"),
            (Usage::MacBoth, "85675439D18D7F1158BD8E3EAA3D502B"),
            (Usage::DataEncryption, "A35C412EFD41FDB98B69797C02DCD08F"),
            (Usage::DataDecryption, "16292C6EA8F64C5420A0584BFBC577BE"),
            (Usage::DataBoth, "A308E080DD15A1B741F1721BF67DE11C"),
        ] {
            assert_eq!(
                hex(&aes_derive(&base, &serial, usage, 128).unwrap()),
                wanted,
                "{usage:?}"
            );
        }
        for (counter, wanted) in [
            ("00000002", "D30BDC73EC9714B000BEC66BDB7B6D09"),
            ("00000003", "7D69F01F3B45449F62C7816ECE723268"),
            ("FFFE4000", "6239A27F572DEDB17BCA1AC413EF9FE9"),
            ("FFFE8000", "F10C1404137A80718FCCE8BD90FF9F67"),
            ("FFFF0000", "27EFAC1D158632588F4AC69E45C247C4"),
        ] {
            let serial = bytes(&format!("1234567890123456{counter}"));
            assert_eq!(
                hex(&aes_derive(&base, &serial, Usage::PinEncryption, 128).unwrap()),
                wanted,
                "{counter}"
            );
        }
        let long = [&base[..], &base].concat();
        let initial = aes_initial_key(&long, bytes("1234567890123456")).unwrap();
        assert_eq!(
            hex(&initial),
            "CE9CE0C101D1138F97FB6CAD4DF045A7083D4EAE2D35A31789D01CCF0949550F"
        );
        for (counter, wanted) in [
            (
                "00000001",
                "8C1AB7BEE973829E30242E0BBBDD4946D540C98FC1B5BDCF94790001A23FD502",
            ),
            (
                "00000002",
                "3583D6CD02FC38822CC71A8D7678E04F4A8556335E6CC66863D3DADC5AEE2C62",
            ),
            (
                "00000003",
                "96A1AB5D37CB7CF81DDE64F66C46E0389B833E7AD5F4E44C791F04FAFDA6DA0E",
            ),
            (
                "FFFE4000",
                "F388FF9FB1D66E8812BC67CA5B85CE5554063E09A2440EC1AF4EB433CCFBAF35",
            ),
            (
                "FFFE8000",
                "FAC4E05A67AB1522505CF0E94E5977B99D0E5B116D76ABB6B8A64F0D785FF6DF",
            ),
            (
                "FFFF0000",
                "88B82556AEF4A681E0687F443A4C4F305AF9203B114470DFC77C7F08BC43F9DA",
            ),
        ] {
            let serial = bytes(&format!("1234567890123456{counter}"));
            assert_eq!(
                hex(&aes_derive(&long, &serial, Usage::PinEncryption, 256).unwrap()),
                wanted,
                "{counter}"
            );
        }
        assert_eq!(
            aes_derive(&base, &serial, Usage::PinEncryption, 256).err(),
            Some(Refusal::WeakWrapping)
        );
    }
}
