import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** An operation, again and again by so many threads. */
final class Threads implements Caller.Task {
    private final int number;
    private final ExecutorService pool;
    private final Caller.Operation operation;

    /** A number, and perhaps the word "virtual": of threads that a JDK before 21 does not have. */
    Threads(List<String> threads, Caller.Operation operation) throws ReflectiveOperationException {
        this.number = Integer.parseInt(threads.get(0));
        this.operation = operation;
        this.pool = threads.size() > 1
                ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)
                : Executors.newFixedThreadPool(number);
    }

    @Override
    public Caller.Window run(long nanoseconds) throws Exception {
        long start = System.nanoTime();
        Callable<Long> thread = () -> {
            long count = 0;
            do {
                operation.once();
                count++;
            } while (System.nanoTime() - start < nanoseconds);
            return count;
        };
        long count = 0;
        for (Future<Long> done : pool.invokeAll(Collections.nCopies(number, thread))) {
            count += done.get();
        }
        return new Caller.Window(count, System.nanoTime() - start);
    }
}
