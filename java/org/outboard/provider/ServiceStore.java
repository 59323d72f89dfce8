package org.outboard.provider;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyStoreException;
import java.security.KeyStoreSpi;
import java.security.NoSuchAlgorithmException;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.X509EncodedKeySpec;
import java.util.Collections;
import java.util.Date;
import java.util.Enumeration;
import java.util.Map;
import java.util.TreeMap;

/** The keys of the card service that this process may use, by name, with their certificates, as they are when the store is loaded. */
final class ServiceStore extends KeyStoreSpi {
    private static final Certificate[] NONE = {};

    private Map<String, Entry> entries = Map.of();
    private Date loaded = new Date();

    private static final class Entry {
        final ServiceKey key;
        final Certificate[] chain;

        Entry(ServiceKey key, Certificate[] chain) {
            this.key = key;
            this.chain = chain;
        }
    }

    @Override
    public void engineLoad(InputStream nothing, char[] password) throws IOException, CertificateException {
        byte[][] parts;
        try {
            parts = Native.keys();
        } catch (ProviderException failed) {
            throw new IOException(failed.getMessage(), failed);
        }
        Map<String, Entry> found = new TreeMap<>();
        for (int at = 0; at < parts.length; at += 4) {
            String name = new String(parts[at], StandardCharsets.UTF_8);
            PublicKey half = publicKey(parts[at + 2]);
            if (half != null) {
                found.put(name, new Entry(ServiceKey.of(parts[at + 1], half), certificates(parts[at + 3])));
            }
        }
        entries = found;
        loaded = new Date();
    }

    /** Java's own object of a public key; null where Java has no such keys. */
    private static PublicKey publicKey(byte[] encoded) {
        for (String algorithm : new String[] {"RSA", "EC", "Ed25519"}) {
            try {
                return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(encoded));
            } catch (InvalidKeySpecException | NoSuchAlgorithmException another) {
                // The next one.
            }
        }
        return null;
    }

    private static Certificate[] certificates(byte[] chain) throws CertificateException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        return factory.generateCertificates(new ByteArrayInputStream(chain)).toArray(NONE);
    }

    private Entry entry(String alias) {
        return entries.get(alias);
    }

    @Override
    public Key engineGetKey(String alias, char[] password) {
        Entry entry = entry(alias);
        return entry == null ? null : entry.key;
    }

    @Override
    public Certificate[] engineGetCertificateChain(String alias) {
        Entry entry = entry(alias);
        return entry == null || entry.chain.length == 0 ? null : entry.chain.clone();
    }

    @Override
    public Certificate engineGetCertificate(String alias) {
        Certificate[] chain = engineGetCertificateChain(alias);
        return chain == null ? null : chain[0];
    }

    @Override
    public String engineGetCertificateAlias(Certificate certificate) {
        for (String alias : entries.keySet()) {
            if (certificate.equals(engineGetCertificate(alias))) {
                return alias;
            }
        }
        return null;
    }

    @Override
    public Date engineGetCreationDate(String alias) {
        return engineContainsAlias(alias) ? (Date) loaded.clone() : null;
    }

    @Override
    public Enumeration<String> engineAliases() {
        return Collections.enumeration(entries.keySet());
    }

    @Override
    public boolean engineContainsAlias(String alias) {
        return entries.containsKey(alias);
    }

    @Override
    public int engineSize() {
        return entries.size();
    }

    @Override
    public boolean engineIsKeyEntry(String alias) {
        return engineContainsAlias(alias);
    }

    @Override
    public boolean engineIsCertificateEntry(String alias) {
        return false;
    }

    @Override
    public void engineSetKeyEntry(String alias, Key key, char[] password, Certificate[] chain) throws KeyStoreException {
        throw readOnly("'outboard keys import', 'outboard keys certify'");
    }

    @Override
    public void engineSetKeyEntry(String alias, byte[] key, Certificate[] chain) throws KeyStoreException {
        throw readOnly("'outboard keys import', 'outboard keys certify'");
    }

    @Override
    public void engineSetCertificateEntry(String alias, Certificate certificate) throws KeyStoreException {
        throw readOnly("'outboard keys certify'");
    }

    @Override
    public void engineDeleteEntry(String alias) throws KeyStoreException {
        throw readOnly("'outboard keys destroy'");
    }

    private static KeyStoreException readOnly(String remedy) {
        return new KeyStoreException("Java only reads the card service's keys (" + remedy + ")");
    }

    /** There is nothing to write. */
    @Override
    public void engineStore(OutputStream nowhere, char[] password) {
    }
}
