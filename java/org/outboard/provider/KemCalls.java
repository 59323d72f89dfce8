package org.outboard.provider;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;

/** What a program does with ML-KEM: {@link Kem} alone can call Java's interface for it. */
interface KemCalls {
    /** The ciphertext of a new secret. */
    byte[] encapsulate(Provider provider, PublicKey key) throws GeneralSecurityException;

    void decapsulate(Provider provider, PrivateKey key, byte[] ciphertext) throws GeneralSecurityException;

    /** Encapsulates without naming a provider, and decapsulates; the provider that Java takes. */
    String taken(String algorithm, PublicKey key, PrivateKey own) throws GeneralSecurityException;
}
