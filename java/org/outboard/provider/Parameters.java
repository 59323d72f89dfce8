package org.outboard.provider;

import java.io.IOException;
import java.security.AlgorithmParameters;
import java.security.AlgorithmParametersSpi;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.InvalidParameterSpecException;

/** For programs that name the provider: Java's own parameters. */
final class Parameters extends AlgorithmParametersSpi {
    private final AlgorithmParameters stock;

    Parameters(String algorithm) {
        stock = Stock.parameters(algorithm);
    }

    @Override
    protected void engineInit(AlgorithmParameterSpec spec) throws InvalidParameterSpecException {
        stock.init(spec);
    }

    @Override
    protected void engineInit(byte[] encoded) throws IOException {
        stock.init(encoded);
    }

    @Override
    protected void engineInit(byte[] encoded, String format) throws IOException {
        stock.init(encoded, format);
    }

    @Override
    protected <T extends AlgorithmParameterSpec> T engineGetParameterSpec(Class<T> wanted) throws InvalidParameterSpecException {
        return stock.getParameterSpec(wanted);
    }

    @Override
    protected byte[] engineGetEncoded() throws IOException {
        return stock.getEncoded();
    }

    @Override
    protected byte[] engineGetEncoded(String format) throws IOException {
        return stock.getEncoded(format);
    }

    @Override
    protected String engineToString() {
        return stock.toString();
    }
}
