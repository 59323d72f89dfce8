package org.outboard.provider;

import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.ProviderException;
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
final class Kem implements KEMSpi, KemCalls {
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
        KemKey.Half half = half(key, parameters, false);
        return isLeft(half.set.encapsulation) ? new Left(stock().newEncapsulator(key), null) : new Sides(half);
    }

    @Override
    public DecapsulatorSpi engineNewDecapsulator(PrivateKey key, AlgorithmParameterSpec parameters)
            throws InvalidAlgorithmParameterException, InvalidKeyException {
        KemKey.Half half = half(key, parameters, true);
        return isLeft(half.set.decapsulation) ? new Left(null, stock().newDecapsulator(key)) : new Sides(half);
    }

    private static boolean isLeft(Operation operation) {
        return Outboard.HAS_ML_KEM && !operation.isServed();
    }

    private static KEM stock() {
        try {
            return KEM.getInstance(KemSet.FAMILY, Stock.generator(KemSet.FAMILY).getProvider());
        } catch (NoSuchAlgorithmException missing) {
            throw new ProviderException(missing);
        }
    }

    @Override
    public byte[] encapsulate(Provider provider, PublicKey key) throws GeneralSecurityException {
        return KEM.getInstance(KemSet.FAMILY, provider).newEncapsulator(key).encapsulate().encapsulation();
    }

    @Override
    public void decapsulate(Provider provider, PrivateKey key, byte[] ciphertext) throws GeneralSecurityException {
        KEM.getInstance(KemSet.FAMILY, provider).newDecapsulator(key).decapsulate(ciphertext);
    }

    @Override
    public String taken(String algorithm, PublicKey key, PrivateKey own) throws GeneralSecurityException {
        KEM.Encapsulator encapsulator = KEM.getInstance(algorithm).newEncapsulator(key);
        KEM.getInstance(algorithm).newDecapsulator(own).decapsulate(encapsulator.encapsulate().encapsulation());
        return encapsulator.providerName();
    }

    /** The other provider's, for what is left to the JDK. */
    private static final class Left implements EncapsulatorSpi, DecapsulatorSpi {
        private final KEM.Encapsulator encapsulator;
        private final KEM.Decapsulator decapsulator;

        Left(KEM.Encapsulator encapsulator, KEM.Decapsulator decapsulator) {
            this.encapsulator = encapsulator;
            this.decapsulator = decapsulator;
        }

        @Override
        public KEM.Encapsulated engineEncapsulate(int from, int to, String algorithm) {
            Sides.check(from, to, algorithm);
            return encapsulator.encapsulate(from, to, algorithm);
        }

        @Override
        public SecretKey engineDecapsulate(byte[] ciphertext, int from, int to, String algorithm) throws DecapsulateException {
            Sides.check(from, to, algorithm);
            return decapsulator.decapsulate(ciphertext, from, to, algorithm);
        }

        @Override
        public int engineSecretSize() {
            return encapsulator == null ? decapsulator.secretSize() : encapsulator.secretSize();
        }

        @Override
        public int engineEncapsulationSize() {
            return encapsulator == null ? decapsulator.encapsulationSize() : encapsulator.encapsulationSize();
        }
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
