import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * Netty with Java's own TLS. Arguments: the port; the key store, or "-" for one of the type PKCS11 of the provider that the next
 * argument names; the password; perhaps a key store with the certificates of clients, which then must have one.
 */
public class NettyServer {
    public static void main(String[] arguments) throws Exception {
        boolean isToken = arguments[1].startsWith("-");
        KeyStore store = isToken ? KeyStore.getInstance("PKCS11", arguments[1].substring(1)) : KeyStore.getInstance("PKCS12");
        char[] password = arguments[2].toCharArray();
        try (InputStream file = isToken ? null : new FileInputStream(arguments[1])) {
            store.load(file, password);
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, password);
        SslContextBuilder builder = SslContextBuilder.forServer(keys).sslProvider(SslProvider.JDK).protocols("TLSv1.3", "TLSv1.2");
        if (arguments.length > 3) {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            try (InputStream file = new FileInputStream(arguments[3])) {
                trusted.load(file, "changeit".toCharArray());
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            builder.trustManager(trust).clientAuth(ClientAuth.REQUIRE);
        }
        SslContext context = builder.build();
        NioEventLoopGroup group = new NioEventLoopGroup();
        new ServerBootstrap().group(group).channel(NioServerSocketChannel.class).childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(context.newHandler(channel.alloc()), new Answer());
            }
        }).bind(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0])).sync();
    }

    static final class Answer extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf asked) {
            byte[] text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);
            context.writeAndFlush(Unpooled.wrappedBuffer(text)).addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable failed) {
            context.close();
        }
    }
}
