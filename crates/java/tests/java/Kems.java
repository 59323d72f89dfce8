import java.security.*;
import java.security.spec.*;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.DecapsulateException;
import javax.crypto.KEM;
import javax.crypto.SecretKey;

/**
 * ML-KEM by Outboard: with itself, and with the JDK's own where there is one (Java 24 and later). Prints "right" at its end.
 *
 * With an argument, a private key's encoding in hexadecimal, and a ciphertext: prints the secret.
 */
public class Kems {
    static final Provider OUTBOARD = new org.outboard.provider.Outboard();
    static final Provider JDK = Security.getProvider("SunJCE");
    static final boolean HAS_JDK = JDK.getService("KEM", "ML-KEM") != null;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 2) {
            PrivateKey key = factory("ML-KEM").generatePrivate(new PKCS8EncodedKeySpec(HexFormat.of().parseHex(arguments[0])));
            KEM.Decapsulator decapsulator = KEM.getInstance("ML-KEM", OUTBOARD).newDecapsulator(key);
            System.out.println(HexFormat.of().formatHex(decapsulator.decapsulate(HexFormat.of().parseHex(arguments[1])).getEncoded()));
            return;
        }
        for (String name : List.of("ML-KEM-512", "ML-KEM-768", "ML-KEM-1024")) {
            KeyPair ours = generator(name, OUTBOARD).generateKeyPair();
            agree(name, ours, OUTBOARD, OUTBOARD);
            shapes(name, ours);
            refusals(name, ours);
            if (HAS_JDK) {
                KeyPair theirs = generator(name, JDK).generateKeyPair();
                for (KeyPair pair : List.of(ours, theirs)) {
                    agree(name, pair, OUTBOARD, JDK);
                    agree(name, pair, JDK, OUTBOARD);
                }
            }
        }
        check(generator("ML-KEM", OUTBOARD).generateKeyPair().getPublic().getEncoded().length == 1206, "ML-KEM is ML-KEM-768");
        KeyPairGenerator named = generator("ML-KEM", OUTBOARD);
        named.initialize(new NamedParameterSpec("ML-KEM-1024"));
        check(named.generateKeyPair().getPublic().getEncoded().length == 1590, "ML-KEM-1024");
        refused(() -> named.initialize(new NamedParameterSpec("X25519")), InvalidAlgorithmParameterException.class);
        refused(() -> generator("ML-KEM-512", OUTBOARD).initialize(new NamedParameterSpec("ML-KEM-768")),
            InvalidAlgorithmParameterException.class);
        System.out.println("right");
    }

    static KeyPairGenerator generator(String name, Provider provider) throws Exception {
        return KeyPairGenerator.getInstance(name, provider);
    }

    /** Java's own where there is one. */
    static KeyFactory factory(String name) throws Exception {
        return KeyFactory.getInstance(name, HAS_JDK ? JDK : OUTBOARD);
    }

    static void agree(String name, KeyPair pair, Provider sender, Provider receiver) throws Exception {
        for (String kem : List.of(name, "ML-KEM")) {
            KEM.Encapsulated made = KEM.getInstance(kem, sender).newEncapsulator(pair.getPublic()).encapsulate();
            KEM.Decapsulator decapsulator = KEM.getInstance(kem, receiver).newDecapsulator(pair.getPrivate());
            check(made.key().equals(decapsulator.decapsulate(made.encapsulation())), name + " agrees");
            check(made.params() == null && decapsulator.secretSize() == 32
                && decapsulator.encapsulationSize() == made.encapsulation().length, name + " sizes");
            SecretKey part = decapsulator.decapsulate(made.encapsulation(), 8, 24, "AES");
            check(part.getAlgorithm().equals("AES")
                && Arrays.equals(part.getEncoded(), Arrays.copyOfRange(made.key().getEncoded(), 8, 24)), name + " a part");
            byte[] changed = made.encapsulation();
            changed[0] ^= 1;
            check(!made.key().equals(decapsulator.decapsulate(changed)), name + " another ciphertext");
        }
    }

    /** Encodings come back, each as the same key. */
    static void shapes(String name, KeyPair pair) throws Exception {
        PublicKey half = factory(name).generatePublic(new X509EncodedKeySpec(pair.getPublic().getEncoded()));
        PrivateKey secret = factory("ML-KEM").generatePrivate(new PKCS8EncodedKeySpec(pair.getPrivate().getEncoded()));
        check(half.equals(pair.getPublic()) && half.hashCode() == pair.getPublic().hashCode(), name + " public");
        check(Arrays.equals(secret.getEncoded(), pair.getPrivate().getEncoded()), name + " private");
        check(secret.getAlgorithm().equals("ML-KEM") && secret.getFormat().equals("PKCS#8"), name + " is told");
        agree(name, new KeyPair(half, secret), OUTBOARD, OUTBOARD);
    }

    static void refusals(String name, KeyPair pair) throws Exception {
        KEM.Decapsulator decapsulator = KEM.getInstance(name, OUTBOARD).newDecapsulator(pair.getPrivate());
        for (int length : new int[] {0, 1, decapsulator.encapsulationSize() - 1, decapsulator.encapsulationSize() + 1}) {
            refused(() -> decapsulator.decapsulate(new byte[length]), DecapsulateException.class);
        }
        refused(() -> decapsulator.decapsulate(new byte[decapsulator.encapsulationSize()], 0, 33, "AES"), IndexOutOfBoundsException.class);
        String other = name.equals("ML-KEM-512") ? "ML-KEM-768" : "ML-KEM-512";
        refused(() -> KEM.getInstance(other, OUTBOARD).newEncapsulator(pair.getPublic()), InvalidKeyException.class);
        refused(() -> KEM.getInstance(other, OUTBOARD).newDecapsulator(pair.getPrivate()), InvalidKeyException.class);
        KeyPair rsa = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        refused(() -> KEM.getInstance("ML-KEM", OUTBOARD).newEncapsulator(rsa.getPublic()), InvalidKeyException.class);
        refused(() -> KEM.getInstance("ML-KEM", OUTBOARD).newDecapsulator(rsa.getPrivate()), InvalidKeyException.class);
        // Numbers that are not reduced (FIPS 203, 7.2), and a private half whose hash is another one (7.3).
        byte[] high = pair.getPublic().getEncoded();
        Arrays.fill(high, 30, 60, (byte) 0xff);
        refused(() -> KEM.getInstance(name, OUTBOARD).newEncapsulator(raw(high, "X.509")), InvalidKeyException.class);
        byte[] changed = pair.getPrivate().getEncoded();
        changed[changed.length - 40] ^= 1;
        refused(() -> KEM.getInstance(name, OUTBOARD).newDecapsulator((PrivateKey) raw(changed, "PKCS#8")), InvalidKeyException.class);
    }

    /** A key of a provider that checks nothing. */
    interface Both extends PublicKey, PrivateKey {
        long serialVersionUID = 1;
    }

    static Both raw(byte[] encoded, String format) {
        return new Both() {
            @Override
            public String getAlgorithm() {
                return "ML-KEM";
            }

            @Override
            public String getFormat() {
                return format;
            }

            @Override
            public byte[] getEncoded() {
                return encoded.clone();
            }
        };
    }

    interface Call {
        void now() throws Exception;
    }

    static void refused(Call call, Class<? extends Exception> wanted) throws Exception {
        try {
            call.now();
        } catch (Exception refused) {
            check(wanted.isInstance(refused), refused + " instead of " + wanted);
            return;
        }
        throw new IllegalStateException("no " + wanted);
    }

    static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new IllegalStateException(what);
        }
    }
}
