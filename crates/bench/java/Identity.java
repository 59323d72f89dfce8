import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** A key with its certificate, in a key store as servers have it (PKCS #12). */
final class Identity {
    static final char[] PASSWORD = "outboard".toCharArray();
    private static final String ALIAS = "server";

    /** "RSA-2048", "P-256". */
    final String name;
    final KeyStore store;

    Identity(Path directory, String name) throws Exception {
        this.name = name;
        Certificate certificate;
        try (InputStream file = Files.newInputStream(directory.resolve(name + ".crt"))) {
            certificate = CertificateFactory.getInstance("X.509").generateCertificate(file);
        }
        String pem = Files.readString(directory.resolve(name + ".key"));
        byte[] encoded = Base64.getMimeDecoder().decode(pem.replaceAll("-----.*-----", ""));
        KeyFactory factory = KeyFactory.getInstance(name.startsWith("RSA") ? "RSA" : "EC");
        PrivateKey key = factory.generatePrivate(new PKCS8EncodedKeySpec(encoded));
        store = KeyStore.getInstance("PKCS12");
        store.load(null, PASSWORD);
        store.setKeyEntry(ALIAS, key, PASSWORD, new Certificate[] {certificate});
    }

    /** As a server gets it from its key store. */
    PrivateKey key() throws Exception {
        return (PrivateKey) store.getKey(ALIAS, PASSWORD);
    }
}
