package org.outboard.provider;

import java.security.GeneralSecurityException;
import java.security.Provider;
import java.security.ProviderException;
import java.util.List;
import java.util.function.Supplier;

/**
 * The provider "Outboard".
 *
 * <pre>
 * JCA ──▶ RsaSignature, PssSignature, …  ──▶ NativeKey ──▶ Native ──▶ the engine, or the card service
 *         Agreement, PairGenerator                │
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
        offer("KeyPairGenerator", "EC", () -> new PairGenerator("EC", null));
        offer("KeyAgreement", "ECDH", () -> new Agreement("ECDH"));
        for (String name : List.of("Ed25519", "EdDSA")) {
            offer("Signature", name, () -> new EdSignature(name));
        }
        for (String name : List.of("X25519", "XDH")) {
            offer("KeyPairGenerator", name, () -> new PairGenerator(name, Group.X25519));
            offer("KeyAgreement", name, () -> new Agreement(name));
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

    private static Object kem(KemSet only) {
        try {
            return Class.forName(KEM_CLASS).getDeclaredConstructor(KemSet.class).newInstance(only);
        } catch (ReflectiveOperationException impossible) {
            throw new ProviderException(impossible);
        }
    }

    private void offerKem(String name, KemSet only) {
        offer("KEM", name, () -> kem(only));
        offer("KeyPairGenerator", name, () -> new KemPairs(only));
        if (!HAS_ML_KEM) {
            offer("KeyFactory", name, () -> new KemFactory(only));
        }
    }

    private void offer(String type, String algorithm, Supplier<Object> maker) {
        putService(new Offer(this, type, algorithm, maker));
    }

    /** A service whose objects are made without reflection. */
    private static final class Offer extends Service {
        private final Supplier<Object> maker;

        Offer(Provider provider, String type, String algorithm, Supplier<Object> maker) {
            super(provider, type, algorithm, Outboard.class.getName(), null, null);
            this.maker = maker;
        }

        @Override
        public Object newInstance(Object parameter) {
            return maker.get();
        }
    }
}
