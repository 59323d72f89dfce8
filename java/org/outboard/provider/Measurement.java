package org.outboard.provider;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Provider;
import java.security.Signature;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.function.LongSupplier;
import javax.crypto.KeyAgreement;

/**
 * Which operations Outboard does faster than the JDK, in this Java, on this machine, with one thread.
 *
 * The JDK's provider and Outboard take turns of some milliseconds, so other work on the machine slows both. Each turn has all calls
 * that a program makes for the operation. What counts is the CPU time of the thread, without cards. Outboard is faster if it wins {@value #WON} of {@value #ROUNDS} rounds: of two equals,
 * one wins so often by chance in 2 of 100 measurements. What is not faster stays with the JDK.
 */
final class Measurement {
    private static final int ROUNDS = 15;
    private static final int WON = 12;
    private static final LongSupplier CLOCK = clock();
    /** What is signed: as much as TLS 1.3 has signed. */
    private static final byte[] MESSAGE = new byte[130];

    private final Provider outboard;
    private final Map<Operation, KeyPair> keys = new EnumMap<>(Operation.class);

    private Measurement(Provider outboard) {
        this.outboard = outboard;
    }

    /**
     * Prints a line for each operation: its name, the nanoseconds of the JDK and of Outboard, and "faster" or "left". Then a line
     * for each service that Java is to prefer Outboard for, because one of its operations is faster.
     */
    static void print(Provider outboard, double seconds) throws GeneralSecurityException {
        Measurement measurement = new Measurement(outboard);
        EnumSet<Operation> compared = Operation.ofJava();
        double each = seconds / compared.size();
        EnumSet<Operation> faster = EnumSet.noneOf(Operation.class);
        for (Operation operation : compared) {
            if (measurement.print(operation, (long) (1e9 * each))) {
                faster.add(operation);
            }
        }
        Services.all().forEach((service, operations) -> {
            if (!Collections.disjoint(operations, faster)) {
                System.out.println("prefer " + service);
            }
        });
    }

    private boolean print(Operation operation, long nanoseconds) throws GeneralSecurityException {
        Turn ours = turn(operation, outboard);
        Turn theirs = turn(operation, stock(operation));
        long warmUp = nanoseconds / 3;
        run(theirs, warmUp);
        run(ours, warmUp);
        double[] jdk = new double[ROUNDS];
        double[] own = new double[ROUNDS];
        int won = 0;
        for (int round = 0; round < ROUNDS; round++) {
            jdk[round] = run(theirs, warmUp / (2 * ROUNDS));
            own[round] = run(ours, warmUp / (2 * ROUNDS));
            won += own[round] < jdk[round] ? 1 : 0;
        }
        boolean isFaster = won >= WON;
        System.out.println(operation.text() + " " + median(jdk) + " " + median(own) + " " + (isFaster ? "faster" : "left"));
        return isFaster;
    }

    private static long median(double[] values) {
        Arrays.sort(values);
        return Math.round(values[values.length / 2]);
    }

    /** Nanoseconds of one, of as many as fill that time. */
    private static double run(Turn turn, long nanoseconds) throws GeneralSecurityException {
        long before = CLOCK.getAsLong();
        long start = System.nanoTime();
        long count = 0;
        do {
            turn.once();
            count++;
        } while (System.nanoTime() - start < nanoseconds);
        return (double) (CLOCK.getAsLong() - before) / count;
    }

    /** This thread's CPU time: so other programs on the machine do not count. A Java without its bean has the time of day alone. */
    private static LongSupplier clock() {
        try {
            ThreadMXBean bean = ManagementFactory.getThreadMXBean();
            if (bean.isCurrentThreadCpuTimeSupported() && bean.isThreadCpuTimeEnabled()) {
                return bean::getCurrentThreadCpuTime;
            }
        } catch (LinkageError missing) {
            // The module java.management is not in this Java.
        }
        return System::nanoTime;
    }

    /** One operation, with all calls around it. */
    private interface Turn {
        void once() throws GeneralSecurityException;
    }

    private static Provider stock(Operation operation) {
        switch (operation.use()) {
            case SIGN:
            case VERIFY:
                return Stock.signature(algorithm(operation)).getProvider();
            case DERIVE:
                return Stock.agreement(operation == Operation.X25519_DERIVE ? "X25519" : "ECDH").getProvider();
            default:
                return Stock.generator(operation.kind()).getProvider();
        }
    }

    /** How it is signed: RSA as TLS 1.3 signs, and as certificates are signed. */
    private static String algorithm(Operation operation) {
        switch (operation) {
            case RSA_2048_SIGN:
            case RSA_3072_SIGN:
            case RSA_4096_SIGN:
                return "RSASSA-PSS";
            case RSA_2048_VERIFY:
            case RSA_3072_VERIFY:
            case RSA_4096_VERIFY:
                return "SHA256withRSA";
            case P256_SIGN:
            case P256_VERIFY:
                return "SHA256withECDSA";
            case P384_SIGN:
            case P384_VERIFY:
                return "SHA384withECDSA";
            case P521_SIGN:
            case P521_VERIFY:
                return "SHA512withECDSA";
            default:
                return "Ed25519";
        }
    }

    private Turn turn(Operation operation, Provider provider) throws GeneralSecurityException {
        switch (operation.use()) {
            case SIGN:
                return signing(operation, provider);
            case VERIFY:
                return verifying(operation, provider);
            case DERIVE:
                return agreement(operation, provider);
            case ENCAPSULATE:
            case DECAPSULATE:
                return encapsulation(operation, provider);
            default:
                return () -> pair(operation, provider);
        }
    }

    private Turn signing(Operation operation, Provider provider) throws GeneralSecurityException {
        KeyPair key = key(operation);
        return () -> sign(operation, provider, key);
    }

    private static byte[] sign(Operation operation, Provider provider, KeyPair key) throws GeneralSecurityException {
        String algorithm = algorithm(operation);
        Signature signature = Signature.getInstance(algorithm, provider);
        if (algorithm.equals("RSASSA-PSS")) {
            signature.setParameter(Operation.PSS);
        }
        signature.initSign(key.getPrivate());
        signature.update(MESSAGE);
        return signature.sign();
    }

    private Turn verifying(Operation operation, Provider provider) throws GeneralSecurityException {
        KeyPair key = key(operation);
        byte[] made = sign(operation, stock(operation), key);
        return () -> {
            Signature signature = Signature.getInstance(algorithm(operation), provider);
            signature.initVerify(key.getPublic());
            signature.update(MESSAGE);
            if (!signature.verify(made)) {
                throw new GeneralSecurityException(operation.text() + ": " + provider.getName() + " finds a right signature wrong");
            }
        };
    }

    private Turn agreement(Operation operation, Provider provider) throws GeneralSecurityException {
        KeyPair key = key(operation);
        KeyPair peer = pair(operation, Stock.generator(operation == Operation.X25519_DERIVE ? "X25519" : "EC").getProvider());
        String algorithm = operation == Operation.X25519_DERIVE ? "X25519" : "ECDH";
        return () -> {
            KeyAgreement agreement = KeyAgreement.getInstance(algorithm, provider);
            agreement.init(key.getPrivate());
            agreement.doPhase(peer.getPublic(), true);
            agreement.generateSecret();
        };
    }

    private Turn encapsulation(Operation operation, Provider provider) throws GeneralSecurityException {
        KemCalls calls = (KemCalls) Outboard.kem(null);
        KeyPair key = key(operation);
        if (operation.use() == Operation.Use.ENCAPSULATE) {
            return () -> calls.encapsulate(provider, key.getPublic());
        }
        byte[] ciphertext = calls.encapsulate(stock(operation), key.getPublic());
        return () -> calls.decapsulate(provider, key.getPrivate(), ciphertext);
    }

    /** A key of the JDK's, as servers have them. */
    private KeyPair key(Operation operation) throws GeneralSecurityException {
        KeyPair key = keys.get(operation);
        if (key == null) {
            key = pair(operation, Stock.generator(operation.kind()).getProvider());
            keys.put(operation, key);
        }
        return key;
    }

    private static KeyPair pair(Operation operation, Provider provider) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(operation.kind(), provider);
        generator.initialize(operation.parameters());
        return generator.generateKeyPair();
    }
}
