package org.outboard.provider;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.XECPrivateKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPrivateKeySpec;
import java.security.spec.KeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPrivateKeySpec;
import java.util.Arrays;
import java.util.Optional;

/**
 * A private key that Outboard made. Its numbers come to Java only when a program asks for them; then Java's own key object of the
 * same numbers answers.
 */
abstract class GeneratedKey extends HeldKey {
    private static final long serialVersionUID = 1;

    private final String algorithm;

    private GeneratedKey(NativeKey nativeKey, String algorithm) {
        super(nativeKey);
        this.algorithm = algorithm;
    }

    static PrivateKey of(NativeKey nativeKey, Group group) {
        return group == Group.X25519 ? new Xec(nativeKey) : new Ec(nativeKey, group);
    }

    abstract KeySpec numbers();

    private PrivateKey stock() {
        try {
            return Stock.factory(algorithm).generatePrivate(numbers());
        } catch (GeneralSecurityException impossible) {
            throw new ProviderException(impossible);
        }
    }

    @Override
    public String getAlgorithm() {
        return algorithm;
    }

    @Override
    public String getFormat() {
        return "PKCS#8";
    }

    @Override
    public byte[] getEncoded() {
        return stock().getEncoded();
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof PrivateKey && stock().equals(unwrapped(other));
    }

    private static Object unwrapped(Object key) {
        return key instanceof GeneratedKey ? ((GeneratedKey) key).stock() : key;
    }

    @Override
    public int hashCode() {
        return stock().hashCode();
    }

    /** What is written is Java's own object: whoever reads it needs no Outboard. */
    final Object writeReplace() {
        return stock();
    }

    private static final class Ec extends GeneratedKey implements ECPrivateKey {
        private static final long serialVersionUID = 1;

        private final transient Group group;

        Ec(NativeKey nativeKey, Group group) {
            super(nativeKey, "EC");
            this.group = group;
        }

        @Override
        KeySpec numbers() {
            return new ECPrivateKeySpec(getS(), getParams());
        }

        @Override
        public BigInteger getS() {
            byte[] number = nativeKey.secret();
            try {
                return new BigInteger(1, number);
            } finally {
                Arrays.fill(number, (byte) 0);
            }
        }

        @Override
        public ECParameterSpec getParams() {
            return group.curve();
        }
    }

    private static final class Xec extends GeneratedKey implements XECPrivateKey {
        private static final long serialVersionUID = 1;

        Xec(NativeKey nativeKey) {
            super(nativeKey, "XDH");
        }

        @Override
        KeySpec numbers() {
            return new XECPrivateKeySpec(NamedParameterSpec.X25519, nativeKey.secret());
        }

        @Override
        public Optional<byte[]> getScalar() {
            return Optional.of(nativeKey.secret());
        }

        @Override
        public AlgorithmParameterSpec getParams() {
            return NamedParameterSpec.X25519;
        }
    }
}
