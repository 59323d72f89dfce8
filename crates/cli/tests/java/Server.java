import com.sun.net.httpserver.*;
import java.net.*;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;

/**
 * An HTTPS server with what its virtual machine was started with: its key store, its security properties.
 *
 * Prints its port. Answers "ok", from a thread for each connection, until it is killed.
 */
public class Server {
    public static void main(String[] arguments) throws Exception {
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(SSLContext.getDefault()));
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println(server.getAddress().getPort());
    }
}
