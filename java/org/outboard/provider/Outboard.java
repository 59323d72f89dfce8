package org.outboard.provider;

import java.security.Provider;
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
        offer("KeyStore", NAME, ServiceStore::new);
    }

    /** Says on the terminal whether the provider serves in this Java, and what; ends with status 1 where it does not. */
    public static void main(String[] arguments) {
        Outboard provider = new Outboard();
        System.out.println(provider.getInfo());
        provider.getServices().stream()
            .map(service -> service.getType() + " " + service.getAlgorithm())
            .sorted()
            .forEach(System.out::println);
        System.exit(Library.isLoaded() ? 0 : 1);
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
