package org.outboard.provider;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.security.Security;

/** Loads the native half once, and knows how that went. */
final class Library {
    /** Without a native half; the version is that half's. */
    private static final String UNKNOWN = "0";
    private static final String SETTINGS = "outboard.settings";
    private static final String FILE = "liboutboard_java.so";
    private static final String VERSION;
    private static final String STATE;

    static {
        String version = UNKNOWN;
        String state;
        try {
            version = openPrivileged();
            state = "Outboard " + version + " serves this Java";
        } catch (Exception | LinkageError failed) {
            state = "Outboard serves nothing in this Java: " + failed.getMessage();
        }
        VERSION = version;
        STATE = state;
    }

    private Library() {
    }

    static boolean isLoaded() {
        return !VERSION.equals(UNKNOWN);
    }

    static String version() {
        return VERSION;
    }

    /** A sentence. */
    static String state() {
        return STATE;
    }

    /** With this jar's permissions alone: under a security manager (until Java 23), the program that asks first may have fewer. */
    @SuppressWarnings("removal")
    private static String openPrivileged() throws Exception {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<String>) () -> {
                load();
                return Native.open(settings());
            });
        } catch (PrivilegedActionException failed) {
            throw failed.getException();
        }
    }

    /** The system property {@value #SETTINGS}, else the security property of that name. */
    private static String settings() {
        String told = System.getProperty(SETTINGS, Security.getProperty(SETTINGS));
        return told == null ? "" : told;
    }

    private static void load() throws IOException {
        String told = System.getProperty("outboard.library");
        if (told != null) {
            System.load(Path.of(told).toAbsolutePath().toString());
            return;
        }
        Path directory = makeDirectory();
        Path file = directory.resolve(FILE);
        try {
            try (InputStream library = Library.class.getResourceAsStream(FILE)) {
                if (library == null) {
                    throw new IOException(FILE + " is not in outboard.jar (build it with 'make jar')");
                }
                write(library, file);
            }
            System.load(file.toString());
        } catch (UnsatisfiedLinkError failed) {
            throw new IOException(failed.getMessage() + " (if programs may not be loaded from " + directory.getParent()
                + ", name another directory with -Djava.io.tmpdir=DIRECTORY, or the library with -Doutboard.library=FILE)",
                failed);
        } finally {
            // What is loaded stays in memory.
            Files.deleteIfExists(file);
            Files.delete(directory);
        }
    }

    /** Not by a channel: a channel would close if somebody interrupts this thread, and nobody would load the library again. */
    private static void write(InputStream library, Path file) throws IOException {
        try (OutputStream written = new FileOutputStream(file.toFile())) {
            library.transferTo(written);
        }
    }

    /** A new directory that is ours alone. Its name need not be a secret: where another user was there first, the next one is tried.
     * (Java's own temporary directories draw random numbers, for which it may ask the provider that is being loaded.) */
    private static Path makeDirectory() throws IOException {
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        var ours = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        for (int tries = 100;; tries--) {
            Path directory = parent.resolve("outboard-" + ProcessHandle.current().pid() + "-" + System.nanoTime());
            try {
                return Files.createDirectory(directory, ours);
            } catch (FileAlreadyExistsException taken) {
                if (tries == 0) {
                    throw taken;
                }
            }
        }
    }
}
