package org.outboard.provider;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.ProviderException;

/** The digests of signatures that Outboard serves. Java computes them. */
enum Digest {
    SHA256("SHA-256", 32), SHA384("SHA-384", 48), SHA512("SHA-512", 64);

    /** Its name in those of signatures. */
    final String prefix = name();
    final int length;
    private final String algorithm;

    Digest(String algorithm, int length) {
        this.algorithm = algorithm;
        this.length = length;
    }

    /** The digest that has that name; null where there is none here. */
    static Digest named(String algorithm) {
        for (Digest digest : values()) {
            if (digest.algorithm.equalsIgnoreCase(algorithm)) {
                return digest;
            }
        }
        return null;
    }

    MessageDigest start() {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException missing) {
            throw new ProviderException(missing);
        }
    }
}
