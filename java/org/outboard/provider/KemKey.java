package org.outboard.provider;

import java.io.NotSerializableException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.Arrays;

/** Keys of ML-KEM. Those of other providers come by their encodings. */
final class KemKey {
    private KemKey() {
    }

    /** A key's half in the native half of this provider. */
    static final class Half {
        final KemSet set;
        final NativeKey nativeKey;

        Half(KemSet set, NativeKey nativeKey) {
            this.set = set;
            this.nativeKey = nativeKey;
        }
    }

    /** A public or a private key's; null where it is no key of ML-KEM, or not whole. {@code only}: of that set; null: of any. */
    static Half of(Key key, KemSet only, boolean isPrivate) {
        if (isPrivate && key instanceof Private) {
            Private own = (Private) key;
            return only == null || only == own.set ? new Half(own.set, own.nativeKey) : null;
        }
        byte[] encoded = key != null && (isPrivate ? "PKCS#8" : "X.509").equals(key.getFormat()) ? key.getEncoded() : null;
        return encoded == null ? null : decode(encoded, only, isPrivate);
    }

    /** The same of an encoding, which is wiped if it is a private one. */
    static Half decode(byte[] encoded, KemSet only, boolean isPrivate) {
        try {
            for (KemSet set : KemSet.values()) {
                byte[] half = only != null && only != set ? null : isPrivate ? set.decodePrivate(encoded) : set.decodePublic(encoded);
                if (half == null) {
                    continue;
                }
                long address = Native.kemRead(set.ordinal(), isPrivate, half);
                if (isPrivate) {
                    Arrays.fill(half, (byte) 0);
                }
                NativeKey nativeKey = address == 0 ? null : NativeKey.at(address);
                return nativeKey == null || isPrivate && !isWhole(nativeKey, set.expandedBeside(encoded))
                    ? null : new Half(set, nativeKey);
            }
            return null;
        } finally {
            if (isPrivate) {
                Arrays.fill(encoded, (byte) 0);
            }
        }
    }

    /** Whether the private half that stands beside a seed is that seed's. */
    private static boolean isWhole(NativeKey bySeed, byte[] expanded) {
        if (expanded == null) {
            return true;
        }
        byte[] secret = bySeed.secret();
        try {
            return MessageDigest.isEqual(secret, expanded);
        } finally {
            Arrays.fill(secret, (byte) 0);
            Arrays.fill(expanded, (byte) 0);
        }
    }

    /** A public key, for versions of Java that have none (before 24). */
    static final class Public implements PublicKey {
        private static final long serialVersionUID = 1;

        private final byte[] encoded;

        Public(byte[] encoded) {
            this.encoded = encoded;
        }

        @Override
        public String getAlgorithm() {
            return KemSet.FAMILY;
        }

        @Override
        public String getFormat() {
            return "X.509";
        }

        @Override
        public byte[] getEncoded() {
            return encoded.clone();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof PublicKey && Arrays.equals(encoded, ((PublicKey) other).getEncoded());
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(encoded);
        }
    }

    /** A private key, whose encoding is made when a program asks for it. */
    static final class Private extends HeldKey {
        private static final long serialVersionUID = 1;

        final transient KemSet set;

        Private(KemSet set, NativeKey nativeKey) {
            super(nativeKey);
            this.set = set;
        }

        @Override
        public String getAlgorithm() {
            return KemSet.FAMILY;
        }

        @Override
        public String getFormat() {
            return "PKCS#8";
        }

        @Override
        public byte[] getEncoded() {
            byte[] half = nativeKey.secret();
            try {
                return set.encodePrivate(half);
            } finally {
                Arrays.fill(half, (byte) 0);
            }
        }

        @Override
        public boolean equals(Object other) {
            return this == other || other instanceof PrivateKey
                && MessageDigest.isEqual(getEncoded(), ((PrivateKey) other).getEncoded());
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(getEncoded());
        }

        private Object writeReplace() throws NotSerializableException {
            throw new NotSerializableException("a key of ML-KEM: write its encoding");
        }
    }
}
