/** An operation after a pause, again and again: nothing else is asked meanwhile, and its caller waits for it alone. */
final class Lone implements Caller.Task {
    private static final long PAUSE = 2;

    private final Caller.Operation operation;

    Lone(Caller.Operation operation) {
        this.operation = operation;
    }

    @Override
    public Caller.Window run(long nanoseconds) throws Exception {
        long start = System.nanoTime();
        long count = 0;
        long waited = 0;
        do {
            Thread.sleep(PAUSE);
            long asked = System.nanoTime();
            operation.once();
            waited += System.nanoTime() - asked;
            count++;
        } while (System.nanoTime() - start < nanoseconds);
        return new Caller.Window(count, waited);
    }
}
