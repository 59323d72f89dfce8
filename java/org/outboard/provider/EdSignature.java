package org.outboard.provider;

import java.io.ByteArrayOutputStream;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.interfaces.EdECPublicKey;
import java.security.spec.NamedParameterSpec;

/** Ed25519, the pure variant. */
final class EdSignature extends ServedSignature {
    private final ByteArrayOutputStream message = new ByteArrayOutputStream();

    EdSignature(String algorithm) {
        super(algorithm);
    }

    @Override
    NativeKey privateKey(PrivateKey key) {
        return NativeKey.ed25519(key);
    }

    @Override
    Operation operation(Key key, boolean signs) {
        return signs ? Operation.ED25519_SIGN : Operation.ED25519_VERIFY;
    }

    @Override
    boolean takes(PublicKey key) {
        if (!(key instanceof EdECPublicKey)) {
            return false;
        }
        EdECPublicKey ed = (EdECPublicKey) key;
        return ed.getParams().getName().equals(NamedParameterSpec.ED25519.getName()) && encode(ed) != null;
    }

    private static byte[] encode(EdECPublicKey key) {
        byte[] encoded = Numbers.coordinate(key.getPoint().getY());
        if (encoded != null && key.getPoint().isXOdd()) {
            encoded[encoded.length - 1] |= (byte) 0x80;
        }
        return encoded;
    }

    @Override
    void add(byte[] bytes, int offset, int length) {
        message.write(bytes, offset, length);
    }

    @Override
    byte[] end() {
        byte[] whole = message.toByteArray();
        message.reset();
        return whole;
    }

    @Override
    byte[] sign(NativeKey key, byte[] value) {
        return key.sign(Native.NONE, Native.NONE, 0, value);
    }

    /** What is no signature here, the other provider judges once more: it has exceptions for some encodings. */
    @Override
    boolean verify(PublicKey key, byte[] value, byte[] signature) throws SignatureException {
        if (signature != null && Native.verifyEd(encode((EdECPublicKey) key), value, signature)) {
            return true;
        }
        try {
            Signature stock = Stock.signature(algorithm);
            stock.initVerify(key);
            stock.update(value);
            return stock.verify(signature);
        } catch (InvalidKeyException refused) {
            throw new SignatureException(refused);
        }
    }
}
