import java.io.FileInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * Visits a server: each time with a full handshake and one request.
 *
 * <pre>
 * Visitor PORT VERSION COUNT             so often, one after the other
 * Visitor PORT VERSION until FILE        with four threads, until there is such a file
 * -Dclient=STORE                         with the certificate of a PKCS #12 file
 * </pre>
 *
 * Prints how many were served, the first failure, and how often it saw each certificate, by its serial number.
 */
public class Visitor {
    static final Map<String, AtomicLong> SEEN = new ConcurrentHashMap<>();
    static final AtomicLong SERVED = new AtomicLong();
    static volatile Exception failure;

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        if (arguments[2].equals("until")) {
            java.io.File end = new java.io.File(arguments[3]);
            Thread[] threads = new Thread[4];
            for (int at = 0; at < threads.length; at++) {
                threads[at] = new Thread(() -> {
                    while (!end.exists() && failure == null) {
                        visit(port, arguments[1]);
                    }
                });
                threads[at].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } else {
            for (int at = 0; at < Integer.parseInt(arguments[2]); at++) {
                visit(port, arguments[1]);
            }
        }
        System.out.println("served " + SERVED);
        new TreeMap<>(SEEN).forEach((serial, count) -> System.out.println("certificate " + serial + " " + count));
        if (failure != null) {
            System.out.println("failed " + failure);
        }
    }

    static void visit(int port, String version) {
        // A context of its own has no session to resume.
        try (SSLSocket socket = (SSLSocket) context().getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(60_000);
            socket.setEnabledProtocols(new String[] {version});
            socket.startHandshake();
            X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
            OutputStream asked = socket.getOutputStream();
            asked.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            asked.flush();
            InputStream answer = socket.getInputStream();
            byte[] start = answer.readNBytes(8);
            if (!new String(start, StandardCharsets.US_ASCII).equals("HTTP/1.1")) {
                throw new IllegalStateException("no answer");
            }
            answer.readAllBytes();
            SERVED.incrementAndGet();
            SEEN.computeIfAbsent(shown.getSerialNumber().toString(16), serial -> new AtomicLong()).incrementAndGet();
        } catch (Exception failed) {
            failure = failed;
        }
    }

    static SSLContext context() throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        KeyStore store = KeyStore.getInstance("PKCS12");
        char[] password = "changeit".toCharArray();
        String client = System.getProperty("client");
        try (InputStream file = client == null ? null : new FileInputStream(client)) {
            store.load(file, password);
        }
        keys.init(store, password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), new TrustManager[] {new TrustsAll()}, null);
        return context;
    }

    /** The certificates are the test's own. */
    static final class TrustsAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
