package org.outboard.provider;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.security.Security;
import java.security.interfaces.RSAKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * What Outboard can compute, by the names of {@code outboard stats}.
 *
 * An operation that is not faster by Outboard in this Java stays with the JDK: the security property {@value #LEFT} names it.
 * {@link Measurement} finds out, and {@code outboard java --provider} writes it down.
 */
enum Operation {
    RSA_2048_SIGN, RSA_3072_SIGN, RSA_4096_SIGN,
    RSA_2048_VERIFY, RSA_3072_VERIFY, RSA_4096_VERIFY,
    P256_SIGN, P384_SIGN, P521_SIGN,
    P256_VERIFY, P384_VERIFY, P521_VERIFY,
    P256_DERIVE, P384_DERIVE, P521_DERIVE,
    P256_KEYGEN, P384_KEYGEN, P521_KEYGEN,
    X25519_DERIVE, X25519_KEYGEN,
    ED25519_SIGN, ED25519_VERIFY,
    ML_KEM_512_KEYGEN, ML_KEM_768_KEYGEN, ML_KEM_1024_KEYGEN,
    ML_KEM_512_ENCAPSULATE, ML_KEM_768_ENCAPSULATE, ML_KEM_1024_ENCAPSULATE,
    ML_KEM_512_DECAPSULATE, ML_KEM_768_DECAPSULATE, ML_KEM_1024_DECAPSULATE;

    /** How TLS 1.3 signs with RSA keys. */
    static final PSSParameterSpec PSS = new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1);
    /** The security property: operations with spaces or commas between. */
    static final String LEFT = "outboard.left-to-jdk";

    private final boolean isServed = !Left.NAMES.contains(text());

    /** Its name in the ledger. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Whether Outboard computes it in this Java. */
    boolean isServed() {
        return isServed;
    }

    /** Those that this Java can do without Outboard. */
    static EnumSet<Operation> ofJava() {
        EnumSet<Operation> all = EnumSet.allOf(Operation.class);
        if (!Outboard.comparesKems()) {
            all.removeAll(EnumSet.range(ML_KEM_512_KEYGEN, ML_KEM_1024_DECAPSULATE));
        }
        return all;
    }

    /** What is done. */
    enum Use { SIGN, VERIFY, DERIVE, KEYGEN, ENCAPSULATE, DECAPSULATE }

    Use use() {
        return Use.valueOf(name().substring(name().lastIndexOf('_') + 1));
    }

    /** The algorithm of its keys, as the JDK's providers name it. */
    String kind() {
        return name().startsWith("RSA") ? "RSA"
            : name().startsWith("X25519") ? "X25519"
            : name().startsWith("ED25519") ? "Ed25519" : name().startsWith("ML") ? KemSet.FAMILY : "EC";
    }

    /** What its keys are made with. */
    AlgorithmParameterSpec parameters() {
        switch (kind()) {
            case "RSA":
                return new RSAKeyGenParameterSpec(Integer.parseInt(name().split("_")[1]), RSAKeyGenParameterSpec.F4);
            case "EC":
                return new ECGenParameterSpec(Group.valueOf(name().split("_")[0]).standardName);
            case "X25519":
                return NamedParameterSpec.X25519;
            case KemSet.FAMILY:
                return new NamedParameterSpec(name().substring(0, name().lastIndexOf('_')).replace('_', '-'));
            default:
                return NamedParameterSpec.ED25519;
        }
    }

    /** Signing with an RSA key. Sizes between two that are measured count as the smaller one. */
    static Operation signing(RSAKey key) {
        return ofSize(key, RSA_2048_SIGN, RSA_3072_SIGN, RSA_4096_SIGN);
    }

    /** The same of verifying. */
    static Operation verifying(RSAKey key) {
        return ofSize(key, RSA_2048_VERIFY, RSA_3072_VERIFY, RSA_4096_VERIFY);
    }

    private static Operation ofSize(RSAKey key, Operation small, Operation middle, Operation large) {
        int bits = key.getModulus().bitLength();
        return bits < 3072 ? small : bits < 4096 ? middle : large;
    }

    /** Read once. */
    private static final class Left {
        /** A program that asks first may have fewer permissions than this jar. */
        @SuppressWarnings("removal")
        static final Set<String> NAMES =
            read(AccessController.doPrivileged((PrivilegedAction<String>) () -> Security.getProperty(LEFT)));

        private static Set<String> read(String text) {
            return text == null ? Set.of() : new HashSet<>(Arrays.asList(text.trim().toLowerCase(Locale.ROOT).split("[\\s,]+")));
        }
    }
}
