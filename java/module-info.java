/** A provider for Java's cryptography: Outboard's lanes, and keys of its card service. */
module org.outboard.provider {
    // For a measurement alone.
    requires static java.management;
    exports org.outboard.provider;
    provides java.security.Provider with org.outboard.provider.Outboard;
}
