import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.security.Provider;
import java.security.Security;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The program of the workload java: it does what each line of its input says, for so many milliseconds.
 *
 * <pre>
 * java Caller KEYS [PROVIDER]     KEYS: a directory with NAME.crt and NAME.key, in PEM; PROVIDER: a class, which comes first
 *
 * MILLISECONDS sign KEY THREADS      signatures; THREADS: 1, 16, "16 virtual"
 * MILLISECONDS lone KEY              signatures, each after a pause
 * MILLISECONDS agree CURVE           key agreements by one thread
 * MILLISECONDS generate CURVE        key pairs by one thread
 * MILLISECONDS handshake KEY VERSION handshakes by one thread
 * </pre>
 *
 * The answer to a line is how often it was done, and in how many nanoseconds: elapsed ones (without the pauses), and for handshakes
 * those of the server's CPU time.
 */
final class Caller {
    private final Path keys;
    private final Map<List<String>, Task> tasks = new HashMap<>();

    private Caller(Path keys) {
        this.keys = keys;
    }

    public static void main(String[] arguments) {
        try {
            serve(arguments);
            // The threads of the tasks wait for more.
            System.exit(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void serve(String[] arguments) throws Exception {
        if (arguments.length > 1) {
            Object made = Class.forName(arguments[1]).getConstructor().newInstance();
            Provider provider = (Provider) made;
            if (provider.getName().equals("Conscrypt")) {
                // They throw at curves of the JDK's TLS, which then serves nobody. The JDK's own take their place.
                provider.remove("AlgorithmParameters.EC");
            }
            Security.insertProviderAt(provider, 1);
        }
        Caller caller = new Caller(Path.of(arguments[0]));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            List<String> words = List.of(line.split(" "));
            List<String> task = words.subList(1, words.size());
            if (!caller.tasks.containsKey(task)) {
                caller.tasks.put(task, caller.prepare(task));
            }
            Window window = caller.tasks.get(task).run(Long.parseLong(words.get(0)) * 1_000_000);
            System.out.println(window.count + " " + window.nanoseconds);
        }
    }

    private Task prepare(List<String> task) throws Exception {
        String what = task.get(1);
        switch (task.get(0)) {
            case "sign":
                Operation signature = Operations.signature(new Identity(keys, what));
                return new Threads(task.subList(2, task.size()), signature);
            case "lone":
                return new Lone(Operations.signature(new Identity(keys, what)));
            case "agree":
                return new Threads(List.of("1"), Operations.agreement(what));
            case "generate":
                return new Threads(List.of("1"), Operations.generation(what));
            case "handshake":
                return new Handshakes(new Identity(keys, what), task.get(2));
            default:
                throw new IllegalArgumentException(task.get(0));
        }
    }

    /** Something that fills windows. */
    interface Task {
        Window run(long nanoseconds) throws Exception;
    }

    /** One operation. */
    interface Operation {
        void once() throws Exception;
    }

    /** What came of a window. */
    static final class Window {
        final long count;
        final long nanoseconds;

        Window(long count, long nanoseconds) {
            this.count = count;
            this.nanoseconds = nanoseconds;
        }
    }
}
