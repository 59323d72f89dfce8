package org.outboard.provider;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.ProviderException;
import java.security.interfaces.ECPublicKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.NamedParameterSpec;

/** The groups that keys are on, in the order of the native half. */
enum Group {
    P256("secp256r1", 256, Operation.P256_DERIVE, Operation.P256_KEYGEN),
    P384("secp384r1", 384, Operation.P384_DERIVE, Operation.P384_KEYGEN),
    P521("secp521r1", 521, Operation.P521_DERIVE, Operation.P521_KEYGEN),
    X25519("X25519", 255, Operation.X25519_DERIVE, Operation.X25519_KEYGEN);

    final String standardName;
    final int bits;
    /** An agreement, and a new key. */
    final Operation derivation;
    final Operation generation;
    private ECParameterSpec curve;

    Group(String standardName, int bits, Operation derivation, Operation generation) {
        this.standardName = standardName;
        this.bits = bits;
        this.derivation = derivation;
        this.generation = generation;
    }

    /** The group that a program wants keys on; null where it is none of these. */
    static Group of(AlgorithmParameterSpec wanted) {
        if (wanted instanceof ECParameterSpec) {
            return of((ECParameterSpec) wanted);
        }
        if (!(wanted instanceof NamedParameterSpec)) {
            return null;
        }
        Group group = named(((NamedParameterSpec) wanted).getName());
        // Curves have a class of their own.
        return group == X25519 || wanted instanceof ECGenParameterSpec ? group : null;
    }

    /** The curve of a key; null where it is none of these. */
    static Group of(ECParameterSpec parameters) {
        if (parameters == null) {
            return null;
        }
        for (Group group : values()) {
            if (group != X25519 && group.isCurve(parameters)) {
                return group;
            }
        }
        return null;
    }

    private static Group named(String name) {
        for (Group group : values()) {
            if (group.standardName.equalsIgnoreCase(name)) {
                return group;
            }
        }
        return null;
    }

    private boolean isCurve(ECParameterSpec other) {
        ECParameterSpec own = curve();
        return other == own
            || other.getCurve().getField().getFieldSize() == bits
                && other.getCofactor() == own.getCofactor()
                && other.getOrder().equals(own.getOrder())
                && other.getGenerator().equals(own.getGenerator())
                && other.getCurve().getField().equals(own.getCurve().getField())
                && other.getCurve().getA().equals(own.getCurve().getA())
                && other.getCurve().getB().equals(own.getCurve().getB());
    }

    /** Java's own parameters of the curve. */
    synchronized ECParameterSpec curve() {
        if (curve == null) {
            try {
                AlgorithmParameters parameters = Stock.parameters("EC");
                parameters.init(new ECGenParameterSpec(standardName));
                curve = parameters.getParameterSpec(ECParameterSpec.class);
            } catch (GeneralSecurityException missing) {
                throw new ProviderException(missing);
            }
        }
        return curve;
    }

    int length() {
        return (bits + 7) / 8;
    }

    /** A public key's point, not compressed; null where its numbers have no place in the group. */
    byte[] encode(ECPublicKey key) {
        ECPoint point = key.getW();
        if (point.equals(ECPoint.POINT_INFINITY)) {
            return null;
        }
        byte[] encoded = new byte[1 + 2 * length()];
        encoded[0] = 4;
        boolean fits = Numbers.put(point.getAffineX(), encoded, 1, length())
            && Numbers.put(point.getAffineY(), encoded, 1 + length(), length());
        return fits ? encoded : null;
    }

    /** The point of an encoding that {@link Native#generate} gave. */
    ECPoint point(byte[] encoded) {
        BigInteger x = new BigInteger(1, encoded, 1, length());
        BigInteger y = new BigInteger(1, encoded, 1 + length(), length());
        return new ECPoint(x, y);
    }
}
