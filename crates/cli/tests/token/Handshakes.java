import java.net.Socket;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Security;
import java.security.cert.X509Certificate;
import java.util.Collections;
import javax.net.ssl.*;

/**
 * TLS handshakes of a server and a client that both prove themselves with each key of a key store.
 *
 * Arguments: the configuration of SunPKCS11; "token", "login" (a token with a PIN) or a PKCS #12 file; the PIN or the file's
 * password; handshakes of each kind.
 */
public class Handshakes {
    /** The key of one alias, whatever the peer would like. */
    static class One extends X509ExtendedKeyManager {
        final String alias, algorithm;
        final PrivateKey key;
        final X509Certificate[] chain;

        One(KeyStore keys, String alias, char[] password) throws Exception {
            this.alias = alias;
            key = (PrivateKey) keys.getKey(alias, password);
            java.security.cert.Certificate[] found = keys.getCertificateChain(alias);
            chain = java.util.Arrays.copyOf(found, found.length, X509Certificate[].class);
            algorithm = chain[0].getPublicKey().getAlgorithm();
        }

        String when(String... types) {
            for (String type : types) {
                if (type.equals(algorithm) || (type.equals("RSASSA-PSS") && algorithm.equals("RSA"))) {
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

    static SSLContext context(One one, KeyStore trusted) throws Exception {
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {one}, trust.getTrustManagers(), null);
        return context;
    }

    public static void main(String[] arguments) throws Exception {
        Provider provider = Security.getProvider("SunPKCS11").configure(arguments[0]);
        Security.addProvider(provider);
        boolean hasPin = arguments[1].equals("login");
        boolean ofToken = hasPin || arguments[1].equals("token");
        char[] password = arguments[2].toCharArray();
        int count = Integer.parseInt(arguments[3]);
        KeyStore keys;
        if (ofToken) {
            keys = KeyStore.getInstance("PKCS11", provider);
            keys.load(null, hasPin ? password : null);
        } else {
            keys = KeyStore.getInstance(new java.io.File(arguments[1]), password);
        }
        for (String alias : Collections.list(keys.aliases())) {
            One one = new One(keys, alias, password);
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry(alias, one.chain[0]);
            for (String version : new String[] {"TLSv1.3", "TLSv1.2"}) {
                shakeHands(one, trusted, version, count);
            }
        }
    }

    static void shakeHands(One one, KeyStore trusted, String version, int count) throws Exception {
        SSLContext server = context(one, trusted);
        SSLServerSocket listener = (SSLServerSocket) server.getServerSocketFactory()
            .createServerSocket(0, 50, java.net.InetAddress.getLoopbackAddress());
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
        String suite = null;
        for (int at = 0; at < count; at++) {
            SSLContext client = context(one, trusted); // without a session of before
            try (SSLSocket socket = (SSLSocket) client.getSocketFactory()
                    .createSocket(listener.getInetAddress(), listener.getLocalPort())) {
                socket.getOutputStream().write(41);
                if (socket.getInputStream().read() != 42) {
                    throw new IllegalStateException("no answer");
                }
                suite = socket.getSession().getCipherSuite();
            }
        }
        serving.join();
        listener.close();
        System.out.println(one.alias + " " + version + " " + count + " " + suite);
    }
}
