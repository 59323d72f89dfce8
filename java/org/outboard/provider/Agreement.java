package org.outboard.provider;

import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.security.interfaces.ECKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.XECPublicKey;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import javax.crypto.KeyAgreement;
import javax.crypto.KeyAgreementSpi;
import javax.crypto.SecretKey;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.SecretKeySpec;

/** X25519 and ECDH. Where a call is not what a program should do, the other provider gets the key and the call: it knows what to say. */
final class Agreement extends KeyAgreementSpi {
    private final String algorithm;
    private Key key;
    private NativeKey nativeKey;
    /** From a phase until the secret is given out. */
    private byte[] secret;
    private Key peer;
    /** Has the key instead of us. */
    private KeyAgreement stock;

    Agreement(String algorithm) {
        this.algorithm = algorithm;
    }

    private boolean isEc() {
        return algorithm.equals("ECDH");
    }

    @Override
    protected void engineInit(Key key, SecureRandom random) throws InvalidKeyException {
        begin(isLeft(key) ? null : isEc() ? NativeKey.ec(key) : NativeKey.x25519(key), key);
        if (nativeKey == null) {
            stock = Stock.agreement(algorithm);
            stock.init(key);
        }
    }

    /** Whether this Java's own providers do it as fast. Only Outboard has the service's keys. */
    private boolean isLeft(Key key) {
        if (!isEc()) {
            return !Group.X25519.derivation.isServed();
        }
        Group group = key instanceof ECKey && !(key instanceof ServiceKey) ? Group.of(((ECKey) key).getParams()) : null;
        return group != null && !group.derivation.isServed();
    }

    @Override
    protected void engineInit(Key key, AlgorithmParameterSpec parameters, SecureRandom random)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        if (parameters == null) {
            engineInit(key, random);
            return;
        }
        begin(null, key);
        stock = Stock.agreement(algorithm);
        stock.init(key, parameters, random);
    }

    private void begin(NativeKey nativeKey, Key key) {
        forget();
        this.nativeKey = nativeKey;
        this.key = key;
        stock = null;
    }

    private void forget() {
        if (secret != null) {
            Arrays.fill(secret, (byte) 0);
            secret = null;
            peer = null;
        }
    }

    private KeyAgreement toStock() throws InvalidKeyException {
        if (stock == null) {
            KeyAgreement other = Stock.agreement(algorithm);
            if (key != null) {
                other.init(key);
            }
            stock = other;
        }
        return stock;
    }

    /** The other provider, which has no more than a key, and says so. */
    private KeyAgreement unready() {
        try {
            return toStock();
        } catch (InvalidKeyException refused) {
            throw new IllegalStateException("Not initialized", refused);
        }
    }

    @Override
    protected Key engineDoPhase(Key peer, boolean last) throws InvalidKeyException {
        byte[] half = stock == null && last && secret == null && nativeKey != null ? encode(peer) : null;
        if (half != null) {
            secret = nativeKey.derive(half);
            if (secret != null) {
                this.peer = peer;
                return null;
            }
        }
        if (secret != null) {
            throw new IllegalStateException("Phase already executed");
        }
        return toStock().doPhase(peer, last);
    }

    /** The peer's public half; null where it is none of the same group. */
    private byte[] encode(Key peer) {
        if (isEc()) {
            Group group = Group.of(((ECKey) key).getParams());
            return peer instanceof ECPublicKey && Group.of(((ECPublicKey) peer).getParams()) == group
                ? group.encode((ECPublicKey) peer) : null;
        }
        return peer instanceof XECPublicKey && Group.of(((XECPublicKey) peer).getParams()) == Group.X25519
            ? Numbers.coordinate(((XECPublicKey) peer).getU()) : null;
    }

    @Override
    protected byte[] engineGenerateSecret() {
        if (secret == null) {
            return unready().generateSecret();
        }
        byte[] taken = secret.clone();
        forget();
        return taken;
    }

    @Override
    protected int engineGenerateSecret(byte[] place, int offset) throws ShortBufferException {
        if (secret == null) {
            return unready().generateSecret(place, offset);
        }
        int length = secret.length;
        if (place.length - offset < length) {
            throw new ShortBufferException("Need " + length + " bytes, only " + (place.length - offset) + " available");
        }
        System.arraycopy(secret, 0, place, offset, length);
        forget();
        return length;
    }

    @Override
    protected SecretKey engineGenerateSecret(String kind) throws NoSuchAlgorithmException, InvalidKeyException {
        if (secret != null && "TlsPremasterSecret".equals(kind)) {
            SecretKey made = new SecretKeySpec(secret, kind);
            forget();
            return made;
        }
        KeyAgreement other = unready();
        if (secret != null) {
            // Which kinds there are depends on the version of Java.
            other.doPhase(peer, true);
            forget();
        }
        return other.generateSecret(kind);
    }
}
