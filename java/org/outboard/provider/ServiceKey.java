package org.outboard.provider;

import java.io.NotSerializableException;
import java.math.BigInteger;
import java.security.PublicKey;
import java.security.interfaces.ECKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECParameterSpec;

/** A key of the card service: it has no encoding, for its numbers are not in this process. */
abstract class ServiceKey extends HeldKey {
    private static final long serialVersionUID = 1;

    private final String algorithm;

    private ServiceKey(NativeKey nativeKey, String algorithm) {
        super(nativeKey);
        this.algorithm = algorithm;
    }

    /** The private key that a reference names; its public half is that one. */
    static ServiceKey of(byte[] reference, PublicKey half) {
        NativeKey nativeKey = NativeKey.at(Native.service(reference));
        if (half instanceof RSAPublicKey) {
            return new Rsa(nativeKey, ((RSAPublicKey) half).getModulus());
        }
        if (half instanceof ECPublicKey) {
            return new Ec(nativeKey, ((ECPublicKey) half).getParams());
        }
        return new Ed25519(nativeKey);
    }

    @Override
    public String getAlgorithm() {
        return algorithm;
    }

    @Override
    public String getFormat() {
        return null;
    }

    @Override
    public byte[] getEncoded() {
        return null;
    }

    final Object writeReplace() throws NotSerializableException {
        throw new NotSerializableException("a key of the card service: name it, and take it from the key store");
    }

    private static final class Rsa extends ServiceKey implements RSAKey {
        private static final long serialVersionUID = 1;

        private final BigInteger modulus;

        Rsa(NativeKey nativeKey, BigInteger modulus) {
            super(nativeKey, "RSA");
            this.modulus = modulus;
        }

        @Override
        public BigInteger getModulus() {
            return modulus;
        }

        /** Any padding. (Java 22 inherits two answers, and demands one.) */
        @Override
        public AlgorithmParameterSpec getParams() {
            return null;
        }
    }

    private static final class Ec extends ServiceKey implements ECKey {
        private static final long serialVersionUID = 1;

        private final transient ECParameterSpec curve;

        Ec(NativeKey nativeKey, ECParameterSpec curve) {
            super(nativeKey, "EC");
            this.curve = curve;
        }

        @Override
        public ECParameterSpec getParams() {
            return curve;
        }
    }

    /** A key that signs by Ed25519. */
    static final class Ed25519 extends ServiceKey {
        private static final long serialVersionUID = 1;

        Ed25519(NativeKey nativeKey) {
            super(nativeKey, "EdDSA");
        }
    }
}
