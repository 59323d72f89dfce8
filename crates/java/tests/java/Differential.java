import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigInteger;
import java.security.*;
import java.security.interfaces.*;
import java.security.spec.*;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.KeyAgreement;

/** Makes each call with Outboard and with Java's own provider, and names every difference: a result, or the class of an exception. */
public class Differential {
    static final Provider OUTBOARD = new org.outboard.provider.Outboard();
    static final byte[] MESSAGE = "a message".getBytes();
    static int calls;
    static int differences;

    interface Call {
        Object run(Provider provider) throws Exception;
    }

    static Provider stock(String type, String algorithm) {
        for (Provider provider : Security.getProviders()) {
            if (!provider.getName().equals("Outboard") && provider.getService(type, algorithm) != null) {
                return provider;
            }
        }
        throw new IllegalStateException(algorithm);
    }

    static String outcome(Call call, Provider provider) {
        try {
            return String.valueOf(call.run(provider));
        } catch (Exception thrown) {
            return thrown.getClass().getName();
        }
    }

    static void compare(String what, String type, String algorithm, Call call) {
        String ours = outcome(call, OUTBOARD);
        String theirs = outcome(call, stock(type, algorithm));
        calls++;
        if (!ours.equals(theirs)) {
            differences++;
            System.out.println(what + ": Outboard " + ours + ", Java " + theirs);
        }
    }

    static final Map<String, KeyPair> KEYS = new LinkedHashMap<>();

    static KeyPair pair(String algorithm, AlgorithmParameterSpec spec, int bits) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, stock("KeyPairGenerator", algorithm));
        if (spec != null) {
            generator.initialize(spec);
        } else if (bits > 0) {
            generator.initialize(bits);
        }
        return generator.generateKeyPair();
    }

    static void makeKeys() throws Exception {
        for (int bits : new int[] {1024, 2048, 2049, 3072, 4096}) {
            KEYS.put("rsa-" + bits, pair("RSA", null, bits));
        }
        KEYS.put("rsa-pss", pair("RSASSA-PSS", null, 2048));
        PSSParameterSpec fixed = new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1);
        KEYS.put("rsa-pss-fixed", pair("RSASSA-PSS", new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4, fixed), 0));
        for (String curve : new String[] {"secp256r1", "secp384r1", "secp521r1"}) {
            KEYS.put(curve, pair("EC", new ECGenParameterSpec(curve), 0));
        }
        for (String name : new String[] {"Ed25519", "Ed448", "X25519", "X448"}) {
            KEYS.put(name, pair(name, null, 0));
        }
        for (String name : new String[] {"EC", "X25519"}) {
            KEYS.put("Outboard's " + name, KeyPairGenerator.getInstance(name, OUTBOARD).generateKeyPair());
        }
        KEYS.put("dsa", pair("DSA", null, 2048));
        // Numbers alone: no CRT, and another class than Java's own.
        RSAPrivateCrtKey crt = (RSAPrivateCrtKey) KEYS.get("rsa-2048").getPrivate();
        KeyFactory rsa = KeyFactory.getInstance("RSA");
        PrivateKey bare = rsa.generatePrivate(new RSAPrivateKeySpec(crt.getModulus(), crt.getPrivateExponent()));
        KEYS.put("rsa-bare", new KeyPair(KEYS.get("rsa-2048").getPublic(), bare));
        // Numbers that do not belong together: nothing may be signed.
        PrivateKey wrong = rsa.generatePrivate(new RSAPrivateCrtKeySpec(crt.getModulus(), crt.getPublicExponent(),
            crt.getPrivateExponent(), crt.getPrimeP(), crt.getPrimeQ(), crt.getPrimeExponentP().add(BigInteger.TWO),
            crt.getPrimeExponentQ(), crt.getCrtCoefficient()));
        KEYS.put("rsa-wrong", new KeyPair(KEYS.get("rsa-2048").getPublic(), wrong));
        RSAPublicKey half = (RSAPublicKey) KEYS.get("rsa-2048").getPublic();
        for (long exponent : new long[] {3, (1L << 34) + 1}) {
            PublicKey other = rsa.generatePublic(new RSAPublicKeySpec(half.getModulus(), BigInteger.valueOf(exponent)));
            KEYS.put("rsa-exponent-" + exponent, new KeyPair(other, bare));
        }
        ECPublicKey point = (ECPublicKey) KEYS.get("secp256r1").getPublic();
        ECPoint off = new ECPoint(point.getW().getAffineX(), point.getW().getAffineY().add(BigInteger.ONE));
        KEYS.put("off-curve", new KeyPair(new OtherEc(off, point.getParams()), KEYS.get("secp256r1").getPrivate()));
        KEYS.put("large-coordinate", new KeyPair(new OtherEc(new ECPoint(BigInteger.ONE.shiftLeft(300), BigInteger.ONE),
            point.getParams()), KEYS.get("secp256r1").getPrivate()));
        KeyFactory xdh = KeyFactory.getInstance("XDH");
        for (int small : new int[] {0, 1}) {
            PublicKey order = xdh.generatePublic(new XECPublicKeySpec(NamedParameterSpec.X25519, BigInteger.valueOf(small)));
            KEYS.put("small-order-" + small, new KeyPair(order, KEYS.get("X25519").getPrivate()));
        }
    }

    /** A public key of a class that no provider knows, as other libraries have. */
    static class OtherEc implements ECPublicKey {
        final ECPoint point;
        final ECParameterSpec parameters;

        OtherEc(ECPoint point, ECParameterSpec parameters) {
            this.point = point;
            this.parameters = parameters;
        }

        public ECPoint getW() { return point; }
        public ECParameterSpec getParams() { return parameters; }
        public String getAlgorithm() { return "EC"; }
        public String getFormat() { return null; }
        public byte[] getEncoded() { return null; }
    }

    static final List<String> SIGNATURES = List.of("SHA256withRSA", "SHA384withRSA", "SHA512withRSA", "SHA256withECDSA",
        "SHA384withECDSA", "SHA512withECDSA", "RSASSA-PSS", "Ed25519", "EdDSA");

    static final Map<String, AlgorithmParameterSpec> PARAMETERS = new LinkedHashMap<>();

    static {
        PARAMETERS.put("none", null);
        PARAMETERS.put("sha256", new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
        PARAMETERS.put("sha512", new PSSParameterSpec("SHA-512", "MGF1", MGF1ParameterSpec.SHA512, 64, 1));
        PARAMETERS.put("mixed", new PSSParameterSpec("SHA-384", "MGF1", MGF1ParameterSpec.SHA256, 0, 1));
        PARAMETERS.put("without a mask", new PSSParameterSpec("SHA-256", "MGF1", null, 20, 1));
        PARAMETERS.put("sha1", PSSParameterSpec.DEFAULT);
        PARAMETERS.put("sha512/224", new PSSParameterSpec("SHA-512/224", "MGF1", new MGF1ParameterSpec("SHA-512/224"), 28, 1));
        PARAMETERS.put("salt", new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 222, 1));
        PARAMETERS.put("long salt", new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 223, 1));
        PARAMETERS.put("trailer", new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 2));
        PARAMETERS.put("digest", new PSSParameterSpec("NONSENSE", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
        PARAMETERS.put("mgf", new PSSParameterSpec("SHA-256", "MGF2", MGF1ParameterSpec.SHA256, 32, 1));
        PARAMETERS.put("prehash", new EdDSAParameterSpec(true));
        PARAMETERS.put("context", new EdDSAParameterSpec(false, new byte[] {1}));
        PARAMETERS.put("pure", new EdDSAParameterSpec(false));
        PARAMETERS.put("curve", new ECGenParameterSpec("secp256r1"));
    }

    static void set(Signature signature, AlgorithmParameterSpec parameters) throws Exception {
        if (parameters != null) {
            signature.setParameter(parameters);
        }
    }

    /** Signs, and has Java's own provider judge that. */
    static Object sign(String algorithm, Provider provider, KeyPair key, AlgorithmParameterSpec parameters, boolean first)
            throws Exception {
        Signature signer = Signature.getInstance(algorithm, provider);
        if (first) {
            set(signer, parameters);
        }
        signer.initSign(key == null ? null : key.getPrivate());
        if (!first) {
            set(signer, parameters);
        }
        signer.update(MESSAGE[0]);
        signer.update(MESSAGE, 1, MESSAGE.length - 1);
        byte[] signature = signer.sign();
        Signature judge = Signature.getInstance(algorithm, stock("Signature", algorithm));
        set(judge, parameters);
        judge.initVerify(key.getPublic());
        judge.update(MESSAGE);
        return judge.verify(signature);
    }

    static void signatures() throws Exception {
        for (String algorithm : SIGNATURES) {
            for (Map.Entry<String, KeyPair> key : KEYS.entrySet()) {
                for (Map.Entry<String, AlgorithmParameterSpec> parameters : PARAMETERS.entrySet()) {
                    for (boolean first : new boolean[] {true, false}) {
                        String what = algorithm + " " + key.getKey() + " " + parameters.getKey() + (first ? " first" : "");
                        compare("sign " + what, "Signature", algorithm,
                            provider -> sign(algorithm, provider, key.getValue(), parameters.getValue(), first));
                    }
                }
                verifications(algorithm, key.getKey(), key.getValue());
            }
            compare("sign " + algorithm + " null", "Signature", algorithm, provider -> sign(algorithm, provider, null, null, true));
            states(algorithm);
        }
    }

    static AlgorithmParameterSpec needed(String algorithm) {
        return algorithm.equals("RSASSA-PSS") ? PARAMETERS.get("sha256") : null;
    }

    static void verifications(String algorithm, String name, KeyPair key) throws Exception {
        byte[] right = new byte[64];
        try {
            Signature signer = Signature.getInstance(algorithm, stock("Signature", algorithm));
            set(signer, needed(algorithm));
            signer.initSign(key.getPrivate());
            signer.update(MESSAGE);
            right = signer.sign();
        } catch (GeneralSecurityException unfit) {
            // Whatever it is, it is judged alike.
        }
        List<byte[]> signatures = new ArrayList<>(List.of(right, new byte[0], new byte[right.length]));
        signatures.add(Arrays.copyOf(right, right.length - 1));
        signatures.add(Arrays.copyOf(right, right.length + 1));
        byte[] high = new byte[right.length];
        Arrays.fill(high, (byte) 0xff);
        signatures.add(high);
        for (int at : new int[] {0, 1, 4, right.length / 2, right.length - 1}) {
            byte[] changed = right.clone();
            changed[at] ^= 1;
            signatures.add(changed);
        }
        signatures.add(null);
        for (byte[] signature : signatures) {
            compare("verify " + algorithm + " " + name, "Signature", algorithm, provider -> {
                Signature judge = Signature.getInstance(algorithm, provider);
                set(judge, needed(algorithm));
                judge.initVerify(key.getPublic());
                judge.update(MESSAGE);
                return judge.verify(signature);
            });
        }
    }

    static void states(String algorithm) {
        KeyPair own = KEYS.get(algorithm.endsWith("ECDSA") ? "secp256r1" : algorithm.startsWith("Ed") ? "Ed25519" : "rsa-2048");
        KeyPair small = KEYS.get(algorithm.endsWith("ECDSA") ? "secp384r1" : algorithm.startsWith("Ed") ? "Ed448" : "rsa-1024");
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("sign at once", p -> Signature.getInstance(algorithm, p).sign());
        calls.put("update at once", p -> {
            Signature.getInstance(algorithm, p).update(MESSAGE);
            return null;
        });
        calls.put("parameters", p -> Signature.getInstance(algorithm, p).getParameters());
        calls.put("null parameters", p -> {
            Signature.getInstance(algorithm, p).setParameter((AlgorithmParameterSpec) null);
            return null;
        });
        calls.put("parameters told", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            set(one, needed(algorithm));
            one.initSign(own.getPrivate());
            AlgorithmParameters parameters = one.getParameters();
            return parameters == null ? null : Arrays.toString(parameters.getEncoded());
        });
        calls.put("empty, twice", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            set(one, needed(algorithm));
            one.initSign(own.getPrivate());
            return one.sign().length > 0 && one.sign().length > 0;
        });
        calls.put("verify while signing", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            set(one, needed(algorithm));
            one.initSign(own.getPrivate());
            return one.verify(new byte[256]);
        });
        calls.put("no room", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            set(one, needed(algorithm));
            one.initSign(own.getPrivate());
            return one.sign(new byte[10], 0, 10);
        });
        calls.put("one key after another", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            Signature judge = Signature.getInstance(algorithm, p);
            String said = "";
            for (KeyPair pair : List.of(own, small, own)) {
                if (algorithm.equals("Ed25519") && pair == small) {
                    continue;
                }
                set(one, needed(algorithm));
                one.initSign(pair.getPrivate());
                one.update(MESSAGE);
                byte[] signature = one.sign();
                set(judge, needed(algorithm));
                judge.initVerify(pair.getPublic());
                judge.update(MESSAGE);
                said += judge.verify(signature);
            }
            return said;
        });
        calls.put("begun anew", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            set(one, needed(algorithm));
            one.initSign(own.getPrivate());
            one.update(new byte[100]);
            one.initSign(own.getPrivate());
            one.update(MESSAGE);
            byte[] signature = one.sign();
            one.initVerify(own.getPublic());
            one.update(MESSAGE);
            return one.verify(signature);
        });
        calls.put("parameters in between", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            set(one, needed(algorithm));
            one.initSign(own.getPrivate());
            one.update(MESSAGE);
            one.setParameter(needed(algorithm));
            return one.sign().length > 0;
        });
        calls.put("other parameters, then ours", p -> {
            Signature one = Signature.getInstance(algorithm, p);
            String said = "";
            for (String name : List.of("sha1", "sha256", "trailer", "sha512", "prehash", "pure")) {
                try {
                    one.setParameter(PARAMETERS.get(name));
                    said += name;
                } catch (InvalidAlgorithmParameterException refused) {
                    said += "!";
                }
                try {
                    one.initSign(own.getPrivate());
                    one.update(MESSAGE);
                    said += one.sign().length > 0;
                } catch (GeneralSecurityException refused) {
                    said += refused.getClass();
                }
            }
            return said;
        });
        calls.forEach((what, call) -> compare(what + " " + algorithm, "Signature", algorithm, call));
    }

    static void agreements() {
        for (String algorithm : List.of("XDH", "X25519", "ECDH")) {
            for (Map.Entry<String, KeyPair> own : KEYS.entrySet()) {
                for (Map.Entry<String, KeyPair> peer : KEYS.entrySet()) {
                    String what = algorithm + " " + own.getKey() + " " + peer.getKey();
                    compare("agree " + what, "KeyAgreement", algorithm, provider -> {
                        KeyAgreement agreement = KeyAgreement.getInstance(algorithm, provider);
                        agreement.init(own.getValue().getPrivate());
                        agreement.doPhase(peer.getValue().getPublic(), true);
                        return Arrays.toString(agreement.generateSecret());
                    });
                }
            }
            agreementStates(algorithm, KEYS.get(algorithm.equals("ECDH") ? "secp256r1" : "X25519"));
        }
    }

    static KeyAgreement agreed(String algorithm, Provider provider, KeyPair key) throws Exception {
        KeyAgreement agreement = KeyAgreement.getInstance(algorithm, provider);
        agreement.init(key.getPrivate());
        agreement.doPhase(key.getPublic(), true);
        return agreement;
    }

    static void agreementStates(String algorithm, KeyPair key) {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("nothing", p -> KeyAgreement.getInstance(algorithm, p).generateSecret());
        calls.put("no key", p -> {
            KeyAgreement.getInstance(algorithm, p).init((Key) null);
            return null;
        });
        calls.put("a phase without a key", p -> KeyAgreement.getInstance(algorithm, p).doPhase(key.getPublic(), true));
        calls.put("no phase", p -> {
            KeyAgreement agreement = KeyAgreement.getInstance(algorithm, p);
            agreement.init(key.getPrivate());
            return agreement.generateSecret();
        });
        calls.put("no peer", p -> {
            KeyAgreement agreement = KeyAgreement.getInstance(algorithm, p);
            agreement.init(key.getPrivate());
            return agreement.doPhase(null, true);
        });
        calls.put("not the last phase", p -> {
            KeyAgreement agreement = KeyAgreement.getInstance(algorithm, p);
            agreement.init(key.getPrivate());
            return agreement.doPhase(key.getPublic(), false);
        });
        calls.put("two phases", p -> agreed(algorithm, p, key).doPhase(key.getPublic(), true));
        calls.put("two secrets", p -> {
            KeyAgreement agreement = agreed(algorithm, p, key);
            agreement.generateSecret();
            return agreement.generateSecret();
        });
        calls.put("again", p -> {
            KeyAgreement agreement = agreed(algorithm, p, key);
            byte[] first = agreement.generateSecret();
            agreement.doPhase(key.getPublic(), true);
            return Arrays.equals(first, agreement.generateSecret());
        });
        calls.put("no room, then some", p -> {
            KeyAgreement agreement = agreed(algorithm, p, key);
            byte[] place = new byte[40];
            try {
                agreement.generateSecret(place, 9);
                return null;
            } catch (javax.crypto.ShortBufferException small) {
                return agreement.generateSecret(place, 8) + Arrays.toString(place);
            }
        });
        for (String kind : Arrays.asList("TlsPremasterSecret", "tlsPremasterSecret", "AES", "Generic", null)) {
            calls.put("kind " + kind, p -> Arrays.toString(agreed(algorithm, p, key).generateSecret(kind).getEncoded()));
        }
        for (AlgorithmParameterSpec parameters : List.of(NamedParameterSpec.X25519, NamedParameterSpec.X448,
                new ECGenParameterSpec("secp256r1"))) {
            calls.put("parameters " + parameters, p -> {
                KeyAgreement agreement = KeyAgreement.getInstance(algorithm, p);
                agreement.init(key.getPrivate(), parameters);
                agreement.doPhase(key.getPublic(), true);
                return Arrays.toString(agreement.generateSecret());
            });
        }
        calls.forEach((what, call) -> compare(what + " " + algorithm, "KeyAgreement", algorithm, call));
    }

    /** What is the same of each pair of a kind. */
    static Object shape(KeyPair pair) throws Exception {
        PrivateKey key = pair.getPrivate();
        KeyFactory factory = KeyFactory.getInstance(key.getAlgorithm(), stock("KeyFactory", key.getAlgorithm()));
        PrivateKey read = factory.generatePrivate(new PKCS8EncodedKeySpec(key.getEncoded()));
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        new ObjectOutputStream(written).writeObject(key);
        Object again = new ObjectInputStream(new ByteArrayInputStream(written.toByteArray())).readObject();
        boolean isSame = key.equals(read) && read.equals(again) && key.hashCode() == read.hashCode();
        String algorithm = key instanceof ECKey ? "ECDH" : "XDH";
        KeyAgreement agreement = KeyAgreement.getInstance(algorithm, stock("KeyAgreement", algorithm));
        // A provider that does not know the class uses it all the same.
        agreement.init(key);
        agreement.doPhase(pair.getPublic(), true);
        byte[] secret = agreement.generateSecret();
        agreement.init(read);
        agreement.doPhase(pair.getPublic(), true);
        isSame &= Arrays.equals(secret, agreement.generateSecret());
        return isSame + " " + key.getAlgorithm() + " " + key.getFormat() + " " + key.getEncoded().length + " "
            + pair.getPublic().getClass() + " " + pair.getPublic().getEncoded().length;
    }

    static void generators() {
        for (String algorithm : List.of("XDH", "X25519", "EC")) {
            compare("generate " + algorithm, "KeyPairGenerator", algorithm,
                provider -> shape(KeyPairGenerator.getInstance(algorithm, provider).generateKeyPair()));
            for (int bits : new int[] {-1, 0, 100, 255, 256, 384, 448, 521}) {
                compare("generate " + algorithm + " " + bits, "KeyPairGenerator", algorithm, provider -> {
                    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, provider);
                    generator.initialize(bits);
                    return shape(generator.generateKeyPair());
                });
            }
            List<AlgorithmParameterSpec> specs = new ArrayList<>(List.of(NamedParameterSpec.X25519, NamedParameterSpec.X448,
                NamedParameterSpec.ED25519, ((ECKey) KEYS.get("secp384r1").getPublic()).getParams(), PSSParameterSpec.DEFAULT));
            specs.add(null);
            for (String name : List.of("secp256r1", "SECP256R1", "secp521r1", "X25519", "1.2.840.10045.3.1.7", "NIST P-256",
                    "secp256k1", "nonsense")) {
                specs.add(new ECGenParameterSpec(name));
                specs.add(new NamedParameterSpec(name));
            }
            for (AlgorithmParameterSpec spec : specs) {
                compare("generate " + algorithm + " " + spec, "KeyPairGenerator", algorithm, provider -> {
                    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, provider);
                    generator.initialize(spec);
                    return shape(generator.generateKeyPair());
                });
            }
        }
    }

    /** A program that names the provider gets keys and parameters as from Java's own, and by the same names. */
    static void named() throws Exception {
        for (String algorithm : List.of("EC", "XDH", "X25519", "EdDSA", "Ed25519", "RSA", "RSASSA-PSS", "EllipticCurve", "1.3.101.110")) {
            for (Map.Entry<String, KeyPair> key : KEYS.entrySet()) {
                conversions(algorithm, key.getKey(), key.getValue());
            }
            for (Key none : new Key[] {null, new javax.crypto.spec.SecretKeySpec(new byte[16], "AES")}) {
                compare("translate " + algorithm + " " + none, "KeyFactory", algorithm,
                    provider -> KeyFactory.getInstance(algorithm, provider).translateKey(none));
            }
        }
        for (String algorithm : List.of("EC", "RSASSA-PSS", "1.2.840.10045.2.1")) {
            List<AlgorithmParameterSpec> specs = new ArrayList<>(PARAMETERS.values());
            specs.add(((ECKey) KEYS.get("secp384r1").getPublic()).getParams());
            for (AlgorithmParameterSpec spec : specs) {
                compare("parameters " + algorithm + " " + spec, "AlgorithmParameters", algorithm, provider -> {
                    AlgorithmParameters one = AlgorithmParameters.getInstance(algorithm, provider);
                    one.init(spec);
                    AlgorithmParameters other = AlgorithmParameters.getInstance(algorithm, provider);
                    other.init(one.getEncoded());
                    Class<? extends AlgorithmParameterSpec> wanted = algorithm.startsWith("R") ? PSSParameterSpec.class : ECParameterSpec.class;
                    AlgorithmParameterSpec numbers = other.getParameterSpec(wanted);
                    return numbers.getClass() + other.toString() + Arrays.toString(one.getEncoded("ASN.1"));
                });
            }
            compare("nothing " + algorithm, "AlgorithmParameters", algorithm,
                provider -> AlgorithmParameters.getInstance(algorithm, provider).getEncoded());
        }
        for (String algorithm : List.of("RSA", "RSASSA-PSS", "Ed25519", "EdDSA")) {
            for (int bits : new int[] {-1, 255, 256, 448, 1024, 2048}) {
                compare("generate " + algorithm + " " + bits, "KeyPairGenerator", algorithm, provider -> {
                    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, provider);
                    if (bits > 0) {
                        generator.initialize(bits);
                    }
                    KeyPair pair = generator.generateKeyPair();
                    String signing = algorithm.equals("RSA") ? "SHA256withRSA" : algorithm;
                    Object isRight = sign(signing, provider, pair, needed(signing), true);
                    return isRight + " " + pair.getPrivate().getClass() + " " + pair.getPublic().getEncoded().length;
                });
            }
        }
        for (Provider.Service ours : OUTBOARD.getServices()) {
            String type = ours.getType();
            for (Provider provider : Security.getProviders()) {
                String prefix = "Alg.Alias." + type + ".";
                provider.forEach((alias, algorithm) -> {
                    String name = alias.toString();
                    if (algorithm.equals(ours.getAlgorithm()) && name.startsWith(prefix) && !provider.getName().equals("SunPKCS11")) {
                        name = name.substring(prefix.length());
                        calls++;
                        if (OUTBOARD.getService(type, name) != ours) {
                            differences++;
                            System.out.println(type + " " + algorithm + " is not found as " + name);
                        }
                    }
                });
            }
        }
    }

    static void conversions(String algorithm, String name, KeyPair pair) throws Exception {
        for (Key key : new Key[] {pair.getPublic(), pair.getPrivate()}) {
            String what = algorithm + " " + name + " " + (key == pair.getPublic() ? "public" : "private");
            compare("translate " + what, "KeyFactory", algorithm, provider -> told(KeyFactory.getInstance(algorithm, provider).translateKey(key)));
            if (key.getEncoded() != null) {
                compare("read " + what, "KeyFactory", algorithm, provider -> {
                    KeyFactory factory = KeyFactory.getInstance(algorithm, provider);
                    return told(key instanceof PublicKey ? factory.generatePublic(new X509EncodedKeySpec(key.getEncoded()))
                        : factory.generatePrivate(new PKCS8EncodedKeySpec(key.getEncoded())));
                });
            }
            for (Class<? extends KeySpec> spec : List.of(X509EncodedKeySpec.class, PKCS8EncodedKeySpec.class, ECPublicKeySpec.class,
                    ECPrivateKeySpec.class, XECPublicKeySpec.class, XECPrivateKeySpec.class, EdECPublicKeySpec.class,
                    EdECPrivateKeySpec.class, RSAPublicKeySpec.class, RSAPrivateKeySpec.class, RSAPrivateCrtKeySpec.class)) {
                compare(spec + " " + what, "KeyFactory", algorithm, provider -> {
                    KeyFactory factory = KeyFactory.getInstance(algorithm, provider);
                    KeySpec made = factory.getKeySpec(key, spec);
                    return told(key instanceof PublicKey ? factory.generatePublic(made) : factory.generatePrivate(made));
                });
            }
        }
    }

    static String told(Key key) {
        return key.getClass() + " " + key.getAlgorithm() + Arrays.toString(key.getEncoded());
    }

    public static void main(String[] arguments) throws Exception {
        makeKeys();
        named();
        signatures();
        agreements();
        generators();
        System.out.println(calls + " calls, " + differences + " differences");
    }
}
