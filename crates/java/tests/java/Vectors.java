import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.security.*;
import java.security.spec.*;
import java.util.HexFormat;
import javax.crypto.KEM;
import javax.crypto.KeyAgreement;

/**
 * Computes what each line of the standard input asks with Outboard, and prints the answer.
 *
 * <pre>
 * verify ALGORITHM KEY(SubjectPublicKeyInfo) MESSAGE SIGNATURE [DIGEST MASK SALT]     true or false
 * agree ALGORITHM NUMBER CURVE PEER(SubjectPublicKeyInfo)                             the secret
 * decapsulate ALGORITHM KEY(PrivateKeyInfo) CIPHERTEXT                                the secret; Java's own provider is not asked
 * </pre>
 *
 * The class of an exception is an answer, too. Where Java's own provider answers something else, that follows the answer.
 */
public class Vectors {
    static final HexFormat HEX = HexFormat.of();
    static final Provider OUTBOARD = new org.outboard.provider.Outboard();

    static byte[] bytes(String hex) {
        return hex.equals("-") ? new byte[0] : HEX.parseHex(hex);
    }

    static KeyFactory factory(String algorithm) throws Exception {
        if (algorithm.contains("RSA") && !algorithm.contains("ECDSA")) {
            return KeyFactory.getInstance("RSA");
        }
        return KeyFactory.getInstance(algorithm.startsWith("Ed") ? "Ed25519" : algorithm.equals("X25519") ? "XDH" : "EC");
    }

    static String answer(String[] words, Provider provider) throws Exception {
        String algorithm = words[1];
        byte[] key = bytes(words[2]);
        switch (words[0]) {
            case "verify":
                Signature judge = Signature.getInstance(algorithm, provider);
                if (words.length > 5) {
                    judge.setParameter(new PSSParameterSpec(words[5], "MGF1", new MGF1ParameterSpec(words[6]),
                        Integer.parseInt(words[7]), 1));
                }
                judge.initVerify(factory(algorithm).generatePublic(new X509EncodedKeySpec(key)));
                judge.update(bytes(words[3]));
                return String.valueOf(judge.verify(bytes(words[4])));
            case "agree":
                KeyAgreement agreement = KeyAgreement.getInstance(algorithm, provider);
                agreement.init(algorithm.equals("X25519")
                    ? factory(algorithm).generatePrivate(new XECPrivateKeySpec(NamedParameterSpec.X25519, key))
                    : ec(words[3], key));
                agreement.doPhase(factory(algorithm).generatePublic(new X509EncodedKeySpec(bytes(words[4]))), true);
                return HEX.formatHex(agreement.generateSecret());
            case "decapsulate":
                KEM.Decapsulator decapsulator = KEM.getInstance(algorithm, provider).newDecapsulator(Kems.raw(key, "PKCS#8"));
                return HEX.formatHex(decapsulator.decapsulate(bytes(words[3])).getEncoded());
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    static PrivateKey ec(String curve, byte[] number) throws Exception {
        AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
        parameters.init(new ECGenParameterSpec(curve));
        return KeyFactory.getInstance("EC").generatePrivate(
            new ECPrivateKeySpec(new BigInteger(1, number), parameters.getParameterSpec(ECParameterSpec.class)));
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder answers = new StringBuilder();
        for (String line; (line = lines.readLine()) != null;) {
            String[] words = line.split(" ");
            boolean isEc = words[1].contains("EC") || words[1].startsWith("Ed") || words[1].startsWith("X");
            String ours = said(words, OUTBOARD);
            String theirs = words[0].equals("decapsulate") ? ours : said(words, Security.getProvider(isEc ? "SunEC" : "SunRsaSign"));
            answers.append(ours).append(ours.equals(theirs) ? "" : " " + theirs).append('\n');
        }
        System.out.print(answers);
    }

    static String said(String[] words, Provider provider) throws Exception {
        try {
            return answer(words, provider);
        } catch (GeneralSecurityException | IllegalStateException refused) {
            return refused.getClass().getSimpleName();
        }
    }
}
