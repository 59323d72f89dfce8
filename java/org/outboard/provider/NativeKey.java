package org.outboard.provider;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.security.Key;
import java.security.PrivateKey;
import java.security.interfaces.ECKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.EdECPrivateKey;
import java.security.interfaces.RSAKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.interfaces.XECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

/**
 * A private key in the native half. It is wiped there when nothing in Java has it any more.
 *
 * A key object of another provider is converted when it is first used. What came of that is kept as long as the object lives.
 */
final class NativeKey {
    /** What a key object comes to that the native half refuses. */
    private static final NativeKey REFUSED = new NativeKey(0);
    private static final Cleaner CLEANER = Cleaner.create();
    private static final ConcurrentHashMap<Identity, NativeKey> CONVERTED = new ConcurrentHashMap<>();
    /** RSA keys of that many bits are served. */
    private static final int SHORTEST = 2048;
    private static final int LONGEST = 4096;

    private final long address;

    private NativeKey(long address) {
        this.address = address;
        if (address != 0) {
            CLEANER.register(this, () -> Native.free(address));
        }
    }

    /** The key at an address that the native half has just given. */
    static NativeKey at(long address) {
        return new NativeKey(address);
    }

    /** An RSA key; null where it is another, or not served. */
    static NativeKey rsa(Key key) {
        if (!(key instanceof RSAKey) || !isServed((RSAKey) key)) {
            return null;
        }
        return key instanceof RSAPrivateCrtKey ? encoded((PrivateKey) key) : held(key);
    }

    /** Whether RSA keys of that size and without restrictions are served. */
    static boolean isServed(RSAKey key) {
        int bits = key.getModulus().bitLength();
        return SHORTEST <= bits && bits <= LONGEST && key.getParams() == null;
    }

    /** A key on a curve of NIST's; null where it is another, or not served. */
    static NativeKey ec(Key key) {
        if (!(key instanceof ECKey) || Group.of(((ECKey) key).getParams()) == null) {
            return null;
        }
        NativeKey held = held(key);
        return held == null && key instanceof ECPrivateKey ? encoded((PrivateKey) key) : held;
    }

    /** An Ed25519 key; null where it is another, or not served. */
    static NativeKey ed25519(Key key) {
        if (key instanceof EdECPrivateKey) {
            String name = ((EdECPrivateKey) key).getParams().getName();
            return name.equals(NamedParameterSpec.ED25519.getName()) ? encoded((PrivateKey) key) : null;
        }
        return key instanceof ServiceKey.Ed25519 ? held(key) : null;
    }

    /** An X25519 key; null where it is another, or not served. */
    static NativeKey x25519(Key key) {
        if (!(key instanceof XECPrivateKey)) {
            return null;
        }
        NativeKey held = held(key);
        if (held != null) {
            return held;
        }
        XECPrivateKey other = (XECPrivateKey) key;
        if (Group.of(other.getParams()) != Group.X25519) {
            return null;
        }
        byte[] scalar = other.isDestroyed() ? null : other.getScalar().orElse(null);
        return scalar == null ? null : converted(key, scalar, Native::x25519);
    }

    private static NativeKey held(Key key) {
        return key instanceof HeldKey ? ((HeldKey) key).nativeKey : null;
    }

    /** The key of an object that gives its PKCS #8 encoding. */
    private static NativeKey encoded(PrivateKey key) {
        NativeKey known = key.isDestroyed() ? null : CONVERTED.get(new Identity(key));
        if (known != null) {
            return known.orNull();
        }
        byte[] encoded = !key.isDestroyed() && "PKCS#8".equals(key.getFormat()) ? key.getEncoded() : null;
        return encoded == null ? null : converted(key, encoded, Native::read);
    }

    /** The key of an object, made of that secret the first time, and kept. */
    private static NativeKey converted(Key key, byte[] secret, ToLongFunction<byte[]> make) {
        try {
            Identity identity = new Identity(key);
            NativeKey known = CONVERTED.get(identity);
            if (known == null) {
                long address = make.applyAsLong(secret);
                NativeKey made = address == 0 ? REFUSED : new NativeKey(address);
                known = CONVERTED.putIfAbsent(identity, made);
                if (known == null) {
                    known = made;
                    CLEANER.register(key, () -> CONVERTED.remove(identity));
                }
            }
            return known.orNull();
        } finally {
            Arrays.fill(secret, (byte) 0);
        }
    }

    private NativeKey orNull() {
        return this == REFUSED ? null : this;
    }

    /** As {@link Native#sign}. */
    byte[] sign(int digest, int mask, int salt, byte[] value) {
        try {
            return Native.sign(address, digest, mask, salt, value);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** As {@link Native#derive}. */
    byte[] derive(byte[] peer) {
        try {
            return Native.derive(address, peer);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** As {@link Native#encapsulate}. */
    byte[] encapsulate() {
        try {
            return Native.encapsulate(address);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** As {@link Native#decapsulate}. */
    byte[] decapsulate(byte[] ciphertext) {
        try {
            return Native.decapsulate(address, ciphertext);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** As {@link Native#secret}. */
    byte[] secret() {
        try {
            return Native.secret(address);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** An object as a key of a map: by what it is, not by what it equals; it is not held. */
    private static final class Identity extends WeakReference<Key> {
        private final int hash;

        Identity(Key key) {
            super(key);
            hash = System.identityHashCode(key);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            if (this == other) {
                return true;
            }
            Key key = get();
            return key != null && other instanceof Identity && ((Identity) other).get() == key;
        }
    }
}
