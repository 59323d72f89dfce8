package org.outboard.provider;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/** The parameter sets of ML-KEM (FIPS 203, 8), in the order of the native half, and how their keys are encoded (RFC 9935). */
enum KemSet {
    ML_KEM_512(800, 768), ML_KEM_768(1184, 1088), ML_KEM_1024(1568, 1568);

    static final String FAMILY = "ML-KEM";
    static final int SECRET = 32;
    private static final int SEED = 64;

    final String standardName = name().replace('_', '-');
    final int publicLength;
    final int ciphertextLength;
    final Operation generation = Operation.valueOf(name() + "_KEYGEN");
    final Operation encapsulation = Operation.valueOf(name() + "_ENCAPSULATE");
    final Operation decapsulation = Operation.valueOf(name() + "_DECAPSULATE");

    KemSet(int publicLength, int ciphertextLength) {
        this.publicLength = publicLength;
        this.ciphertextLength = ciphertextLength;
    }

    /** The set of that name; null where there is none. */
    static KemSet named(String name) {
        for (KemSet set : values()) {
            if (set.standardName.equalsIgnoreCase(name)) {
                return set;
            }
        }
        return null;
    }

    private int privateLength() {
        return 2 * publicLength + SECRET;
    }

    /** AlgorithmIdentifier: 2.16.840.1.101.3.4.4.1 to 3. */
    private byte[] identifier() {
        byte[] number = {6, 9, 0x60, (byte) 0x86, 0x48, 1, 0x65, 3, 4, 4, (byte) (1 + ordinal())};
        return der(0x30, number);
    }

    byte[] encodePublic(byte[] half) {
        return der(0x30, identifier(), der(3, new byte[1], half));
    }

    /** The private half is the expanded key. */
    byte[] encodePrivate(byte[] half) {
        return der(0x30, new byte[] {2, 1, 0}, identifier(), der(4, der(4, half)));
    }

    /** The public half of a SubjectPublicKeyInfo; null where it is another key. */
    byte[] decodePublic(byte[] encoded) {
        return behind(encoded, encodePublic(new byte[publicLength]), publicLength);
    }

    /** The private half of a PrivateKeyInfo, or the seed of it; null where it is another key. */
    byte[] decodePrivate(byte[] encoded) {
        byte[] expanded = behind(encoded, encodePrivate(new byte[privateLength()]), privateLength());
        if (expanded != null) {
            return expanded;
        }
        byte[] bySeed = der(0x30, new byte[] {2, 1, 0}, identifier(), der(4, der(0x80, new byte[SEED])));
        byte[] seed = behind(encoded, bySeed, SEED);
        if (seed != null) {
            return seed;
        }
        return expandedBeside(encoded) == null ? null : Arrays.copyOfRange(encoded, seedOfBoth(), seedOfBoth() + SEED);
    }

    /** Of a PrivateKeyInfo that has the seed and the private half, the latter; else null. */
    byte[] expandedBeside(byte[] encoded) {
        byte[] shape = both();
        if (encoded.length != shape.length) {
            return null;
        }
        byte[] masked = encoded.clone();
        Arrays.fill(masked, seedOfBoth(), seedOfBoth() + SEED, (byte) 0);
        byte[] expanded = behind(masked, shape, privateLength());
        Arrays.fill(masked, (byte) 0);
        return expanded;
    }

    private byte[] both() {
        return der(0x30, new byte[] {2, 1, 0}, identifier(),
            der(4, der(0x30, der(4, new byte[SEED]), der(4, new byte[privateLength()]))));
    }

    private int seedOfBoth() {
        return both().length - privateLength() - 4 - SEED;
    }

    /** The last bytes of an encoding that is otherwise like that one; null where it is not. */
    private static byte[] behind(byte[] encoded, byte[] shape, int length) {
        int start = shape.length - length;
        boolean isOne = encoded.length == shape.length && Arrays.equals(encoded, 0, start, shape, 0, start);
        return isOne ? Arrays.copyOfRange(encoded, start, encoded.length) : null;
    }

    /** A value of DER, whose length is below 65,536. */
    private static byte[] der(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream value = new ByteArrayOutputStream(length + 4);
        value.write(tag);
        if (length < 0x80) {
            value.write(length);
        } else if (length < 0x100) {
            value.write(0x81);
            value.write(length);
        } else {
            value.write(0x82);
            value.write(length >> 8);
            value.write(length);
        }
        for (byte[] part : parts) {
            value.writeBytes(part);
        }
        return value.toByteArray();
    }
}
