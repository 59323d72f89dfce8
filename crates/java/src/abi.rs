//! The native methods of the class `org.outboard.provider.Native`.
//!
//! Each gets the environment of its call and the class. A key is the address of a [`Key`] that Java frees once, when nothing there
//! has it any more. No panic passes: it becomes an exception, as errors do.

use jni::errors::ErrorPolicy;
use jni::objects::{JByteArray, JClass, JLongArray, JObjectArray, JString};
use jni::strings::JNIString;
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_str};
use outboard_guest::memory;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::key::{Bytes, Group, Key, Signing};
use crate::{kem, process, service, verification};

/// A native method throws a `ProviderException` instead of an answer.
struct Thrown;

impl<T: Default> ErrorPolicy<T, Error> for Thrown {
    type Captures<'local: 'method, 'method> = ();

    fn on_error<'local: 'method, 'method>(
        env: &mut Env<'local>,
        _: &mut (),
        error: Error,
    ) -> jni::errors::Result<T> {
        Ok(throw(env, &error.to_string()))
    }

    fn on_panic<'local: 'method, 'method>(
        env: &mut Env<'local>,
        _: &mut (),
        payload: Box<dyn std::any::Any + Send>,
    ) -> jni::errors::Result<T> {
        // Its destructor could panic.
        std::mem::forget(payload);
        Ok(throw(env, "Outboard failed inside; nothing was released"))
    }
}

/// Throws, unless Java did already.
fn throw<T: Default>(env: &mut Env<'_>, message: &str) -> T {
    if !env.exception_check() {
        // That an exception is there now is what an error here would say.
        let _ = env.throw_new(
            jni_str!("java/security/ProviderException"),
            JNIString::new(message),
        );
    }
    T::default()
}

fn enter<'local, T: Default>(
    mut env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T>,
) -> T {
    let answer = env.with_env(|env| match memory::is_low() {
        true => Err(outboard_engine::Error::Resource.into()),
        false => body(env),
    });
    answer.resolve::<Thrown>()
}

/// The key at an address.
///
/// # Safety
/// [`given`] gave the address, and it is not freed before the call returns.
unsafe fn key<'a>(address: jlong) -> Result<&'a Key> {
    // SAFETY: the caller's word.
    unsafe { std::ptr::with_exposed_provenance::<Key>(address as usize).as_ref() }
        .ok_or(Error::Misused)
}

/// The address of a key, which is Java's from now on.
fn given(key: Key) -> jlong {
    Box::into_raw(Box::new(key)).expose_provenance() as jlong
}

/// Puts the address of a new key into an array, and answers its public half.
fn hand_over<'local>(
    env: &mut Env<'local>,
    key: Key,
    public: &[u8],
    address: &JLongArray<'_>,
) -> Result<JByteArray<'local>> {
    let public = env.byte_array_from_slice(public)?;
    let given = given(key);
    if let Err(error) = address.set_region(env, 0, &[given]) {
        // SAFETY: just given, to nobody.
        unsafe { free(given) };
        return Err(error.into());
    }
    Ok(public)
}

/// A copy of a secret in an array.
fn secret(env: &Env<'_>, array: &JByteArray<'_>) -> Result<Bytes> {
    Ok(Zeroizing::new(env.convert_byte_array(array)?))
}

/// `open(String settings)`: opens the ledger and the cards; the version of this half.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_open<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    settings: JString<'local>,
) -> JString<'local> {
    enter(env, |env| {
        process::open(&settings.try_to_string(env)?);
        Ok(env.new_string(env!("CARGO_PKG_VERSION"))?)
    })
}

/// `read(byte[] info)`: the key of a PrivateKeyInfo; 0 where it is not taken.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_read<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    info: JByteArray<'local>,
) -> jlong {
    enter(env, |env| {
        Ok(Key::read(&secret(env, &info)?).map_or(0, given))
    })
}

/// `x25519(byte[] scalar)`: the key of a scalar; 0 where it is none.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_x25519<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    scalar: JByteArray<'local>,
) -> jlong {
    enter(env, |env| {
        Ok(Key::x25519(&secret(env, &scalar)?).map_or(0, given))
    })
}

/// `service(byte[] reference)`: the key of the card service that a reference in DER names.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_service<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    reference: JByteArray<'local>,
) -> jlong {
    enter(env, |env| {
        let reference = env.convert_byte_array(&reference)?;
        Ok(given(Key::Service(service::Key::of(&reference)?)))
    })
}

/// `generate(int group, long[] key)`: a new key, and its public half.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_generate<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    group: jint,
    address: JLongArray<'local>,
) -> JByteArray<'local> {
    enter(env, |env| {
        let (key, public) = Key::generate(Group::of(group)?)?;
        hand_over(env, key, &public, &address)
    })
}

/// `kemGenerate(int set, long[] key)`: a new key of ML-KEM, and its public half.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_kemGenerate<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    set: jint,
    address: JLongArray<'local>,
) -> JByteArray<'local> {
    enter(env, |env| {
        let (key, public) = kem::generate(set)?;
        hand_over(env, key, &public, &address)
    })
}

/// `kemRead(int set, boolean isPrivate, byte[] bytes)`: half a key of ML-KEM; 0 where it is not whole.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_kemRead<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    set: jint,
    is_private: jboolean,
    bytes: JByteArray<'local>,
) -> jlong {
    enter(env, |env| {
        let bytes = secret(env, &bytes)?;
        Ok(kem::read(set, is_private, &bytes)?.map_or(0, given))
    })
}

/// `encapsulate(long key)`: the secret, and behind it the ciphertext.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_encapsulate<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    address: jlong,
) -> JByteArray<'local> {
    enter(env, |env| {
        // SAFETY: Java holds the key during the call.
        let both = unsafe { key(address) }?.encapsulate()?;
        Ok(env.byte_array_from_slice(&both)?)
    })
}

/// `decapsulate(long key, byte[] ciphertext)`: the secret; null where the ciphertext has another length.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_decapsulate<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    address: jlong,
    ciphertext: JByteArray<'local>,
) -> JByteArray<'local> {
    enter(env, |env| {
        let ciphertext = env.convert_byte_array(&ciphertext)?;
        // SAFETY: Java holds the key during the call.
        Ok(match unsafe { key(address) }?.decapsulate(&ciphertext)? {
            Some(secret) => env.byte_array_from_slice(&secret)?,
            None => JByteArray::default(),
        })
    })
}

/// `free(long key)`
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_free<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    address: jlong,
) {
    enter(env, |_| {
        // SAFETY: Java frees each address once, when nothing there has it any more.
        unsafe { free(address) };
        Ok(())
    });
}

/// Frees a key.
///
/// # Safety
/// [`given`] gave the address, and nobody uses it from now on.
unsafe fn free(address: jlong) {
    let key = std::ptr::with_exposed_provenance_mut::<Key>(address as usize);
    // SAFETY: the caller's word.
    drop(unsafe { Box::from_raw(key) });
}

/// `secret(long key)`: a private number, or a scalar.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_secret<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    address: jlong,
) -> JByteArray<'local> {
    enter(env, |env| {
        // SAFETY: Java holds the key during the call.
        let secret = unsafe { key(address) }?.secret()?;
        Ok(env.byte_array_from_slice(&secret)?)
    })
}

/// `derive(long key, byte[] peer)`: the shared secret; null where the peer's public half is refused.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_derive<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    address: jlong,
    peer: JByteArray<'local>,
) -> JByteArray<'local> {
    enter(env, |env| {
        let peer = env.convert_byte_array(&peer)?;
        // SAFETY: Java holds the key during the call.
        Ok(match unsafe { key(address) }?.derive(&peer)? {
            Some(secret) => env.byte_array_from_slice(&secret)?,
            None => JByteArray::default(),
        })
    })
}

/// `sign(long key, int digest, int mask, int salt, byte[] value)`
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_sign<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    address: jlong,
    digest: jint,
    mask: jint,
    salt: jint,
    value: JByteArray<'local>,
) -> JByteArray<'local> {
    enter(env, |env| {
        let value = env.convert_byte_array(&value)?;
        let signing = Signing::of(digest, mask, salt)?;
        // SAFETY: Java holds the key during the call.
        let signature = unsafe { key(address) }?.sign(&signing, &value)?;
        Ok(env.byte_array_from_slice(&signature)?)
    })
}

/// `isPoint(int group, byte[] point)`
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_isPoint<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    group: jint,
    point: JByteArray<'local>,
) -> jboolean {
    enter(env, |env| match Group::of(group)? {
        Group::Nist(curve) => {
            let point = env.convert_byte_array(&point)?;
            Ok(verification::is_point(curve, &point))
        }
        Group::X25519 => Err(Error::Misused),
    })
}

/// `verifyRsa(byte[] n, byte[] e, int digest, int mask, int salt, byte[] value, byte[] signature)`
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_verifyRsa<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    n: JByteArray<'local>,
    e: JByteArray<'local>,
    digest: jint,
    mask: jint,
    salt: jint,
    value: JByteArray<'local>,
    signature: JByteArray<'local>,
) -> jboolean {
    enter(env, |env| {
        let [n, e, value, signature] =
            [&n, &e, &value, &signature].map(|array| env.convert_byte_array(array));
        let signing = Signing::of(digest, mask, salt)?;
        verification::rsa(&n?, &e?, &signing, &value?, &signature?)
    })
}

/// `verifyEc(int group, byte[] point, byte[] value, byte[] signature)`
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_verifyEc<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    group: jint,
    point: JByteArray<'local>,
    value: JByteArray<'local>,
    signature: JByteArray<'local>,
) -> jboolean {
    enter(env, |env| {
        let [point, value, signature] =
            [&point, &value, &signature].map(|array| env.convert_byte_array(array));
        match Group::of(group)? {
            Group::Nist(curve) => verification::ec(curve, &point?, &value?, &signature?),
            Group::X25519 => Err(Error::Misused),
        }
    })
}

/// `verifyEd(byte[] key, byte[] message, byte[] signature)`
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_verifyEd<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
    public: JByteArray<'local>,
    message: JByteArray<'local>,
    signature: JByteArray<'local>,
) -> jboolean {
    enter(env, |env| {
        let [public, message, signature] =
            [&public, &message, &signature].map(|array| env.convert_byte_array(array));
        let public = public?.try_into().map_err(|_| Error::Misused)?;
        Ok(verification::ed25519(&public, &message?, &signature?))
    })
}

/// `keys()`: of each key of the card service its name, its reference, its public half, and its certificates one after the other.
#[unsafe(no_mangle)]
extern "system" fn Java_org_outboard_provider_Native_keys<'local>(
    env: EnvUnowned<'local>,
    _class: JClass<'local>,
) -> JObjectArray<'local> {
    enter(env, |env| {
        let keys = service::keys()?;
        let class = env.find_class(jni_str!("[B"))?;
        let length = 4 * keys.len() as jint;
        let array = env.new_object_array(length, &class, JByteArray::default())?;
        for (at, key) in keys.iter().enumerate() {
            let reference = &key.reference;
            let encoded = reference.to_der().map_err(|_| Error::Misused)?;
            let parts = [
                reference.name.as_bytes(),
                &encoded,
                &reference.public,
                &key.certificates,
            ];
            for (part, bytes) in parts.into_iter().enumerate() {
                let bytes = env.byte_array_from_slice(bytes)?;
                array.set_element(env, 4 * at + part, &bytes)?;
                env.delete_local_ref(bytes);
            }
        }
        Ok(array)
    })
}
