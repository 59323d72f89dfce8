package org.outboard.provider;

import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidParameterException;
import java.security.KeyPair;
import java.security.KeyPairGeneratorSpi;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.X509EncodedKeySpec;

/** Makes keys of ML-KEM. The native half draws the random numbers, whatever source a program names. */
final class KemPairs extends KeyPairGeneratorSpi {
    private final KemSet only;
    private KemSet set;

    /** Of that set alone; null: of each, and of ML-KEM-768 unless another one is named. */
    KemPairs(KemSet only) {
        this.only = only;
        set = only == null ? KemSet.ML_KEM_768 : only;
    }

    @Override
    public void initialize(int bits, SecureRandom random) {
        if (bits != -1) {
            throw new InvalidParameterException("keysize not supported");
        }
    }

    @Override
    public void initialize(AlgorithmParameterSpec parameters, SecureRandom random) throws InvalidAlgorithmParameterException {
        KemSet wanted = parameters instanceof NamedParameterSpec ? KemSet.named(((NamedParameterSpec) parameters).getName()) : null;
        if (wanted == null || only != null && only != wanted) {
            throw new InvalidAlgorithmParameterException("Unsupported parameter set: " + parameters);
        }
        set = wanted;
    }

    @Override
    public KeyPair generateKeyPair() {
        if (Outboard.HAS_ML_KEM && !set.generation.isServed()) {
            return Stock.generator(set.standardName).generateKeyPair();
        }
        long[] address = new long[1];
        byte[] half = Native.kemGenerate(set.ordinal(), address);
        KemKey.Private made = new KemKey.Private(set, NativeKey.at(address[0]));
        return new KeyPair(publicKey(set.encodePublic(half)), made);
    }

    /** Java's own object of a public key, where Java has such keys. */
    static PublicKey publicKey(byte[] encoded) {
        return Outboard.HAS_ML_KEM ? Stock.publicKey(KemSet.FAMILY, new X509EncodedKeySpec(encoded))
            : new KemKey.Public(encoded);
    }
}
