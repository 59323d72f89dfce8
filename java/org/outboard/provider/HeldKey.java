package org.outboard.provider;

import java.security.PrivateKey;

/** A private key that is in the native half from the start. */
abstract class HeldKey implements PrivateKey {
    private static final long serialVersionUID = 1;

    final transient NativeKey nativeKey;

    HeldKey(NativeKey nativeKey) {
        this.nativeKey = nativeKey;
    }
}
