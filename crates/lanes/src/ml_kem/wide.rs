//! Key generation, encapsulation and decapsulation of one key, across the lanes (FIPS 203, sections 6 and 7).
//!
//! The hashes of one operation share the eight Keccak states (`hashes.rs`); then its polynomials go through the registers one by one.
//! Nothing of this depends on another operation.

use super::hashes::Hashes;
use super::ntt::{Inverse, Transform};
use super::ring::{self, Dot, Forms, Polynomial, ZERO};
use super::shorts::{Factor, multiply};
use super::{BYTES, Encapsulation, Expanded, KeyPair, MOST, Secret, Set, bytes, sample};
use crate::keccak::sponge;
use crate::vector::shorts::{ShortKernel, Shorts, run_shorts};
use crate::vector::{self, Vector, opaque, told};
use crate::{Error, wipe};
use core::cell::OnceCell;
use zeroize::Zeroizing;

/// Whether this processor can: the lanes, and VBMI and VNNI beside them.
pub fn available() -> bool {
    vector::shorts::available()
}

/// Stack of each operation, in KiB.
const STACK: usize = 32;

/// The keys of two random seeds, d and z (ML-KEM.KeyGen_internal).
///
/// # Errors
/// [`Error::Unavailable`] where the processor lacks an instruction.
pub fn generate(set: Set, d: &[u8; BYTES], z: &[u8; BYTES]) -> Result<KeyPair, Error> {
    let mut encapsulation_key = vec![0; set.encapsulation_key_bytes()];
    let mut decapsulation_key = Zeroizing::new(vec![0; set.decapsulation_key_bytes()]);
    let mut expanded = Expanded::unmade(set);
    wipe::after(wipe::depth(STACK), || {
        run_shorts(Generate {
            set,
            d,
            z,
            public: &mut encapsulation_key,
            private: &mut decapsulation_key,
            expanded: expanded.as_mut(),
        })
    })?;
    Ok(KeyPair {
        encapsulation_key,
        decapsulation_key,
        expanded,
    })
}

/// Encapsulates a random message for a public key (ML-KEM.Encaps_internal, after the check of section 7.2).
///
/// # Errors
/// [`Error::InvalidEncapsulationKey`] for a key of another length, or with a number that is not below q.
/// [`Error::Unavailable`] where the processor lacks an instruction.
pub fn encapsulate(set: Set, key: &[u8], message: &[u8; BYTES]) -> Result<Encapsulation, Error> {
    if key.len() != set.encapsulation_key_bytes() {
        return Err(Error::InvalidEncapsulationKey);
    }
    into_encapsulation(set, |ciphertext, secret| {
        run_shorts(Encapsulate {
            set,
            key,
            message,
            ciphertext,
            secret,
        })?
    })
}

/// Fills the places of a ciphertext and its secret.
fn into_encapsulation(
    set: Set,
    run: impl FnOnce(&mut [u8], &mut [u8]) -> Result<(), Error>,
) -> Result<Encapsulation, Error> {
    let mut ciphertext = vec![0; set.ciphertext_bytes()];
    let mut secret = Zeroizing::new(vec![0; BYTES]);
    wipe::after(wipe::depth(STACK), || run(&mut ciphertext, &mut secret))?;
    Ok(Encapsulation { ciphertext, secret })
}

/// The secret of a ciphertext (ML-KEM.Decaps_internal, after the checks of section 7.3). One that was not encapsulated for this key gives a
/// secret that follows from z and the ciphertext.
///
/// # Errors
/// [`Error::InvalidDecapsulationKey`] for a key of another length, or whose public key has another hash than it says.
/// [`Error::InvalidCiphertext`] for a ciphertext of another length. [`Error::Unavailable`] where the processor lacks an
/// instruction.
pub fn decapsulate(set: Set, key: &[u8], ciphertext: &[u8]) -> Result<Secret, Error> {
    decapsulate_with(set, key, ciphertext, None)
}

fn decapsulate_with(
    set: Set,
    key: &[u8],
    ciphertext: &[u8],
    expanded: Option<&Expanded>,
) -> Result<Secret, Error> {
    if key.len() != set.decapsulation_key_bytes() {
        return Err(Error::InvalidDecapsulationKey);
    }
    if ciphertext.len() != set.ciphertext_bytes() {
        return Err(Error::InvalidCiphertext);
    }
    let mut secret = Zeroizing::new(vec![0; BYTES]);
    wipe::after(wipe::depth(STACK), || {
        run_shorts(Decapsulate {
            set,
            key,
            ciphertext,
            expanded,
            secret: &mut secret,
        })?
    })?;
    Ok(secret)
}

impl Expanded {
    /// Expands a public key, which is checked as [`encapsulate`] does.
    ///
    /// # Errors
    /// As [`encapsulate`]. [`Error::Memory`].
    pub fn new(set: Set, key: &[u8]) -> Result<Self, Error> {
        if key.len() != set.encapsulation_key_bytes() {
            return Err(Error::InvalidEncapsulationKey);
        }
        let mut expanded = Self::unmade(set).ok_or(Error::Memory)?;
        // All is public, but the key may lie beside its private half.
        wipe::after(wipe::depth(STACK), || {
            run_shorts(Expand {
                key,
                to: &mut expanded,
            })?
        })?;
        Ok(expanded)
    }

    /// As [`encapsulate`] for this key.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the processor lacks an instruction.
    pub fn encapsulate(&self, message: &[u8; BYTES]) -> Result<Encapsulation, Error> {
        into_encapsulation(self.set, |ciphertext, secret| {
            run_shorts(EncapsulateExpanded {
                key: self,
                message,
                ciphertext,
                secret,
            })
        })
    }

    /// As [`decapsulate`] with the private key of this one. The hash that is stored in it must be this one's; the public key in it
    /// is not looked at.
    ///
    /// # Errors
    /// As [`decapsulate`]. [`Error::InvalidDecapsulationKey`], too, if it is another key's.
    pub fn decapsulate(&self, key: &[u8], ciphertext: &[u8]) -> Result<Secret, Error> {
        decapsulate_with(self.set, key, ciphertext, Some(self))
    }
}

struct Generate<'a> {
    set: Set,
    d: &'a [u8; BYTES],
    z: &'a [u8; BYTES],
    public: &'a mut [u8],
    private: &'a mut [u8],
    /// Filled, too, if it is there.
    expanded: Option<&'a mut Expanded>,
}

impl ShortKernel for Generate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) {
        let (set, rank) = (self.set, self.set.rank());
        let (seed, rho) = (OnceCell::new(), OnceCell::new());
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_g_of_seed(self.d);
        sponge::run::<V, _>(&mut hashes);
        let rho = rho.get_or_init(|| told(first_half(&hashes.g)));
        hashes.want_matrix(rho, false);
        hashes.want_noise(2 * rank);
        sponge::run::<V, _>(&mut hashes);

        let mut secret = Forms::ZERO;
        let mut polynomial = ZERO;
        for i in 0..rank {
            sample::noise::<S>(set.width(), &hashes.noise[i], &mut polynomial);
            S::call(Transform(&mut polynomial));
            secret.set::<S>(i, &polynomial);
            ring::make_canonical::<S>(&mut polynomial);
            bytes::encode::<V, S>(&polynomial, &mut self.private[384 * i..384 * (i + 1)]);
        }
        let (rows, public_seed) = self.public.split_at_mut(set.vector_bytes());
        public_seed.copy_from_slice(rho);
        let mut vector = [ZERO; MOST];
        for (i, (to, sum)) in rows.chunks_exact_mut(384).zip(&mut vector).enumerate() {
            S::call(Dot {
                a: &hashes.matrix[rank * i..rank * (i + 1)],
                b: &secret,
                sum: &mut *sum,
            });
            sample::noise::<S>(set.width(), &hashes.noise[rank + i], &mut polynomial);
            S::call(Transform(&mut polynomial));
            // The product was divided by 2^16. At most 1665 + 2690 / 39, and 2187 of the noise.
            const BACK: Factor<i16> = Factor::new(1 << 16);
            for sum in sum.iter_mut() {
                multiply(S::load(sum), BACK.splat()).store(sum);
            }
            ring::add::<S>(sum, &polynomial);
            ring::make_canonical::<S>(sum);
            bytes::encode::<V, S>(sum, to);
        }

        hashes.want_h(self.public);
        sponge::run::<V, _>(&mut hashes);
        let (_, rest) = self.private.split_at_mut(set.vector_bytes());
        let (public, rest) = rest.split_at_mut(set.encapsulation_key_bytes());
        public.copy_from_slice(self.public);
        rest[..BYTES].copy_from_slice(&hashes.h);
        rest[BYTES..].copy_from_slice(self.z);
        if let Some(expanded) = self.expanded {
            expanded.hash = hashes.h;
            let (matrix, to) = expanded.polynomials.split_at_mut(rank * rank);
            for (at, entry) in matrix.iter_mut().enumerate() {
                *entry = hashes.matrix[rank * (at % rank) + at / rank];
            }
            to.copy_from_slice(&vector[..rank]);
        }
    }
}

struct Encapsulate<'a> {
    set: Set,
    key: &'a [u8],
    message: &'a [u8; BYTES],
    ciphertext: &'a mut [u8],
    secret: &'a mut [u8],
}

impl ShortKernel for Encapsulate<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Result<(), Error> {
        let set = self.set;
        let mut vector = [ZERO; MOST];
        let rho = read::<S>(set, self.key, &mut vector)?;
        let (seed, hash) = (OnceCell::new(), OnceCell::new());
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_h(self.key);
        hashes.want_matrix(&rho, true);
        sponge::run::<V, _>(&mut hashes);
        let hash = hash.get_or_init(|| hashes.h);
        hashes.want_g(self.message, hash);
        hashes.want_noise(2 * set.rank() + 1);
        sponge::run::<V, _>(&mut hashes);
        self.secret.copy_from_slice(&hashes.g[..BYTES]);
        let public = (&hashes.matrix[..], &vector[..]);
        encrypt::<V, S>(set, public, &hashes, self.message, self.ciphertext);
        Ok(())
    }
}

/// The numbers of a public key, and ρ.
#[inline(always)]
fn read<S: Shorts>(set: Set, key: &[u8], vector: &mut [Polynomial]) -> Result<[u8; BYTES], Error> {
    let (rows, rho) = key.split_at(set.vector_bytes());
    if !decode_all::<S>(rows, vector) {
        return Err(Error::InvalidEncapsulationKey);
    }
    Ok(first_half(rho))
}

struct Expand<'a> {
    /// Of the set's length.
    key: &'a [u8],
    to: &'a mut Expanded,
}

impl ShortKernel for Expand<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Result<(), Error> {
        let set = self.to.set;
        let mut vector = [ZERO; MOST];
        let rho = read::<S>(set, self.key, &mut vector)?;
        let seed = OnceCell::new();
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_h(self.key);
        hashes.want_matrix(&rho, true);
        sponge::run::<V, _>(&mut hashes);
        let rank = set.rank();
        let (matrix, to) = self.to.polynomials.split_at_mut(rank * rank);
        matrix.copy_from_slice(&hashes.matrix[..rank * rank]);
        to.copy_from_slice(&vector[..rank]);
        self.to.hash = hashes.h;
        Ok(())
    }
}

struct EncapsulateExpanded<'a> {
    key: &'a Expanded,
    message: &'a [u8; BYTES],
    ciphertext: &'a mut [u8],
    secret: &'a mut [u8],
}

impl ShortKernel for EncapsulateExpanded<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) {
        let set = self.key.set;
        let seed = OnceCell::new();
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_g(self.message, &self.key.hash);
        hashes.want_noise(2 * set.rank() + 1);
        sponge::run::<V, _>(&mut hashes);
        self.secret.copy_from_slice(&hashes.g[..BYTES]);
        let public = self.key.matrix_and_vector();
        encrypt::<V, S>(set, public, &hashes, self.message, self.ciphertext);
    }
}

struct Decapsulate<'a> {
    set: Set,
    key: &'a [u8],
    ciphertext: &'a [u8],
    /// The public half, if it was expanded before.
    expanded: Option<&'a Expanded>,
    secret: &'a mut [u8],
}

impl ShortKernel for Decapsulate<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Result<(), Error> {
        let set = self.set;
        let (private, rest) = self.key.split_at(set.vector_bytes());
        let (public, rest) = rest.split_at(set.encapsulation_key_bytes());
        let (hash, z) = rest.split_at(BYTES);
        let mut message = [0; BYTES];
        decrypt::<V, S>(set, private, self.ciphertext, &mut message);

        let (rows, rho) = public.split_at(set.vector_bytes());
        let rho = first_half(rho);
        let seed = OnceCell::new();
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_g(&message, hash);
        hashes.want_j(z, self.ciphertext);
        hashes.want_noise(2 * set.rank() + 1);
        if self.expanded.is_none() {
            hashes.want_h(public);
            hashes.want_matrix(&rho, true);
        }
        sponge::run::<V, _>(&mut hashes);

        // Whether this differs, the error tells the caller.
        let right = self.expanded.map_or(&hashes.h, |expanded| &expanded.hash);
        if told(difference(right, hash)) != 0 {
            return Err(Error::InvalidDecapsulationKey);
        }
        let mut vector = [ZERO; MOST];
        let public = match self.expanded {
            Some(expanded) => expanded.matrix_and_vector(),
            None => {
                // What is not below q is the same number modulo q.
                decode_all::<S>(rows, &mut vector);
                (&hashes.matrix[..], &vector[..])
            }
        };
        let mut again = [0; Set::MlKem1024.ciphertext_bytes()];
        let again = &mut again[..set.ciphertext_bytes()];
        encrypt::<V, S>(set, public, &hashes, &message, again);
        let rejected = difference(again, self.ciphertext);
        // All ones where they differ.
        let rejected = (opaque(rejected | rejected.wrapping_neg()) >> 63).wrapping_neg() as u8;
        let accepted = &hashes.g[..BYTES];
        for (to, (k, j)) in self.secret.iter_mut().zip(accepted.iter().zip(&hashes.j)) {
            *to = k ^ (k ^ j) & rejected;
        }
        Ok(())
    }
}

/// 0 if both are equal.
#[inline(always)]
fn difference(a: &[u8], b: &[u8]) -> u64 {
    let different = a.iter().zip(b).fold(0, |any, (a, b)| any | a ^ b);
    opaque(u64::from(different))
}

fn first_half(bytes: &[u8]) -> [u8; BYTES] {
    core::array::from_fn(|i| bytes[i])
}

/// Decodes a vector of polynomials. Whether all coefficients are below q.
#[inline(always)]
fn decode_all<S: Shorts>(bytes: &[u8], to: &mut [Polynomial]) -> bool {
    let mut all = true;
    for (bytes, to) in bytes.chunks_exact(384).zip(to) {
        all &= bytes::decode::<S>(bytes, to);
    }
    all
}

/// K-PKE.Encrypt, of noise, the transposed matrix and the public key's vector, which lie ready.
#[inline(always)]
fn encrypt<V: Vector, S: Shorts>(
    set: Set,
    (matrix, public): (&[Polynomial], &[Polynomial]),
    hashes: &Hashes<'_, S>,
    message: &[u8; BYTES],
    ciphertext: &mut [u8],
) {
    let (rank, (u_bits, _)) = (set.rank(), set.bits());
    let mut y = Forms::ZERO;
    let mut polynomial = ZERO;
    for i in 0..rank {
        sample::noise::<S>(set.width(), &hashes.noise[i], &mut polynomial);
        S::call(Transform(&mut polynomial));
        y.set::<S>(i, &polynomial);
    }
    let (u, v) = ciphertext.split_at_mut(32 * u_bits * rank);
    let mut sum = ZERO;
    for (i, to) in u.chunks_exact_mut(32 * u_bits).enumerate() {
        product::<S>(&matrix[rank * i..rank * (i + 1)], &y, &mut sum);
        sample::noise::<S>(2, &hashes.noise[rank + i], &mut polynomial);
        ring::add::<S>(&mut sum, &polynomial);
        ring::make_canonical::<S>(&mut sum);
        if u_bits == 10 {
            bytes::compress::<10, V, S>(&sum, to);
        } else {
            bytes::compress::<11, V, S>(&sum, to);
        }
    }
    product::<S>(&public[..rank], &y, &mut sum);
    sample::noise::<S>(2, &hashes.noise[2 * rank], &mut polynomial);
    ring::add::<S>(&mut sum, &polynomial);
    bytes::of_message::<S>(message, &mut polynomial);
    // At most 1780, 2 and 1665.
    ring::add::<S>(&mut sum, &polynomial);
    ring::make_canonical::<S>(&mut sum);
    if u_bits == 10 {
        bytes::compress::<4, V, S>(&sum, v);
    } else {
        bytes::compress::<5, V, S>(&sum, v);
    }
}

/// K-PKE.Decrypt.
#[inline(always)]
fn decrypt<V: Vector, S: Shorts>(
    set: Set,
    private: &[u8],
    ciphertext: &[u8],
    message: &mut [u8; BYTES],
) {
    let (rank, (u_bits, _)) = (set.rank(), set.bits());
    let (u, v) = ciphertext.split_at(32 * u_bits * rank);
    let mut forms = Forms::ZERO;
    let mut polynomial = ZERO;
    for (i, from) in u.chunks_exact(32 * u_bits).enumerate() {
        if u_bits == 10 {
            bytes::decompress::<10, S>(from, &mut polynomial);
        } else {
            bytes::decompress::<11, S>(from, &mut polynomial);
        }
        S::call(Transform(&mut polynomial));
        forms.set::<S>(i, &polynomial);
    }
    let mut secret = [ZERO; MOST];
    // What is not below q is the same number modulo q.
    decode_all::<S>(private, &mut secret);
    let mut sum = ZERO;
    product::<S>(&secret[..rank], &forms, &mut sum);
    if u_bits == 10 {
        bytes::decompress::<4, S>(v, &mut polynomial);
    } else {
        bytes::decompress::<5, S>(v, &mut polynomial);
    }
    // At most 3328 and 1780.
    ring::subtract_from::<S>(&mut sum, &polynomial);
    ring::make_canonical::<S>(&mut sum);
    bytes::to_message::<S>(&sum, message);
}

/// The sum of products, out of the transform's domain: within ±1780.
#[inline(always)]
fn product<S: Shorts>(a: &[Polynomial], b: &Forms, sum: &mut Polynomial) {
    S::call(Dot {
        a,
        b,
        sum: &mut *sum,
    });
    S::call(Inverse(sum));
}
