package org.outboard.provider;

import java.math.BigInteger;

/** Numbers as bytes. */
final class Numbers {
    private Numbers() {
    }

    /** Writes a number, most significant byte first, into a place of that length; false where it does not fit. */
    static boolean put(BigInteger number, byte[] bytes, int offset, int length) {
        if (number.signum() < 0 || number.bitLength() > 8 * length) {
            return false;
        }
        byte[] shortest = number.toByteArray();
        int sign = shortest.length > length ? 1 : 0;
        int count = shortest.length - sign;
        System.arraycopy(shortest, sign, bytes, offset + length - count, count);
        return true;
    }

    /** Turns the order of bytes. */
    static byte[] reverse(byte[] bytes) {
        for (int low = 0, high = bytes.length - 1; low < high; low++, high--) {
            byte first = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = first;
        }
        return bytes;
    }

    /** A coordinate of Curve25519 as its keys have it, 32 bytes, least significant first; null where it does not fit 255 bits. */
    static byte[] coordinate(BigInteger number) {
        byte[] bytes = new byte[32];
        return number.bitLength() <= 255 && put(number, bytes, 0, bytes.length) ? reverse(bytes) : null;
    }
}
