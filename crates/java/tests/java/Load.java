import java.nio.file.Files;
import java.nio.file.Path;
import java.security.*;
import java.security.spec.*;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.crypto.KeyAgreement;

/**
 * Many threads, or many keys.
 *
 * Arguments: "threads" and how many, "virtual" and how many threads of that kind, or "keys" and how many: then it prints by how many KiB
 * the process grew in the second half.
 */
public class Load {
    static final Provider OUTBOARD = new org.outboard.provider.Outboard();

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        switch (arguments[0]) {
            case "threads":
                threads(Executors.newFixedThreadPool(count), count);
                break;
            case "virtual":
                // Java 21's, looked up so that this compiles for 17.
                threads((ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null), count);
                break;
            default:
                keys(count / 2);
                long before = resident();
                keys(count / 2);
                System.out.println("grew " + (resident() - before));
        }
    }

    static void threads(ExecutorService threads, int count) throws Exception {
        KeyPair rsa = pair("RSA", new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4), Security.getProvider("SunRsaSign"));
        KeyPair ec = pair("EC", new ECGenParameterSpec("secp256r1"), Security.getProvider("SunEC"));
        List<Future<Integer>> all = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            Callable<Integer> work = () -> {
                int right = 0;
                for (int round = 0; round < 20; round++) {
                    right += isSigned("SHA256withRSA", rsa) ? 1 : 0;
                    right += isSigned("SHA256withECDSA", ec) ? 1 : 0;
                    right += agrees("X25519", null) ? 1 : 0;
                    right += agrees("EC", new ECGenParameterSpec("secp384r1")) ? 1 : 0;
                }
                return right;
            };
            all.add(threads.submit(work));
        }
        int right = 0;
        for (Future<Integer> one : all) {
            right += one.get();
        }
        threads.shutdown();
        System.out.println("right " + right + " of " + 80 * count);
    }

    static KeyPair pair(String algorithm, AlgorithmParameterSpec spec, Provider provider) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, provider);
        if (spec != null) {
            generator.initialize(spec);
        }
        return generator.generateKeyPair();
    }

    static boolean isSigned(String algorithm, KeyPair key) throws Exception {
        Signature signature = Signature.getInstance(algorithm, OUTBOARD);
        signature.initSign(key.getPrivate());
        signature.update((byte) 1);
        byte[] made = signature.sign();
        signature.initVerify(key.getPublic());
        signature.update((byte) 1);
        return signature.verify(made);
    }

    static boolean agrees(String algorithm, AlgorithmParameterSpec spec) throws Exception {
        KeyPair one = pair(algorithm, spec, OUTBOARD);
        KeyPair other = pair(algorithm, spec, OUTBOARD);
        return Arrays.equals(secret(algorithm, one, other), secret(algorithm, other, one));
    }

    static byte[] secret(String algorithm, KeyPair own, KeyPair peer) throws Exception {
        KeyAgreement agreement = KeyAgreement.getInstance(algorithm.equals("EC") ? "ECDH" : algorithm, OUTBOARD);
        agreement.init(own.getPrivate());
        agreement.doPhase(peer.getPublic(), true);
        return agreement.generateSecret();
    }

    /** Keys that Outboard makes, and others that it converts, each used once. */
    static void keys(int count) throws Exception {
        KeyFactory factory = KeyFactory.getInstance("EC");
        byte[] encoded = pair("EC", new ECGenParameterSpec("secp256r1"), Security.getProvider("SunEC")).getPrivate().getEncoded();
        Signature signature = Signature.getInstance("SHA256withECDSA", OUTBOARD);
        KeyPairGenerator generator = KeyPairGenerator.getInstance("X25519", OUTBOARD);
        KeyAgreement agreement = KeyAgreement.getInstance("X25519", OUTBOARD);
        for (int at = 0; at < count; at += 2) {
            signature.initSign(factory.generatePrivate(new PKCS8EncodedKeySpec(encoded)));
            signature.sign();
            KeyPair pair = generator.generateKeyPair();
            agreement.init(pair.getPrivate());
            agreement.doPhase(pair.getPublic(), true);
            agreement.generateSecret();
        }
        System.gc();
        Thread.sleep(500);
    }

    /** KiB of the process in memory. */
    static long resident() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IllegalStateException("no VmRSS");
    }
}
