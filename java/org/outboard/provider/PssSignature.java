package org.outboard.provider;

import java.security.Key;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SignatureException;
import java.security.interfaces.RSAKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;

/** RSASSA-PSS. */
final class PssSignature extends ServedSignature {
    private Digest digest;
    private MessageDigest message;

    PssSignature() {
        super("RSASSA-PSS");
    }

    private PSSParameterSpec pss() {
        return (PSSParameterSpec) parameters;
    }

    @Override
    NativeKey privateKey(PrivateKey key) {
        return fits(pss(), key) ? NativeKey.rsa(key) : null;
    }

    @Override
    Operation operation(Key key, boolean signs) {
        return RsaSignature.operationWith(key, signs);
    }

    @Override
    boolean takes(PublicKey key) {
        return RsaSignature.isServed(key) && fits(pss(), key);
    }

    /** Whether a signature with these parameters has room for its salt. */
    private static boolean fits(PSSParameterSpec pss, Key key) {
        if (pss == null || !(key instanceof RSAKey)) {
            return true;
        }
        int room = ((RSAKey) key).getModulus().bitLength() / 8;
        return pss.getSaltLength() <= room - Digest.named(pss.getDigestAlgorithm()).length - 2;
    }

    @Override
    boolean understands(AlgorithmParameterSpec parameters, Key key) {
        if (!(parameters instanceof PSSParameterSpec)) {
            return false;
        }
        PSSParameterSpec pss = (PSSParameterSpec) parameters;
        return Digest.named(pss.getDigestAlgorithm()) != null && mask(pss) != null
            && pss.getTrailerField() == PSSParameterSpec.TRAILER_FIELD_BC && fits(pss, key);
    }

    private static Digest mask(PSSParameterSpec pss) {
        AlgorithmParameterSpec mask = pss.getMGFParameters();
        if (!"MGF1".equalsIgnoreCase(pss.getMGFAlgorithm()) || mask != null && !(mask instanceof MGF1ParameterSpec)) {
            return null;
        }
        return Digest.named(mask == null ? pss.getDigestAlgorithm() : ((MGF1ParameterSpec) mask).getDigestAlgorithm());
    }

    @Override
    boolean isReady() {
        return parameters != null;
    }

    @Override
    void add(byte[] bytes, int offset, int length) {
        message().update(bytes, offset, length);
    }

    @Override
    byte[] end() {
        return message().digest();
    }

    private MessageDigest message() {
        Digest wanted = Digest.named(pss().getDigestAlgorithm());
        if (digest != wanted) {
            digest = wanted;
            message = wanted.start();
        }
        return message;
    }

    @Override
    byte[] sign(NativeKey key, byte[] value) {
        return key.sign(digest.ordinal(), mask(pss()).ordinal(), pss().getSaltLength(), value);
    }

    @Override
    boolean verify(PublicKey key, byte[] value, byte[] signature) throws SignatureException {
        int mask = mask(pss()).ordinal();
        return RsaSignature.verify((RSAPublicKey) key, digest, mask, pss().getSaltLength(), value, signature);
    }
}
