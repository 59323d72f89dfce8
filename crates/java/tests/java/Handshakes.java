import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Collections;
import javax.net.ssl.*;

/**
 * TLS handshakes of a server and a client that both prove themselves with each key of a key store, in memory and over sockets. Who
 * serves them, the JVM's configuration says.
 *
 * Arguments: a key store's file, or a type of stores without one; its password; handshakes of each kind. With "grow" as the fourth: so many
 * handshakes in memory; prints how much the process has more after the last than after a fifth of them: KiB, threads, descriptors.
 */
public class Handshakes {
    /** The key of one alias, whatever the peer would like. */
    static class One extends X509ExtendedKeyManager {
        final String alias;
        final PrivateKey key;
        final X509Certificate[] chain;

        One(KeyStore keys, String alias, char[] password) throws Exception {
            this.alias = alias;
            key = (PrivateKey) keys.getKey(alias, password);
            java.security.cert.Certificate[] found = keys.getCertificateChain(alias);
            chain = java.util.Arrays.copyOf(found, found.length, X509Certificate[].class);
        }

        String when(String... types) {
            for (String type : types) {
                if (type.equals(key.getAlgorithm())) {
                    return alias;
                }
            }
            return null;
        }

        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) { return when(type); }
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) { return when(types); }
        public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) { return when(type); }
        public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) { return when(types); }
        public String[] getServerAliases(String type, Principal[] issuers) { return new String[] {alias}; }
        public String[] getClientAliases(String type, Principal[] issuers) { return new String[] {alias}; }
        public X509Certificate[] getCertificateChain(String alias) { return chain; }
        public PrivateKey getPrivateKey(String alias) { return key; }
    }

    static SSLContext context(One one) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(one.alias, one.chain[0]);
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {one}, trust.getTrustManagers(), null);
        return context;
    }

    public static void main(String[] arguments) throws Exception {
        java.io.File file = new java.io.File(arguments[0]);
        char[] password = arguments[1].toCharArray();
        int count = Integer.parseInt(arguments[2]);
        KeyStore keys;
        if (file.exists()) {
            keys = KeyStore.getInstance(file, password);
        } else {
            keys = KeyStore.getInstance(arguments[0]);
            keys.load(null, null);
        }
        if (arguments.length > 3) {
            One one = new One(keys, keys.aliases().nextElement(), password);
            long[] before = null;
            // What Java compiles and keeps for good is there after a fifth.
            for (int at = 0; at < count; at++) {
                if (at == count / 5) {
                    System.gc();
                    before = held();
                }
                inMemory(one, "TLSv1.3");
            }
            System.gc();
            Thread.sleep(500);
            long[] after = held();
            System.out.println("grew " + (after[0] - before[0]) + " " + (after[1] - before[1]) + " " + (after[2] - before[2]));
            return;
        }
        for (String alias : Collections.list(keys.aliases())) {
            One one = new One(keys, alias, password);
            for (String version : new String[] {"TLSv1.3", "TLSv1.2"}) {
                for (int at = 0; at < count; at++) {
                    inMemory(one, version);
                }
                overSockets(one, version, count);
                System.out.println(alias + " " + version + " " + count);
            }
        }
    }

    /** What the process has: KiB in memory, threads, descriptors. */
    static long[] held() throws Exception {
        return new long[] {Load.resident(), entries("task"), entries("fd")};
    }

    static long entries(String directory) {
        return new java.io.File("/proc/self/" + directory).list().length;
    }

    static void inMemory(One one, String version) throws Exception {
        SSLContext context = context(one);
        SSLEngine client = context.createSSLEngine();
        SSLEngine server = context.createSSLEngine();
        client.setUseClientMode(true);
        server.setUseClientMode(false);
        server.setNeedClientAuth(true);
        client.setEnabledProtocols(new String[] {version});
        ByteBuffer toServer = ByteBuffer.allocate(1 << 16);
        ByteBuffer toClient = ByteBuffer.allocate(1 << 16);
        for (int turns = 0; isShaking(client) || isShaking(server) || turns == 0; turns++) {
            if (turns > 100) {
                throw new IllegalStateException("the handshake goes round in circles");
            }
            turn(client, toClient, toServer);
            turn(server, toServer, toClient);
        }
        if (!client.getSession().getPeerCertificates()[0].equals(one.chain[0])) {
            throw new IllegalStateException("another certificate");
        }
    }

    static boolean isShaking(SSLEngine engine) {
        return engine.getHandshakeStatus() != SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING;
    }

    /** Takes what came, and says what there is to say. */
    static void turn(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws Exception {
        ByteBuffer plain = ByteBuffer.allocate(1 << 16);
        in.flip();
        SSLEngineResult result;
        do {
            result = engine.unwrap(in, plain);
            for (Runnable task; (task = engine.getDelegatedTask()) != null;) {
                task.run();
            }
        } while (result.bytesConsumed() > 0 && in.hasRemaining());
        in.compact();
        do {
            result = engine.wrap(ByteBuffer.allocate(0), out);
            for (Runnable task; (task = engine.getDelegatedTask()) != null;) {
                task.run();
            }
        } while (engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP);
    }

    static void overSockets(One one, String version, int count) throws Exception {
        SSLServerSocket listener = (SSLServerSocket) context(one).getServerSocketFactory()
            .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        listener.setEnabledProtocols(new String[] {version});
        listener.setNeedClientAuth(true);
        Thread serving = new Thread(() -> {
            try {
                for (int at = 0; at < count; at++) {
                    try (Socket socket = listener.accept()) {
                        socket.getOutputStream().write(socket.getInputStream().read() + 1);
                    }
                }
            } catch (Exception failed) {
                failed.printStackTrace();
                System.exit(1);
            }
        });
        serving.start();
        for (int at = 0; at < count; at++) {
            // In a context of its own: without a session of before.
            try (Socket socket = context(one).getSocketFactory()
                    .createSocket(listener.getInetAddress(), listener.getLocalPort())) {
                socket.getOutputStream().write(41);
                if (socket.getInputStream().read() != 42) {
                    throw new IllegalStateException("no answer");
                }
            }
        }
        serving.join();
        listener.close();
    }
}
