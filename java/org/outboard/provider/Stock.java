package org.outboard.provider;

import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.Security;
import java.security.Signature;
import java.security.spec.KeySpec;
import javax.crypto.KeyAgreement;

/** What this Java has without Outboard: the first other provider that offers the algorithm. */
final class Stock {
    private Stock() {
    }

    static Signature signature(String algorithm) {
        return make("Signature", algorithm, provider -> Signature.getInstance(algorithm, provider));
    }

    static KeyAgreement agreement(String algorithm) {
        return make("KeyAgreement", algorithm, provider -> KeyAgreement.getInstance(algorithm, provider));
    }

    static KeyPairGenerator generator(String algorithm) {
        return make("KeyPairGenerator", algorithm, provider -> KeyPairGenerator.getInstance(algorithm, provider));
    }

    static KeyFactory factory(String algorithm) {
        return make("KeyFactory", algorithm, provider -> KeyFactory.getInstance(algorithm, provider));
    }

    static AlgorithmParameters parameters(String algorithm) {
        return make("AlgorithmParameters", algorithm, provider -> AlgorithmParameters.getInstance(algorithm, provider));
    }

    /** Java's own object of a public key. */
    static PublicKey publicKey(String algorithm, KeySpec numbers) {
        try {
            return factory(algorithm).generatePublic(numbers);
        } catch (GeneralSecurityException impossible) {
            throw new ProviderException(impossible);
        }
    }

    private interface Maker<T> {
        T of(Provider provider) throws GeneralSecurityException;
    }

    private static <T> T make(String type, String algorithm, Maker<T> maker) {
        try {
            for (Provider provider : Security.getProviders()) {
                // Another class loader's Outboard is none of the others, either.
                if (!provider.getName().equals(Outboard.NAME) && provider.getService(type, algorithm) != null) {
                    return maker.of(provider);
                }
            }
            throw new NoSuchAlgorithmException("no provider but Outboard offers " + algorithm);
        } catch (GeneralSecurityException missing) {
            throw new ProviderException(missing);
        }
    }
}
