package org.outboard.provider;

import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyFactorySpi;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.KeySpec;

/** For programs that name the provider: key objects are Java's own. Keys of the card service stay what they are. */
final class Factory extends KeyFactorySpi {
    private final KeyFactory stock;
    /** What its keys say that they are. */
    private final String kind;

    Factory(String algorithm) {
        stock = Stock.factory(algorithm);
        kind = algorithm.startsWith("Ed") ? "EdDSA" : algorithm;
    }

    @Override
    protected PublicKey engineGeneratePublic(KeySpec spec) throws InvalidKeySpecException {
        return stock.generatePublic(spec);
    }

    @Override
    protected PrivateKey engineGeneratePrivate(KeySpec spec) throws InvalidKeySpecException {
        return stock.generatePrivate(spec);
    }

    @Override
    protected <T extends KeySpec> T engineGetKeySpec(Key key, Class<T> wanted) throws InvalidKeySpecException {
        return stock.getKeySpec(key, wanted);
    }

    @Override
    protected Key engineTranslateKey(Key key) throws InvalidKeyException {
        return key instanceof ServiceKey && key.getAlgorithm().equals(kind) ? key : stock.translateKey(key);
    }
}
