package org.outboard.provider;

import java.security.GeneralSecurityException;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.ProviderException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The provider "Outboard".
 *
 * <pre>
 * JCA ──▶ RsaSignature, PssSignature, …  ──▶ NativeKey ──▶ Native ──▶ the engine, or the card service
 *         Agreement, PairGenerator                │
 *         Factory, Parameters                     │
 *              └─ what Outboard does not serve ───┴──▶ Stock: the next provider in Java's list
 * </pre>
 *
 * Where its library cannot be loaded, the provider is there and offers nothing: programs go on without it.
 */
public final class Outboard extends Provider {
    static final String NAME = "Outboard";
    /** Whether this Java has keys of ML-KEM of its own. */
    static final boolean HAS_ML_KEM = Runtime.version().feature() >= 24;
    /** By its name: it is the only class that needs that interface. */
    private static final String KEM_CLASS = "org.outboard.provider.Kem";
    private static final long serialVersionUID = 1;

    /** The provider of a process that reads the system properties {@code outboard.settings} and {@code outboard.library}. */
    public Outboard() {
        super(NAME, Library.version(), Library.state());
        if (!Library.isLoaded()) {
            return;
        }
        for (Digest digest : Digest.values()) {
            String rsa = digest.prefix + "withRSA";
            String ecdsa = digest.prefix + "withECDSA";
            offer("Signature", rsa, () -> new RsaSignature(rsa, digest));
            offer("Signature", ecdsa, () -> new EcSignature(ecdsa, digest));
        }
        offer("Signature", "RSASSA-PSS", PssSignature::new);
        offer("KeyAgreement", "ECDH", () -> new Agreement("ECDH"));
        for (String name : List.of("Ed25519", "EdDSA")) {
            offer("Signature", name, () -> new EdSignature(name));
        }
        for (String name : List.of("X25519", "XDH")) {
            offer("KeyAgreement", name, () -> new Agreement(name));
        }
        for (String name : List.of("EC", "X25519", "XDH", "Ed25519", "EdDSA", "RSA", "RSASSA-PSS")) {
            offer("KeyPairGenerator", name, () -> new PairGenerator(name, name.startsWith("X") ? Group.X25519 : null));
            offer("KeyFactory", name, () -> new Factory(name));
        }
        for (String name : List.of("EC", "RSASSA-PSS")) {
            offer("AlgorithmParameters", name, () -> new Parameters(name));
        }
        if (hasKems()) {
            offerKem(KemSet.FAMILY, null);
            for (KemSet set : KemSet.values()) {
                offerKem(set.standardName, set);
            }
        }
        offer("KeyStore", NAME, ServiceStore::new);
    }

    /**
     * Says on the terminal whether the provider serves in this Java, and what; ends with status 1 where it does not.
     *
     * {@code measure SECONDS}: says what Outboard does faster than the JDK. {@code try}: says what programs get. The command
     * 'outboard java --provider' asks so.
     */
    public static void main(String[] arguments) throws GeneralSecurityException {
        Outboard provider = new Outboard();
        System.out.println(provider.getInfo());
        if (Library.isLoaded() && arguments.length == 2 && arguments[0].equals("measure")) {
            Measurement.print(provider, Double.parseDouble(arguments[1]));
            return;
        }
        if (Library.isLoaded() && arguments.length == 1 && arguments[0].equals("try")) {
            Trial.print();
            return;
        }
        provider.getServices().stream()
            .map(service -> service.getType() + " " + service.getAlgorithm())
            .sorted()
            .forEach(System.out::println);
        System.exit(Library.isLoaded() ? 0 : 1);
    }

    /** Whether this Java has an interface for KEMs, and the one that compiled the jar had. */
    private static boolean hasKems() {
        try {
            return Class.forName(KEM_CLASS, false, Outboard.class.getClassLoader()) != null;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }

    /** Whether this Java has ML-KEM of its own, which a program could use as well. */
    static boolean comparesKems() {
        return HAS_ML_KEM && hasKems();
    }

    /** A {@link Kem}. */
    static Object kem(KemSet only) {
        try {
            return Class.forName(KEM_CLASS).getDeclaredConstructor(KemSet.class).newInstance(only);
        } catch (ReflectiveOperationException impossible) {
            throw new ProviderException(impossible);
        }
    }

    private void offerKem(String name, KemSet only) {
        offer("KEM", name, () -> kem(only));
        offer("KeyPairGenerator", name, () -> new KemPairs(only));
        offer("KeyFactory", name, () -> HAS_ML_KEM ? new Factory(name) : new KemFactory(only));
    }

    private void offer(String type, String algorithm, Supplier<Object> maker) {
        putService(new Offer(this, type, algorithm, maker));
    }

    /** A service whose objects are made without reflection. */
    private static final class Offer extends Service {
        private static final Map<String, List<String>> ALIASES = new HashMap<>();

        static {
            for (Digest digest : Digest.values()) {
                ALIASES.put(digest.prefix + "withRSA", List.of("1.2.840.113549.1.1." + (11 + digest.ordinal())));
                ALIASES.put(digest.prefix + "withECDSA", List.of("1.2.840.10045.4.3." + (2 + digest.ordinal())));
            }
            for (KemSet set : KemSet.values()) {
                ALIASES.put(set.standardName, List.of("2.16.840.1.101.3.4.4." + (1 + set.ordinal())));
            }
            ALIASES.put("EC", List.of("1.2.840.10045.2.1", "EllipticCurve"));
            ALIASES.put("RSA", List.of("1.2.840.113549.1.1.1", "1.2.840.113549.1.1"));
            ALIASES.put("RSASSA-PSS", List.of("1.2.840.113549.1.1.10", "PSS"));
            ALIASES.put("X25519", List.of("1.3.101.110"));
            ALIASES.put("Ed25519", List.of("1.3.101.112"));
        }

        private final Supplier<Object> maker;

        Offer(Provider provider, String type, String algorithm, Supplier<Object> maker) {
            super(provider, type, algorithm, Outboard.class.getName(), aliases(algorithm), null);
            this.maker = maker;
        }

        /** The other names that the JDK's own providers have for it: object identifiers, also with "OID." in front. */
        private static List<String> aliases(String algorithm) {
            List<String> aliases = new ArrayList<>(ALIASES.getOrDefault(algorithm, List.of()));
            for (String alias : List.copyOf(aliases)) {
                if (Character.isDigit(alias.charAt(0))) {
                    aliases.add("OID." + alias);
                }
            }
            return aliases;
        }

        /** Some services need the JDK's: a Java without these goes on to its next provider. */
        @Override
        public Object newInstance(Object parameter) throws NoSuchAlgorithmException {
            try {
                return maker.get();
            } catch (ProviderException missing) {
                throw new NoSuchAlgorithmException(missing.getMessage(), missing);
            }
        }
    }
}
