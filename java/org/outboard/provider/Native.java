package org.outboard.provider;

/**
 * The native half, {@code crates/java/src/abi.rs}. A key is an address there, which {@link NativeKey} alone gives. Groups and
 * digests are the ordinals of {@link Group} and {@link Digest}.
 *
 * What fails throws a {@link java.security.ProviderException}.
 */
final class Native {
    /** As a digest: the value is the message. As a mask's digest: the padding is that of PKCS #1 v1.5. */
    static final int NONE = -1;

    private Native() {
    }

    /** Opens the ledger and the cards of this process; the version of the native half. */
    static native String open(String settings);

    /** The key of a PKCS #8 encoding; 0 where it is not served. */
    static native long read(byte[] info);

    /** The X25519 key of a scalar; 0 where it is none. */
    static native long x25519(byte[] scalar);

    /** The key of the card service that a reference names. */
    static native long service(byte[] reference);

    /** Makes a key, whose address goes into {@code key}, and answers its public half. */
    static native byte[] generate(int group, long[] key);

    /** The same of ML-KEM, where {@code set} is the ordinal of a {@link KemSet}. */
    static native byte[] kemGenerate(int set, long[] key);

    /** A half of a key of ML-KEM, or a private one's seed; 0 where it is not whole. */
    static native long kemRead(int set, boolean isPrivate, byte[] bytes);

    /** A new secret for a public half, and behind it the ciphertext. */
    static native byte[] encapsulate(long key);

    /** The secret of a ciphertext; null where that has another length. */
    static native byte[] decapsulate(long key, byte[] ciphertext);

    /** Frees a key, and wipes it. */
    static native void free(long key);

    /** The private number, most significant byte first, the scalar, or ML-KEM's private half. */
    static native byte[] secret(long key);

    /** The secret shared with a peer; null where the peer's public half is refused. */
    static native byte[] derive(long key, byte[] peer);

    /** The signature of a digest, or of Ed25519's message. */
    static native byte[] sign(long key, int digest, int mask, int salt, byte[] value);

    /** Whether that is a point of the group, not compressed. */
    static native boolean isPoint(int group, byte[] point);

    /** Judges an RSA signature. */
    static native boolean verifyRsa(byte[] n, byte[] e, int digest, int mask, int salt, byte[] value, byte[] signature);

    /** Judges an ECDSA signature. */
    static native boolean verifyEc(int group, byte[] point, byte[] value, byte[] signature);

    /** Judges an Ed25519 signature. */
    static native boolean verifyEd(byte[] key, byte[] message, byte[] signature);

    /** Of each key of the card service: its name, its reference, its public half, its certificates one after the other. */
    static native byte[][] keys();
}
