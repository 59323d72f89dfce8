import java.lang.management.ManagementFactory;
import java.util.Scanner;
import javax.management.ObjectName;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

/**
 * Tomcat. Arguments: the port, the key store, its password, a directory for Tomcat. At each line of the standard input, Tomcat loads its key
 * store again, as the manager application and JMX do it (reloadSslHostConfigs), and says so.
 */
public class TomcatServer {
    public static void main(String[] arguments) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[3]);
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setProperty("SSLEnabled", "true");
        connector.setProperty("address", "127.0.0.1");
        SSLHostConfig host = new SSLHostConfig();
        SSLHostConfigCertificate certificate = new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
        certificate.setCertificateKeystoreFile(arguments[1]);
        certificate.setCertificateKeystorePassword(arguments[2]);
        host.addCertificate(certificate);
        connector.addSslHostConfig(host);
        tomcat.setConnector(connector);
        tomcat.start();
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); lines.nextLine()) {
            for (ObjectName name : ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("*:type=ProtocolHandler,*"), null)) {
                ManagementFactory.getPlatformMBeanServer().invoke(name, "reloadSslHostConfigs", null, null);
                System.out.println("loaded again");
            }
        }
    }
}
