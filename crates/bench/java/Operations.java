import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PSSParameterSpec;
import javax.crypto.KeyAgreement;

/** Single operations, each with all calls that a handshake makes for it: it gets a new object each time. */
final class Operations {
    private Operations() {}

    /** Bytes: what TLS 1.3 has signed, with SHA-256. */
    private static final byte[] MESSAGE = new byte[130];

    /** A signature as TLS 1.3 wants it. */
    static Caller.Operation signature(Identity identity) throws Exception {
        PrivateKey key = identity.key();
        switch (identity.name) {
            case "P-256":
                return () -> sign("SHA256withECDSA", null, key);
            case "P-384":
                return () -> sign("SHA384withECDSA", null, key);
            default:
                PSSParameterSpec pss = new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1);
                return () -> sign("RSASSA-PSS", pss, key);
        }
    }

    private static void sign(String algorithm, AlgorithmParameterSpec parameters, PrivateKey key) throws Exception {
        Signature signature = Signature.getInstance(algorithm);
        if (parameters != null) {
            signature.setParameter(parameters);
        }
        signature.initSign(key);
        signature.update(MESSAGE);
        signature.sign();
    }

    /** A key agreement between two pairs that are made once. */
    static Caller.Operation agreement(String curve) throws Exception {
        KeyPair ours = pair(curve);
        KeyPair theirs = pair(curve);
        String algorithm = isMontgomery(curve) ? "XDH" : "ECDH";
        return () -> {
            KeyAgreement agreement = KeyAgreement.getInstance(algorithm);
            agreement.init(ours.getPrivate());
            agreement.doPhase(theirs.getPublic(), true);
            agreement.generateSecret();
        };
    }

    /** A new pair of keys. */
    static Caller.Operation generation(String curve) {
        return () -> pair(curve);
    }

    private static KeyPair pair(String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(isMontgomery(curve) ? "XDH" : "EC");
        generator.initialize(isMontgomery(curve) ? NamedParameterSpec.X25519 : new ECGenParameterSpec("secp256r1"));
        return generator.generateKeyPair();
    }

    private static boolean isMontgomery(String curve) {
        return curve.equals("X25519");
    }
}
