import java.lang.ref.WeakReference;
import java.math.BigInteger;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.*;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.*;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.KeyAgreement;

/** What programs should not do, and do. Each prints "right" at its end. */
public class Hostile {
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "loaders":
                loaders(Integer.parseInt(arguments[1]));
                break;
            case "interrupted":
                interrupted();
                break;
            case "confined":
                confined();
                break;
            case "destroyed":
                destroyed();
                break;
            case "collected":
                collected(Integer.parseInt(arguments[1]));
                break;
            case "exit":
                exit();
                break;
            case "crowd":
                crowd(Integer.parseInt(arguments[1]));
                break;
            case "inserted":
                inserted(Integer.parseInt(arguments[1]));
                break;
            case "alone":
                alone();
                break;
            case "huge":
                huge(Integer.parseInt(arguments[1]) << 20);
                break;
            default:
                shared();
        }
        System.out.println("right");
    }

    static KeyPair pair(String algorithm, AlgorithmParameterSpec spec, Provider provider) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, provider);
        if (spec != null) {
            generator.initialize(spec);
        }
        return generator.generateKeyPair();
    }

    static void use(Provider provider) throws Exception {
        KeyPair key = pair("EC", new ECGenParameterSpec("secp256r1"), provider);
        Signature signature = Signature.getInstance("SHA256withECDSA", provider);
        signature.initSign(key.getPrivate());
        byte[] made = signature.sign();
        signature.initVerify(key.getPublic());
        check(signature.verify(made), "a signature");
        KeyPair one = pair("X25519", null, provider);
        KeyAgreement agreement = KeyAgreement.getInstance("X25519", provider);
        agreement.init(one.getPrivate());
        agreement.doPhase(one.getPublic(), true);
        agreement.generateSecret();
    }

    static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new IllegalStateException(what);
        }
    }

    /** As web applications that bring the jar along, and are deployed again and again. */
    static void loaders(int count) throws Exception {
        URL jar = Hostile.class.getClassLoader().getResource("org/outboard/provider/Outboard.class");
        URL file = new URL(jar.getPath().substring(0, jar.getPath().indexOf('!')));
        List<WeakReference<ClassLoader>> all = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            URLClassLoader loader = new URLClassLoader(new URL[] {file}, ClassLoader.getPlatformClassLoader());
            Provider provider = (Provider) loader.loadClass("org.outboard.provider.Outboard").getConstructor().newInstance();
            check(provider.getService("Signature", "Ed25519") != null, provider.getInfo());
            Thread thread = new Thread(() -> {
                try {
                    use(provider);
                } catch (Exception failed) {
                    failed.printStackTrace();
                    System.exit(1);
                }
            });
            thread.start();
            thread.join();
            use(provider);
            all.add(new WeakReference<>(loader));
            loader.close();
        }
        for (int tries = 0; tries < 100; tries++) {
            System.gc();
            Thread.sleep(100);
            // The last one may still be in a register or in a cache of the JDK.
            if (all.stream().filter(loader -> loader.get() != null).count() <= 1) {
                return;
            }
        }
        throw new IllegalStateException("class loaders stay: " + all.stream().filter(loader -> loader.get() != null).count());
    }

    /** Somebody interrupts the thread that loads the library, and one that computes. */
    static void interrupted() throws Exception {
        Thread.currentThread().interrupt();
        use(new org.outboard.provider.Outboard());
        check(Thread.interrupted(), "the interrupt is lost");
    }

    /** Without any permission: the provider is what the security properties name. */
    static void confined() throws Exception {
        check(System.getSecurityManager() != null, "there is no security manager");
        try {
            System.getProperty("user.home");
            throw new IllegalStateException("it is not confined");
        } catch (SecurityException refused) {
            // As it should be.
        }
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair key = generator.generateKeyPair();
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(key.getPrivate());
        signature.sign();
        check(signature.getProvider().getName().equals("Outboard"), signature.getProvider().toString());
    }

    /** A key of another provider that can be destroyed. */
    static final class Mortal implements EdECPrivateKey {
        private static final long serialVersionUID = 1;
        final transient EdECPrivateKey key;
        transient boolean isDestroyed;

        Mortal(EdECPrivateKey key) {
            this.key = key;
        }

        @Override
        public java.util.Optional<byte[]> getBytes() {
            return isDestroyed ? java.util.Optional.empty() : key.getBytes();
        }

        @Override
        public NamedParameterSpec getParams() {
            return key.getParams();
        }

        @Override
        public String getAlgorithm() {
            return key.getAlgorithm();
        }

        @Override
        public String getFormat() {
            return isDestroyed ? null : key.getFormat();
        }

        @Override
        public byte[] getEncoded() {
            return isDestroyed ? null : key.getEncoded();
        }

        @Override
        public void destroy() {
            isDestroyed = true;
        }

        @Override
        public boolean isDestroyed() {
            return isDestroyed;
        }
    }

    static void destroyed() throws Exception {
        Provider provider = new org.outboard.provider.Outboard();
        Mortal key = new Mortal((EdECPrivateKey) pair("Ed25519", null, Security.getProvider("SunEC")).getPrivate());
        Signature signature = Signature.getInstance("Ed25519", provider);
        signature.initSign(key);
        byte[] first = signature.sign();
        signature.initSign(key);
        key.destroy();
        // A signature that began ends; a new one does not begin.
        check(Arrays.equals(first, signature.sign()), "another signature");
        try {
            signature.initSign(key);
            throw new IllegalStateException("a destroyed key signs");
        } catch (InvalidKeyException refused) {
            // As it should be.
        }
    }

    /** Keys that nobody has any more are collected while other threads sign with theirs. */
    static void collected(int seconds) throws Exception {
        Provider provider = new org.outboard.provider.Outboard();
        KeyFactory factory = KeyFactory.getInstance("EC");
        byte[] encoded = pair("EC", new ECGenParameterSpec("secp256r1"), Security.getProvider("SunEC")).getPrivate().getEncoded();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        AtomicLong signed = new AtomicLong();
        AtomicBoolean failed = new AtomicBoolean();
        Thread[] threads = new Thread[4];
        for (int at = 0; at < threads.length; at++) {
            threads[at] = new Thread(() -> {
                try {
                    while (System.nanoTime() < end) {
                        Signature signature = Signature.getInstance("SHA256withECDSA", provider);
                        signature.initSign(factory.generatePrivate(new PKCS8EncodedKeySpec(encoded)));
                        signature.sign();
                        signed.incrementAndGet();
                    }
                } catch (Exception wrong) {
                    wrong.printStackTrace();
                    failed.set(true);
                }
            });
            threads[at].start();
        }
        while (System.nanoTime() < end) {
            System.gc();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        check(!failed.get() && signed.get() > 0, "signatures fail");
    }

    /** Java ends, by System.exit or because main returns, while threads sign, make keys and drop them, and a hook of the end signs, too. */
    static void exit() throws Exception {
        Provider provider = new org.outboard.provider.Outboard();
        AtomicLong used = new AtomicLong();
        for (int at = 0; at < 8; at++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    attempt(() -> use(provider));
                    used.incrementAndGet();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> attempt(() -> use(provider))));
        while (used.get() < 50) {
            Thread.sleep(1);
            System.gc();
        }
        if (System.nanoTime() / 1000 % 2 == 0) {
            System.out.println("right");
            System.exit(0);
        }
    }

    /** Virtual threads (Java 21), and interrupts for half of them while they compute. */
    static void crowd(int count) throws Exception {
        Provider provider = new org.outboard.provider.Outboard();
        AtomicLong done = new AtomicLong();
        Runnable work = () -> {
            attempt(() -> {
                use(provider);
                done.incrementAndGet();
            });
        };
        List<Thread> threads = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
            threads.add(thread);
            if (at % 2 == 0) {
                thread.interrupt();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        check(done.get() == count, done + " of " + count);
    }

    /** The provider becomes Java's first one and goes away again, while threads use what Java gives them. */
    static void inserted(int times) throws Exception {
        Provider provider = new org.outboard.provider.Outboard();
        AtomicBoolean ends = new AtomicBoolean();
        AtomicBoolean failed = new AtomicBoolean();
        Thread[] threads = new Thread[3];
        for (int at = 0; at < threads.length; at++) {
            threads[at] = new Thread(() -> {
                try {
                    while (!ends.get()) {
                        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
                        generator.initialize(new ECGenParameterSpec("secp256r1"));
                        KeyPair pair = generator.generateKeyPair();
                        PrivateKey key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(pair.getPrivate().getEncoded()));
                        Signature signature = Signature.getInstance("SHA256withECDSA");
                        signature.initSign(key);
                        byte[] made = signature.sign();
                        signature.initVerify(pair.getPublic());
                        check(signature.verify(made), "a signature");
                    }
                } catch (Exception wrong) {
                    wrong.printStackTrace();
                    failed.set(true);
                }
            });
            threads[at].start();
        }
        for (int at = 0; at < times; at++) {
            Security.insertProviderAt(provider, 1);
            Thread.sleep(1);
            Security.removeProvider("Outboard");
        }
        ends.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        check(!failed.get(), "what Java gives fails");
    }

    /** Java has no other provider of these algorithms, as where an administrator allows a few providers. What Outboard has of its own goes on. */
    static void alone() throws Exception {
        KeyPair rsa = pair("RSA", new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4), Security.getProvider("SunRsaSign"));
        KeyPair ed = pair("Ed25519", null, Security.getProvider("SunEC"));
        Provider provider = new org.outboard.provider.Outboard();
        for (Provider other : Security.getProviders()) {
            if (!other.getName().equals("SUN")) {
                Security.removeProvider(other.getName());
            }
        }
        Security.insertProviderAt(provider, 1);
        for (String algorithm : List.of("SHA256withRSA", "Ed25519")) {
            KeyPair pair = algorithm.equals("Ed25519") ? ed : rsa;
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(pair.getPrivate());
            byte[] made = signature.sign();
            signature.initVerify(pair.getPublic());
            check(signature.verify(made), algorithm);
        }
        for (String missing : List.of("EC", "RSA")) {
            try {
                KeyFactory.getInstance(missing);
                throw new IllegalStateException(missing);
            } catch (NoSuchAlgorithmException refused) {
                // As it should be.
            }
        }
        try {
            pair("EC", new ECGenParameterSpec("secp256r1"), provider);
            throw new IllegalStateException("EC");
        } catch (ProviderException refused) {
            // There are no parameters of curves.
        }
    }

    static void huge(int length) throws Exception {
        Provider provider = new org.outboard.provider.Outboard();
        byte[] message = new byte[length];
        KeyPair ed = pair("Ed25519", null, Security.getProvider("SunEC"));
        Signature ours = Signature.getInstance("Ed25519", provider);
        ours.initSign(ed.getPrivate());
        ours.update(message);
        byte[] made = ours.sign();
        ours.initVerify(ed.getPublic());
        ours.update(message);
        check(ours.verify(made), "Ed25519");
        KeyPair ec = pair("EC", new ECGenParameterSpec("secp256r1"), provider);
        Signature ecdsa = Signature.getInstance("SHA256withECDSA", provider);
        for (byte[] wrong : new byte[][] {message, new byte[0]}) {
            ecdsa.initVerify(ec.getPublic());
            try {
                check(!ecdsa.verify(wrong), "a wrong signature");
            } catch (SignatureException refused) {
                // That is an answer, too.
            }
        }
        // A key with a number that no curve has.
        BigInteger number = new BigInteger(1, Arrays.copyOf(new byte[] {1}, 1 << 20));
        ECPrivateKey odd = new ECPrivateKey() {
            private static final long serialVersionUID = 1;

            @Override
            public BigInteger getS() {
                return number;
            }

            @Override
            public ECParameterSpec getParams() {
                return ((ECPrivateKey) ec.getPrivate()).getParams();
            }

            @Override
            public String getAlgorithm() {
                return "EC";
            }

            @Override
            public String getFormat() {
                return "PKCS#8";
            }

            @Override
            public byte[] getEncoded() {
                return message;
            }
        };
        // The JDK's provider gets it, and some versions take it.
        attempt(() -> {
            ecdsa.initSign(odd);
            ecdsa.sign();
        });
    }

    /** Threads share objects that are for one thread alone. Exceptions and wrong answers are theirs; the process goes on. */
    static void shared() throws Exception {
        Provider provider = new org.outboard.provider.Outboard();
        KeyPair rsa = pair("RSA", new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4), Security.getProvider("SunRsaSign"));
        KeyPair ed = pair("Ed25519", null, Security.getProvider("SunEC"));
        KeyPair x = pair("X25519", null, provider);
        Signature first = Signature.getInstance("SHA256withRSA", provider);
        Signature second = Signature.getInstance("Ed25519", provider);
        KeyAgreement third = KeyAgreement.getInstance("X25519", provider);
        Thread[] threads = new Thread[8];
        for (int at = 0; at < threads.length; at++) {
            threads[at] = new Thread(() -> {
                for (int round = 0; round < 300; round++) {
                    attempt(() -> first.initSign(rsa.getPrivate()));
                    attempt(() -> first.update(new byte[100]));
                    attempt(() -> first.sign());
                    attempt(() -> first.initVerify(rsa.getPublic()));
                    attempt(() -> first.verify(new byte[256]));
                    attempt(() -> second.initSign(ed.getPrivate()));
                    attempt(() -> second.update(new byte[100]));
                    attempt(() -> second.sign());
                    attempt(() -> third.init(x.getPrivate()));
                    attempt(() -> third.doPhase(x.getPublic(), true));
                    attempt(() -> third.generateSecret());
                }
            });
            threads[at].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        use(provider);
    }

    interface Call {
        void now() throws Exception;
    }

    static void attempt(Call call) {
        try {
            call.now();
        } catch (Exception theirs) {
            // See above.
        }
    }
}
