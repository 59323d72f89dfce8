package org.outboard.provider;

import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactorySpi;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.EncodedKeySpec;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.KeySpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;

/** Keys of ML-KEM by their encodings, for versions of Java that have no such factory (before 24). */
final class KemFactory extends KeyFactorySpi {
    private final KemSet only;

    KemFactory(KemSet only) {
        this.only = only;
    }

    @Override
    protected PublicKey engineGeneratePublic(KeySpec spec) throws InvalidKeySpecException {
        byte[] encoded = spec instanceof X509EncodedKeySpec ? ((EncodedKeySpec) spec).getEncoded() : null;
        if (encoded == null || KemKey.decode(encoded, only, false) == null) {
            throw new InvalidKeySpecException("no public key of ML-KEM");
        }
        return new KemKey.Public(encoded);
    }

    @Override
    protected PrivateKey engineGeneratePrivate(KeySpec spec) throws InvalidKeySpecException {
        byte[] encoded = spec instanceof PKCS8EncodedKeySpec ? ((EncodedKeySpec) spec).getEncoded() : null;
        KemKey.Half half = encoded == null ? null : KemKey.decode(encoded, only, true);
        if (half == null) {
            throw new InvalidKeySpecException("no private key of ML-KEM");
        }
        return new KemKey.Private(half.set, half.nativeKey);
    }

    @Override
    protected <T extends KeySpec> T engineGetKeySpec(Key key, Class<T> wanted) throws InvalidKeySpecException {
        byte[] encoded = key.getEncoded();
        if (encoded != null && key instanceof PublicKey && wanted.isAssignableFrom(X509EncodedKeySpec.class)) {
            return wanted.cast(new X509EncodedKeySpec(encoded));
        }
        if (encoded != null && key instanceof PrivateKey && wanted.isAssignableFrom(PKCS8EncodedKeySpec.class)) {
            return wanted.cast(new PKCS8EncodedKeySpec(encoded));
        }
        throw new InvalidKeySpecException("no " + wanted.getName() + " of this key");
    }

    @Override
    protected Key engineTranslateKey(Key key) throws InvalidKeyException {
        try {
            return key instanceof PrivateKey ? engineGeneratePrivate(new PKCS8EncodedKeySpec(key.getEncoded()))
                : engineGeneratePublic(new X509EncodedKeySpec(key.getEncoded()));
        } catch (InvalidKeySpecException | NullPointerException refused) {
            throw new InvalidKeyException("no key of ML-KEM", refused);
        }
    }
}
