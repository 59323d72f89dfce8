//! Keys: made, read, written, asked.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};

use zeroize::Zeroizing;

use crate::provider::provider_name;
use crate::sys::{self, EVP_PKEY, OSSL_PARAM};
use crate::{Context, Error, Functions, OperationContext, Params, Result};

/// A key or its public half (EVP_PKEY(3)). One key may be used by several threads at once.
#[derive(Debug)]
pub struct Key {
    context: Context,
    raw: *mut EVP_PKEY,
}

// SAFETY: OpenSSL counts references atomically and locks what it caches in a key.
unsafe impl Send for Key {}
// SAFETY: as above; nothing here changes a key behind a shared reference.
unsafe impl Sync for Key {}

/// Which parts of a key are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The parameters alone, such as the curve.
    Parameters,
    /// The public half.
    Public,
    /// Both halves.
    Pair,
}

/// How a key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// PKCS #8 `PrivateKeyInfo`: both halves.
    Pkcs8,
    /// X.509 `SubjectPublicKeyInfo`: the public half.
    PublicKeyInfo,
    /// The type's own form: PKCS #1 `RSAPrivateKey`, SEC 1 `ECPrivateKey`.
    TypeSpecific,
}

impl Key {
    /// Makes a key: `generate(&context, "EC", &Params::new().text(c"group", "P-384"))`.
    pub fn generate(context: &Context, kind: &str, params: &Params) -> Result<Self> {
        let mut operation = OperationContext::with_type(context, kind)?;
        operation.prepare_generation(params)?;
        operation.generate()
    }

    /// A key of its numbers (EVP_PKEY-RSA(7) and its siblings name them).
    pub fn from_params(
        context: &Context,
        kind: &str,
        selection: Selection,
        params: &mut Params,
    ) -> Result<Self> {
        let operation = OperationContext::with_type(context, kind)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: live objects and an ended array.
        let status = unsafe {
            let status = (context.functions().EVP_PKEY_fromdata_init)(operation.as_ptr());
            if status > 0 {
                (context.functions().EVP_PKEY_fromdata)(
                    operation.as_ptr(),
                    &mut raw,
                    selection.code(),
                    params.as_mut_ptr(),
                )
            } else {
                status
            }
        };
        context
            .library()
            .check("cannot make a key of these numbers", status)?;
        // SAFETY: a new key that we own.
        Ok(unsafe { Self::from_raw(context, raw) })
    }

    /// Reads a private key from PEM, as servers do. Never asks at a terminal: an encrypted key
    /// without a passphrase is an error.
    pub fn from_pem(context: &Context, pem: &[u8], passphrase: Option<&[u8]>) -> Result<Self> {
        let read = context.functions().PEM_read_bio_PrivateKey_ex;
        Self::read_pem(
            context,
            pem,
            passphrase,
            read,
            "cannot read the private key",
        )
    }

    /// Reads a public key from PEM.
    pub fn public_from_pem(context: &Context, pem: &[u8]) -> Result<Self> {
        let read = context.functions().PEM_read_bio_PUBKEY_ex;
        Self::read_pem(context, pem, None, read, "cannot read the public key")
    }

    /// Reads a private key from DER: PKCS #8 or the type's own form.
    pub fn from_der(context: &Context, der: &[u8]) -> Result<Self> {
        let read = context.functions().d2i_AutoPrivateKey_ex;
        Self::read_der(context, der, read, "cannot read the private key")
    }

    /// Reads a public key from DER: `SubjectPublicKeyInfo`.
    pub fn public_from_der(context: &Context, der: &[u8]) -> Result<Self> {
        let read = context.functions().d2i_PUBKEY_ex;
        Self::read_der(context, der, read, "cannot read the public key")
    }

    /// Takes a key that OpenSSL made.
    ///
    /// # Safety
    /// `raw` is a live key of the context's library, and the caller's reference passes on to us.
    pub unsafe fn from_raw(context: &Context, raw: *mut EVP_PKEY) -> Self {
        Self {
            context: context.clone(),
            raw,
        }
    }

    /// Writes the key as PEM.
    pub fn to_pem(&self, structure: Structure) -> Result<Zeroizing<Vec<u8>>> {
        self.write(c"PEM", structure)
    }

    /// Writes the key as DER.
    pub fn to_der(&self, structure: Structure) -> Result<Zeroizing<Vec<u8>>> {
        self.write(c"DER", structure)
    }

    /// The same key in another context, through its DER form.
    pub fn in_context(&self, context: &Context) -> Result<Self> {
        match self.to_der(Structure::Pkcs8) {
            Ok(der) => Self::from_der(context, &der),
            Err(_) => Self::public_from_der(context, &self.to_der(Structure::PublicKeyInfo)?),
        }
    }

    /// The public half, as a key of its own.
    pub fn public(&self) -> Result<Self> {
        Self::public_from_der(&self.context, &self.to_der(Structure::PublicKeyInfo)?)
    }

    /// A deep copy.
    pub fn duplicate(&self) -> Result<Self> {
        // SAFETY: a live key.
        let raw = unsafe { (self.functions().EVP_PKEY_dup)(self.raw) };
        let raw = self
            .context
            .library()
            .check_pointer("cannot duplicate the key", raw)?;
        // SAFETY: a new key that we own.
        Ok(unsafe { Self::from_raw(&self.context, raw) })
    }

    /// Whether the public halves are equal.
    pub fn equals(&self, other: &Self) -> bool {
        // SAFETY: two live keys.
        unsafe { (self.functions().EVP_PKEY_eq)(self.raw, other.raw) == 1 }
    }

    /// Whether it is of that type: `RSA`, `EC`.
    pub fn is_a(&self, kind: &CStr) -> bool {
        // SAFETY: a live key and a terminated name.
        unsafe { (self.functions().EVP_PKEY_is_a)(self.raw, kind.as_ptr()) == 1 }
    }

    /// The length of its modulus or field, in bits.
    pub fn bits(&self) -> usize {
        // SAFETY: a live key.
        unsafe { (self.functions().EVP_PKEY_get_bits)(self.raw) }
            .try_into()
            .unwrap_or(0)
    }

    /// The strength it is deemed to have, in bits.
    pub fn security_bits(&self) -> usize {
        // SAFETY: a live key.
        unsafe { (self.functions().EVP_PKEY_get_security_bits)(self.raw) }
            .try_into()
            .unwrap_or(0)
    }

    /// The most bytes that an operation with it puts out.
    pub fn size(&self) -> usize {
        // SAFETY: a live key.
        unsafe { (self.functions().EVP_PKEY_get_size)(self.raw) }
            .try_into()
            .unwrap_or(0)
    }

    /// The provider that holds the key. Another may serve its operations:
    /// [`OperationContext::provider_name`].
    pub fn provider_name(&self) -> Option<String> {
        // SAFETY: a live key, whose provider lives as long.
        unsafe {
            let provider = (self.functions().EVP_PKEY_get0_provider)(self.raw);
            provider_name(&self.context, provider)
        }
    }

    /// Checks the key thoroughly: both halves and that they belong together.
    pub fn check(&self) -> Result<()> {
        let operation = OperationContext::with_key(self)?;
        // SAFETY: a live context.
        let status = unsafe { (self.functions().EVP_PKEY_check)(operation.as_ptr()) };
        operation.check("the key is not valid", status)
    }

    /// Checks the public half.
    pub fn public_check(&self) -> Result<()> {
        let operation = OperationContext::with_key(self)?;
        // SAFETY: a live context.
        let status = unsafe { (self.functions().EVP_PKEY_public_check)(operation.as_ptr()) };
        operation.check("the public key is not valid", status)
    }

    /// A number of the key, big-endian and without leading zeros.
    pub fn number(&self, name: &'static CStr) -> Result<Zeroizing<Vec<u8>>> {
        let mut value = self.param(name, sys::OSSL_PARAM_UNSIGNED_INTEGER)?;
        if cfg!(target_endian = "little") {
            value.reverse();
        }
        let zeros = value.iter().take_while(|byte| **byte == 0).count();
        value.drain(..zeros);
        Ok(value)
    }

    /// Bytes of the key, such as `pub` or `encoded-pub-key`.
    pub fn bytes(&self, name: &'static CStr) -> Result<Zeroizing<Vec<u8>>> {
        self.param(name, sys::OSSL_PARAM_OCTET_STRING)
    }

    /// A text of the key, such as `group`.
    pub fn text(&self, name: &'static CStr) -> Result<String> {
        let value = self.param(name, sys::OSSL_PARAM_UTF8_STRING)?;
        let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// The context that it belongs to.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// OpenSSL's pointer; it lives as long as `self`.
    pub fn as_ptr(&self) -> *mut EVP_PKEY {
        self.raw
    }

    fn functions(&self) -> &Functions {
        self.context.functions()
    }

    fn param(&self, name: &'static CStr, kind: u32) -> Result<Zeroizing<Vec<u8>>> {
        // Room for any usual answer: some versions refuse to tell the length alone of a number that
        // they pad.
        let mut room = 1024;
        loop {
            let mut value = Zeroizing::new(vec![0; room]);
            let mut params = [
                OSSL_PARAM {
                    key: name.as_ptr(),
                    data_type: kind,
                    data: value.as_mut_ptr().cast(),
                    data_size: room,
                    return_size: sys::OSSL_PARAM_UNMODIFIED,
                },
                OSSL_PARAM::END,
            ];
            // SAFETY: a live key; an ended array whose data is as long as it says.
            let status =
                unsafe { (self.functions().EVP_PKEY_get_params)(self.raw, params.as_mut_ptr()) };
            let length = params[0].return_size;
            if status > 0 && length <= room {
                value.truncate(length);
                return Ok(value);
            }
            let needs_more = length != sys::OSSL_PARAM_UNMODIFIED && length > room;
            let error = self
                .context
                .library()
                .error("the key has no such parameter");
            if !needs_more {
                return Err(error);
            }
            room = length;
        }
    }

    fn read_pem(
        context: &Context,
        pem: &[u8],
        passphrase: Option<&[u8]>,
        read: ReadPem,
        what: &'static str,
    ) -> Result<Self> {
        let length = c_int::try_from(pem.len()).map_err(|_| Error::TooLong(pem.len()))?;
        let mut passphrase = passphrase;
        // SAFETY: the buffer outlives the BIO, which only reads it; the callback gets its
        // passphrase, which outlives the call.
        let raw = unsafe {
            let bio = (context.functions().BIO_new_mem_buf)(pem.as_ptr().cast(), length);
            let bio = context.library().check_pointer(what, bio)?;
            let raw = read(
                bio,
                std::ptr::null_mut(),
                Some(give_passphrase),
                (&raw mut passphrase).cast(),
                context.as_ptr(),
                std::ptr::null(),
            );
            (context.functions().BIO_free)(bio);
            raw
        };
        let raw = context.library().check_pointer(what, raw)?;
        // SAFETY: a new key that we own.
        Ok(unsafe { Self::from_raw(context, raw) })
    }

    fn read_der(context: &Context, der: &[u8], read: ReadDer, what: &'static str) -> Result<Self> {
        let length = c_long::try_from(der.len()).map_err(|_| Error::TooLong(der.len()))?;
        let mut cursor = der.as_ptr();
        // SAFETY: `cursor` points to `length` bytes that outlive the call.
        let raw = unsafe {
            read(
                std::ptr::null_mut(),
                &mut cursor,
                length,
                context.as_ptr(),
                std::ptr::null(),
            )
        };
        let raw = context.library().check_pointer(what, raw)?;
        // SAFETY: a new key that we own.
        Ok(unsafe { Self::from_raw(context, raw) })
    }

    fn write(&self, form: &CStr, structure: Structure) -> Result<Zeroizing<Vec<u8>>> {
        let (selection, name) = match structure {
            Structure::Pkcs8 => (Selection::Pair, c"PrivateKeyInfo"),
            Structure::PublicKeyInfo => (Selection::Public, c"SubjectPublicKeyInfo"),
            Structure::TypeSpecific => (Selection::Pair, c"type-specific"),
        };
        let f = self.functions();
        let mut data: *mut u8 = std::ptr::null_mut();
        let mut length = 0;
        // SAFETY: live objects and terminated names; the encoder allocates `data`.
        let status = unsafe {
            let encoder = (f.OSSL_ENCODER_CTX_new_for_pkey)(
                self.raw,
                selection.code(),
                form.as_ptr(),
                name.as_ptr(),
                std::ptr::null(),
            );
            let encoder = self
                .context
                .library()
                .check_pointer("cannot write the key", encoder)?;
            let status = (f.OSSL_ENCODER_to_data)(encoder, &mut data, &mut length);
            (f.OSSL_ENCODER_CTX_free)(encoder);
            status
        };
        self.context
            .library()
            .check("cannot write the key", status)?;
        // SAFETY: the encoder answered `length` bytes at `data`, which we now own and free once.
        Ok(unsafe {
            let copy = Zeroizing::new(std::slice::from_raw_parts(data, length).to_vec());
            (f.CRYPTO_clear_free)(data.cast(), length, c"".as_ptr(), 0);
            copy
        })
    }
}

impl Clone for Key {
    /// Another reference to the same key.
    fn clone(&self) -> Self {
        // SAFETY: a live key; it fails only when the count would overflow.
        unsafe { (self.functions().EVP_PKEY_up_ref)(self.raw) };
        Self {
            context: self.context.clone(),
            raw: self.raw,
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: we own one reference.
        unsafe { (self.functions().EVP_PKEY_free)(self.raw) }
    }
}

impl Selection {
    /// OpenSSL's bits for it.
    pub fn code(self) -> c_int {
        match self {
            Self::Parameters => sys::EVP_PKEY_KEY_PARAMETERS,
            Self::Public => sys::EVP_PKEY_PUBLIC_KEY,
            Self::Pair => sys::EVP_PKEY_KEYPAIR,
        }
    }
}

type ReadPem = unsafe extern "C" fn(
    *mut sys::BIO,
    *mut *mut EVP_PKEY,
    Option<sys::PassphraseCallback>,
    *mut c_void,
    *mut sys::OSSL_LIB_CTX,
    *const c_char,
) -> *mut EVP_PKEY;

type ReadDer = unsafe extern "C" fn(
    *mut *mut EVP_PKEY,
    *mut *const u8,
    c_long,
    *mut sys::OSSL_LIB_CTX,
    *const c_char,
) -> *mut EVP_PKEY;

/// Answers the passphrase that [`Key::read_pem`] was given; -1, an error, where there is none.
unsafe extern "C" fn give_passphrase(
    buffer: *mut c_char,
    size: c_int,
    _writing: c_int,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `read_pem` passes this.
    let Some(passphrase) = (unsafe { *data.cast::<Option<&[u8]>>() }) else {
        return -1;
    };
    let room = usize::try_from(size).unwrap_or(0);
    if passphrase.len() > room {
        return -1;
    }
    // SAFETY: OpenSSL's buffer has room for `size` bytes.
    unsafe { std::ptr::copy_nonoverlapping(passphrase.as_ptr(), buffer.cast(), passphrase.len()) };
    passphrase.len() as c_int
}

/// A name for OpenSSL.
pub(crate) fn name(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::ZeroByte)
}
