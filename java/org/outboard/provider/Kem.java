package org.outboard.provider;

import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import java.util.Objects;
import javax.crypto.DecapsulateException;
import javax.crypto.KEM;
import javax.crypto.KEMSpi;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** ML-KEM. The only class that needs Java's interface for KEMs: that of Java 21, which later updates of Java 17 have, too. */
final class Kem implements KEMSpi {
    private final KemSet only;

    /** Of that set alone; null: of each. */
    Kem(KemSet only) {
        this.only = only;
    }

    private KemKey.Half half(java.security.Key key, AlgorithmParameterSpec parameters, boolean isPrivate)
            throws InvalidAlgorithmParameterException, InvalidKeyException {
        if (parameters != null) {
            throw new InvalidAlgorithmParameterException("The " + KemSet.FAMILY + " algorithm does not take any parameters");
        }
        KemKey.Half half = KemKey.of(key, only, isPrivate);
        if (half == null) {
            throw new InvalidKeyException("no key of " + (only == null ? KemSet.FAMILY : only.standardName));
        }
        return half;
    }

    @Override
    public EncapsulatorSpi engineNewEncapsulator(PublicKey key, AlgorithmParameterSpec parameters, SecureRandom random)
            throws InvalidAlgorithmParameterException, InvalidKeyException {
        return new Sides(half(key, parameters, false));
    }

    @Override
    public DecapsulatorSpi engineNewDecapsulator(PrivateKey key, AlgorithmParameterSpec parameters)
            throws InvalidAlgorithmParameterException, InvalidKeyException {
        return new Sides(half(key, parameters, true));
    }

    /** What is done with a key: the public half encapsulates, the private one decapsulates. */
    private static final class Sides implements EncapsulatorSpi, DecapsulatorSpi {
        private final KemKey.Half half;

        Sides(KemKey.Half half) {
            this.half = half;
        }

        @Override
        public KEM.Encapsulated engineEncapsulate(int from, int to, String algorithm) {
            check(from, to, algorithm);
            byte[] both = half.nativeKey.encapsulate();
            SecretKey secret = new SecretKeySpec(both, from, to - from, algorithm);
            byte[] ciphertext = Arrays.copyOfRange(both, KemSet.SECRET, both.length);
            Arrays.fill(both, (byte) 0);
            return new KEM.Encapsulated(secret, ciphertext, null);
        }

        @Override
        public SecretKey engineDecapsulate(byte[] ciphertext, int from, int to, String algorithm) throws DecapsulateException {
            check(from, to, algorithm);
            byte[] secret = half.nativeKey.decapsulate(Objects.requireNonNull(ciphertext));
            if (secret == null) {
                throw new DecapsulateException("Invalid key encapsulation message length");
            }
            SecretKey made = new SecretKeySpec(secret, from, to - from, algorithm);
            Arrays.fill(secret, (byte) 0);
            return made;
        }

        private static void check(int from, int to, String algorithm) {
            Objects.checkFromToIndex(from, to, KemSet.SECRET);
            Objects.requireNonNull(algorithm, "null algorithm");
        }

        @Override
        public int engineSecretSize() {
            return KemSet.SECRET;
        }

        @Override
        public int engineEncapsulationSize() {
            return half.set.ciphertextLength;
        }
    }
}
