package org.outboard.provider;

import java.security.InvalidKeyException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.interfaces.ECKey;
import java.security.interfaces.ECPublicKey;

/** ECDSA; signatures are in DER. */
final class EcSignature extends ServedSignature {
    private final Digest digest;
    private final MessageDigest message;

    EcSignature(String algorithm, Digest digest) {
        super(algorithm);
        this.digest = digest;
        message = digest.start();
    }

    @Override
    NativeKey privateKey(PrivateKey key) {
        return NativeKey.ec(key);
    }

    @Override
    Operation operation(Key key, boolean signs) {
        Group group = key instanceof ECKey ? Group.of(((ECKey) key).getParams()) : null;
        if (group == null) {
            return null;
        }
        switch (group) {
            case P256:
                return signs ? Operation.P256_SIGN : Operation.P256_VERIFY;
            case P384:
                return signs ? Operation.P384_SIGN : Operation.P384_VERIFY;
            default:
                return signs ? Operation.P521_SIGN : Operation.P521_VERIFY;
        }
    }

    @Override
    boolean takes(PublicKey key) {
        if (!(key instanceof ECPublicKey)) {
            return false;
        }
        Group group = groupOf(key);
        byte[] point = group == null ? null : group.encode((ECPublicKey) key);
        return point != null && Native.isPoint(group.ordinal(), point);
    }

    private static Group groupOf(PublicKey key) {
        return Group.of(((ECPublicKey) key).getParams());
    }

    @Override
    void add(byte[] bytes, int offset, int length) {
        message.update(bytes, offset, length);
    }

    @Override
    byte[] end() {
        return message.digest();
    }

    @Override
    byte[] sign(NativeKey key, byte[] value) {
        return key.sign(digest.ordinal(), Native.NONE, 0, value);
    }

    /** What is no signature here, the other provider judges once more: it has exceptions for some encodings. */
    @Override
    boolean verify(PublicKey key, byte[] value, byte[] signature) throws SignatureException {
        Group group = groupOf(key);
        if (signature != null
                && Native.verifyEc(group.ordinal(), group.encode((ECPublicKey) key), value, signature)) {
            return true;
        }
        try {
            Signature stock = Stock.signature("NONEwithECDSA");
            stock.initVerify(key);
            stock.update(value);
            return stock.verify(signature);
        } catch (InvalidKeyException refused) {
            throw new SignatureException(refused);
        }
    }
}
