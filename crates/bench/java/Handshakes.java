import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** Full handshakes in memory, of which the server's CPU time counts. */
final class Handshakes implements Caller.Task {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    /** More than all that one side says at once. */
    private static final int ROOM = 1 << 16;

    private final String version;
    private final SSLContext server;
    private final SSLContext client;
    private final ByteBuffer toServer = ByteBuffer.allocate(ROOM);
    private final ByteBuffer toClient = ByteBuffer.allocate(ROOM);
    private final ByteBuffer nothing = ByteBuffer.allocate(0);
    private final ByteBuffer data = ByteBuffer.allocate(ROOM);

    /** Both sides are the JDK's TLS; a provider brings its cryptography. */
    Handshakes(Identity identity, String version) throws Exception {
        this.version = version;
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(identity.store, Identity.PASSWORD);
        server = SSLContext.getInstance("TLS", "SunJSSE");
        server.init(keys.getKeyManagers(), null, null);
        client = SSLContext.getInstance("TLS", "SunJSSE");
        client.init(null, new TrustManager[] {new TrustsAll()}, null);
    }

    @Override
    public Caller.Window run(long nanoseconds) throws Exception {
        long start = System.nanoTime();
        long count = 0;
        long used = 0;
        do {
            used += once();
            count++;
        } while (System.nanoTime() - start < nanoseconds);
        return new Caller.Window(count, used);
    }

    /** One handshake; answers what the server's thread used for it. */
    private long once() throws SSLException {
        toClient.clear().flip();
        // Without a name of the server it finds no session to resume.
        SSLEngine asking = engine(client, true);
        long before = CLOCK.getCurrentThreadCpuTime();
        SSLEngine answering = engine(server, false);
        long used = CLOCK.getCurrentThreadCpuTime() - before;
        do {
            advance(asking, toClient, toServer);
            before = CLOCK.getCurrentThreadCpuTime();
            advance(answering, toServer, toClient);
            used += CLOCK.getCurrentThreadCpuTime() - before;
        } while (toClient.hasRemaining());
        String made = answering.getSession().getProtocol();
        if (isUnderWay(asking) || isUnderWay(answering) || !made.equals(version)) {
            throw new SSLException("no handshake of " + version + ", but of " + made);
        }
        return used;
    }

    private SSLEngine engine(SSLContext context, boolean isClient) throws SSLException {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(isClient);
        engine.setEnabledProtocols(new String[] {version});
        engine.beginHandshake();
        return engine;
    }

    private static boolean isUnderWay(SSLEngine engine) {
        return engine.getHandshakeStatus() != SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING;
    }

    /** Lets a side do what it can with what it got, which it leaves empty. Then the other side can read what it said. */
    private void advance(SSLEngine engine, ByteBuffer got, ByteBuffer said) throws SSLException {
        said.clear();
        boolean canGoOn = true;
        while (canGoOn) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK:
                    for (Runnable task; (task = engine.getDelegatedTask()) != null; ) {
                        task.run();
                    }
                    break;
                case NEED_WRAP:
                    engine.wrap(nothing, said);
                    break;
                default:
                    data.clear();
                    canGoOn = got.hasRemaining() && engine.unwrap(got, data).bytesConsumed() > 0;
            }
        }
        said.flip();
    }

    /** The certificates are the measurement's own. */
    private static final class TrustsAll extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
