package org.outboard.provider;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The services that Java is to prefer Outboard for, such as {@code Signature.RSASSA-PSS}, and the operations in each of them. */
final class Services {
    private static final Map<String, EnumSet<Operation>> ALL = new TreeMap<>();

    static {
        EnumSet<Operation> rsa = EnumSet.range(Operation.RSA_2048_SIGN, Operation.RSA_4096_VERIFY);
        EnumSet<Operation> ecdsa = EnumSet.range(Operation.P256_SIGN, Operation.P521_VERIFY);
        for (Digest digest : Digest.values()) {
            ALL.put("Signature." + digest.prefix + "withRSA", rsa);
            ALL.put("Signature." + digest.prefix + "withECDSA", ecdsa);
        }
        ALL.put("Signature.RSASSA-PSS", rsa);
        for (String name : List.of("Ed25519", "EdDSA")) {
            ALL.put("Signature." + name, EnumSet.of(Operation.ED25519_SIGN, Operation.ED25519_VERIFY));
        }
        ALL.put("KeyAgreement.ECDH", EnumSet.range(Operation.P256_DERIVE, Operation.P521_DERIVE));
        ALL.put("KeyPairGenerator.EC", EnumSet.range(Operation.P256_KEYGEN, Operation.P521_KEYGEN));
        for (String name : List.of("X25519", "XDH")) {
            ALL.put("KeyAgreement." + name, EnumSet.of(Operation.X25519_DERIVE));
            ALL.put("KeyPairGenerator." + name, EnumSet.of(Operation.X25519_KEYGEN));
        }
        if (Outboard.comparesKems()) {
            EnumSet<Operation> made = EnumSet.range(Operation.ML_KEM_512_KEYGEN, Operation.ML_KEM_1024_KEYGEN);
            EnumSet<Operation> used = EnumSet.range(Operation.ML_KEM_512_ENCAPSULATE, Operation.ML_KEM_1024_DECAPSULATE);
            putKem(KemSet.FAMILY, made, used);
            for (KemSet set : KemSet.values()) {
                putKem(set.standardName, EnumSet.of(set.generation), EnumSet.of(set.encapsulation, set.decapsulation));
            }
        }
    }

    private Services() {
    }

    private static void putKem(String name, EnumSet<Operation> made, EnumSet<Operation> used) {
        ALL.put("KeyPairGenerator." + name, made);
        ALL.put("KEM." + name, used);
    }

    static Map<String, EnumSet<Operation>> all() {
        return ALL;
    }
}
