package org.outboard.provider;

import java.security.AlgorithmParameters;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.SignatureSpi;
import java.security.spec.AlgorithmParameterSpec;

/**
 * A signature. What Outboard does not serve, a key or a parameter, goes to the other provider, and so does each call that is not
 * what a program should do: it knows what to say.
 */
abstract class ServedSignature extends SignatureSpi {
    final String algorithm;
    /** What {@link #understands} said yes to; null: nothing. */
    AlgorithmParameterSpec parameters;
    private Key key;
    private boolean signs;
    private NativeKey nativeKey;
    /** Something was signed or verified in part. */
    private boolean isStarted;
    /** Has the key instead of us. */
    private Signature stock;
    /** The other provider has parameters that we do not understand: keys go there, too. */
    private boolean isForeign;

    ServedSignature(String algorithm) {
        this.algorithm = algorithm;
    }

    /** The key to sign with; null where it is not served. */
    abstract NativeKey privateKey(PrivateKey key);

    /** Whether a key to verify with is served. */
    abstract boolean takes(PublicKey key);

    /** What that is to Outboard; null where it is nothing. */
    abstract Operation operation(Key key, boolean signs);

    /** Whether these parameters are served, with that key (null: with none yet). */
    boolean understands(AlgorithmParameterSpec parameters, Key key) {
        return false;
    }

    /** Whether there is all that signatures need but a key. */
    boolean isReady() {
        return true;
    }

    abstract void add(byte[] bytes, int offset, int length);

    /** Ends the message: its digest, or itself. */
    abstract byte[] end();

    abstract byte[] sign(NativeKey key, byte[] value);

    abstract boolean verify(PublicKey key, byte[] value, byte[] signature) throws SignatureException;

    @Override
    protected final void engineInitSign(PrivateKey key) throws InvalidKeyException {
        begin(key, true);
        nativeKey = isForeign || isLeft(key, true) ? null : privateKey(key);
        if (nativeKey == null) {
            toStock();
        }
    }

    @Override
    protected final void engineInitVerify(PublicKey key) throws InvalidKeyException {
        begin(key, false);
        if (isForeign || isLeft(key, false) || !takes(key)) {
            toStock();
        }
    }

    /** Whether this Java's own providers do it as fast. Only Outboard has the service's keys. */
    private boolean isLeft(Key key, boolean signs) {
        Operation operation = key instanceof ServiceKey ? null : operation(key, signs);
        return operation != null && !operation.isServed();
    }

    private void begin(Key key, boolean signs) {
        this.key = key;
        this.signs = signs;
        reset();
        stock = null;
    }

    private void reset() {
        if (isStarted) {
            end();
            isStarted = false;
        }
    }

    /** Gives the other provider what we have. */
    private void toStock() throws InvalidKeyException {
        Signature other = blank();
        if (signs) {
            other.initSign((PrivateKey) key);
        } else {
            other.initVerify((PublicKey) key);
        }
        stock = other;
    }

    /** The other provider's, with our parameters. */
    private Signature blank() {
        Signature other = Stock.signature(algorithm);
        if (parameters != null) {
            try {
                other.setParameter(parameters);
            } catch (InvalidAlgorithmParameterException refused) {
                throw new ProviderException(refused);
            }
        }
        return other;
    }

    /** Whether the other provider goes on: it has the key, or says what is missing. */
    private boolean isStock() throws SignatureException {
        if (stock == null && !isReady()) {
            try {
                toStock();
            } catch (InvalidKeyException refused) {
                throw new SignatureException(refused);
            }
        }
        return stock != null;
    }

    @Override
    protected final void engineUpdate(byte part) throws SignatureException {
        engineUpdate(new byte[] {part}, 0, 1);
    }

    @Override
    protected final void engineUpdate(byte[] bytes, int offset, int length) throws SignatureException {
        if (isStock()) {
            stock.update(bytes, offset, length);
        } else {
            add(bytes, offset, length);
            isStarted = true;
        }
    }

    @Override
    protected final byte[] engineSign() throws SignatureException {
        if (isStock()) {
            return stock.sign();
        }
        isStarted = false;
        try {
            return sign(nativeKey, end());
        } catch (ProviderException failed) {
            throw new SignatureException(failed.getMessage(), failed);
        }
    }

    @Override
    protected final boolean engineVerify(byte[] signature) throws SignatureException {
        if (isStock()) {
            return stock.verify(signature);
        }
        isStarted = false;
        return verify((PublicKey) key, end(), signature);
    }

    @Override
    protected final void engineSetParameter(AlgorithmParameterSpec wanted) throws InvalidAlgorithmParameterException {
        boolean isOurs = understands(wanted, key);
        if (stock == null && isOurs && !isForeign) {
            if (isStarted) {
                throw new ProviderException("Cannot set parameters during operations");
            }
            parameters = wanted;
            return;
        }
        try {
            Signature before = stock;
            if (stock == null) {
                stock = blank();
                if (key != null) {
                    toStock();
                }
            }
            try {
                stock.setParameter(wanted);
            } catch (InvalidAlgorithmParameterException | RuntimeException refused) {
                stock = before;
                throw refused;
            }
        } catch (InvalidKeyException refused) {
            throw new InvalidAlgorithmParameterException(refused);
        }
        isForeign = !isOurs;
        parameters = wanted;
    }

    @Override
    protected final AlgorithmParameters engineGetParameters() {
        return (stock == null ? blank() : stock).getParameters();
    }

    @Deprecated
    @Override
    protected final void engineSetParameter(String name, Object value) {
        throw new UnsupportedOperationException("setParameter() not supported");
    }

    @Deprecated
    @Override
    protected final Object engineGetParameter(String name) {
        throw new UnsupportedOperationException("getParameter() not supported");
    }
}
