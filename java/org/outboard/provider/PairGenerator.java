package org.outboard.provider;

import java.math.BigInteger;
import java.security.InvalidAlgorithmParameterException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyPairGeneratorSpi;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPublicKeySpec;

/**
 * Makes keys. The native half draws the random numbers, whatever source a program names. Keys of RSA and Ed25519 are the other
 * provider's.
 */
final class PairGenerator extends KeyPairGeneratorSpi {
    private final String algorithm;
    /** The group that keys are made on; null where the other one makes them. */
    private Group group;
    private KeyPairGenerator stock;

    /** For keys on that group unless another one is named; null where Java says which. */
    PairGenerator(String algorithm, Group group) {
        this.algorithm = algorithm;
        this.group = group != null && isServed(group) ? group : null;
    }

    @Override
    public void initialize(int bits, SecureRandom random) {
        Group wanted = ofSize(bits);
        if (wanted == null) {
            KeyPairGenerator other = Stock.generator(algorithm);
            other.initialize(bits, random);
            stock = other;
        }
        group = wanted;
    }

    private Group ofSize(int bits) {
        for (Group group : Group.values()) {
            if (bits == group.bits && isServed(group)) {
                return group;
            }
        }
        return null;
    }

    @Override
    public void initialize(AlgorithmParameterSpec parameters, SecureRandom random) throws InvalidAlgorithmParameterException {
        Group wanted = Group.of(parameters);
        if (wanted == null || !isServed(wanted)) {
            wanted = null;
            KeyPairGenerator other = Stock.generator(algorithm);
            other.initialize(parameters, random);
            stock = other;
        }
        group = wanted;
    }

    private boolean isServed(Group group) {
        boolean isOwn = group == Group.X25519 ? algorithm.startsWith("X") : algorithm.equals("EC");
        return isOwn && group.generation.isServed();
    }

    @Override
    public KeyPair generateKeyPair() {
        if (group == null) {
            if (stock == null) {
                stock = Stock.generator(algorithm);
            }
            return stock.generateKeyPair();
        }
        long[] address = new long[1];
        byte[] half = Native.generate(group.ordinal(), address);
        return new KeyPair(publicKey(half), GeneratedKey.of(NativeKey.at(address[0]), group));
    }

    private PublicKey publicKey(byte[] half) {
        if (group == Group.X25519) {
            BigInteger coordinate = new BigInteger(1, Numbers.reverse(half));
            return Stock.publicKey("XDH", new XECPublicKeySpec(NamedParameterSpec.X25519, coordinate));
        }
        return Stock.publicKey("EC", new ECPublicKeySpec(group.point(half), group.curve()));
    }
}
