package org.outboard.provider;

import java.security.Key;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SignatureException;
import java.security.interfaces.RSAKey;
import java.security.interfaces.RSAPublicKey;

/** RSASSA-PKCS1-v1_5. */
final class RsaSignature extends ServedSignature {
    /** The longest public exponent that the native half takes, in bits. */
    private static final int LONGEST_EXPONENT = 33;

    private final Digest digest;
    private final MessageDigest message;

    RsaSignature(String algorithm, Digest digest) {
        super(algorithm);
        this.digest = digest;
        message = digest.start();
    }

    @Override
    NativeKey privateKey(PrivateKey key) {
        return NativeKey.rsa(key);
    }

    @Override
    Operation operation(Key key, boolean signs) {
        return operationWith(key, signs);
    }

    @Override
    boolean takes(PublicKey key) {
        return isServed(key);
    }

    /** What is done with an RSA key; null with another one. */
    static Operation operationWith(Key key, boolean signs) {
        if (!(key instanceof RSAKey)) {
            return null;
        }
        RSAKey rsa = (RSAKey) key;
        return signs ? Operation.signing(rsa) : Operation.verifying(rsa);
    }

    /** Whether signatures of a key are verified here. */
    static boolean isServed(PublicKey key) {
        if (!(key instanceof RSAPublicKey) || !"RSA".equals(key.getAlgorithm())) {
            return false;
        }
        RSAPublicKey rsa = (RSAPublicKey) key;
        int bits = rsa.getPublicExponent().bitLength();
        return NativeKey.isServed(rsa) && rsa.getModulus().testBit(0)
            && rsa.getPublicExponent().testBit(0) && 1 < bits && bits <= LONGEST_EXPONENT;
    }

    @Override
    void add(byte[] bytes, int offset, int length) {
        message.update(bytes, offset, length);
    }

    @Override
    byte[] end() {
        return message.digest();
    }

    @Override
    byte[] sign(NativeKey key, byte[] value) {
        return key.sign(digest.ordinal(), Native.NONE, 0, value);
    }

    @Override
    boolean verify(PublicKey key, byte[] value, byte[] signature) throws SignatureException {
        return verify((RSAPublicKey) key, digest, Native.NONE, 0, value, signature);
    }

    /** As {@link Native#verifyRsa}, where the signature is as long as the modulus. */
    static boolean verify(RSAPublicKey key, Digest digest, int mask, int salt, byte[] value, byte[] signature)
            throws SignatureException {
        int length = (key.getModulus().bitLength() + 7) / 8;
        if (signature.length != length) {
            throw new SignatureException("Bad signature length: got " + signature.length + " but was expecting " + length);
        }
        byte[] n = key.getModulus().toByteArray();
        byte[] e = key.getPublicExponent().toByteArray();
        return Native.verifyRsa(n, e, digest.ordinal(), mask, salt, value, signature);
    }
}
