package org.outboard.provider;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.EnumSet;
import java.util.Map;
import javax.crypto.KeyAgreement;

/** What a Java program gets for the services of {@link Services} when it names no provider. */
final class Trial {
    private Trial() {
    }

    /** Does an operation that Outboard serves of each service, and prints the service, the provider that Java took, and the operation. */
    static void print() throws GeneralSecurityException {
        for (Map.Entry<String, EnumSet<Operation>> service : Services.all().entrySet()) {
            for (Operation operation : service.getValue()) {
                if (operation.isServed() && operation.use() != Operation.Use.VERIFY) {
                    System.out.println(service.getKey() + " " + run(service.getKey(), operation) + " " + operation.text());
                    break;
                }
            }
        }
    }

    private static String run(String service, Operation operation) throws GeneralSecurityException {
        String algorithm = service.substring(service.indexOf('.') + 1);
        KeyPairGenerator generator = KeyPairGenerator.getInstance(operation.use() == Operation.Use.KEYGEN ? algorithm : operation.kind());
        generator.initialize(operation.parameters());
        KeyPair pair = generator.generateKeyPair();
        switch (operation.use()) {
            case SIGN:
                Signature signature = Signature.getInstance(algorithm);
                if (algorithm.equals("RSASSA-PSS")) {
                    signature.setParameter(Operation.PSS);
                }
                signature.initSign(pair.getPrivate());
                signature.update((byte) 1);
                signature.sign();
                return signature.getProvider().getName();
            case DERIVE:
                KeyAgreement agreement = KeyAgreement.getInstance(algorithm);
                agreement.init(pair.getPrivate());
                agreement.doPhase(pair.getPublic(), true);
                agreement.generateSecret();
                return agreement.getProvider().getName();
            case ENCAPSULATE:
            case DECAPSULATE:
                return ((KemCalls) Outboard.kem(null)).taken(algorithm, pair.getPublic(), pair.getPrivate());
            default:
                return generator.getProvider().getName();
        }
    }
}
