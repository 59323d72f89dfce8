/* Derives, agrees and signs, frees everything, then looks for the secrets in all of its memory.
 *
 * Prints a line for each place where it finds one, and "done" in the end. OpenSSL's functions are declared here: its
 * headers may not be installed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *key;
    unsigned type;
    void *data;
    size_t size, returned;
} PARAM;
enum { INTEGER = 1, TEXT = 4, OCTETS = 5 };

void *EVP_KDF_fetch(void *, const char *, const char *);
void *EVP_KDF_CTX_new(void *);
int EVP_KDF_derive(void *, unsigned char *, size_t, const PARAM *);
void EVP_KDF_CTX_free(void *), EVP_KDF_free(void *);
void *EVP_PKEY_Q_keygen(void *, const char *, const char *, ...);
void *EVP_PKEY_CTX_new_from_pkey(void *, void *, const char *);
int EVP_PKEY_derive_init(void *), EVP_PKEY_derive_set_peer(void *, void *);
int EVP_PKEY_derive(void *, unsigned char *, size_t *);
int EVP_PKEY_get_raw_private_key(void *, unsigned char *, size_t *);
int EVP_PKEY_get_bn_param(void *, const char *, void **);
int EVP_PKEY_encapsulate_init(void *, const PARAM *), EVP_PKEY_decapsulate_init(void *, const PARAM *);
int EVP_PKEY_encapsulate(void *, unsigned char *, size_t *, unsigned char *, size_t *);
int EVP_PKEY_decapsulate(void *, unsigned char *, size_t *, const unsigned char *, size_t);
int EVP_PKEY_get_octet_string_param(void *, const char *, unsigned char *, size_t, size_t *);
void *EVP_PKEY_dup(void *), *EVP_PKEY_CTX_new_from_name(void *, const char *, const char *);
int EVP_PKEY_keygen_init(void *), EVP_PKEY_generate(void *, void **);
void EVP_PKEY_CTX_free(void *), EVP_PKEY_free(void *);
int BN_bn2binpad(const void *, unsigned char *, int);
void BN_clear_free(void *);
void *EVP_MD_CTX_new(void);
int EVP_DigestSignInit_ex(void *, void *, const char *, void *, const char *, void *, const PARAM *);
int EVP_DigestSign(void *, unsigned char *, size_t *, const unsigned char *, size_t);
void EVP_MD_CTX_free(void *);
int RAND_bytes(unsigned char *, int);
void OPENSSL_cleanse(void *, size_t);

/* What is looked for, under a mask, so that it is not found here. */
enum { LENGTH = 16, MASK = 0x5f };
static struct {
    const char *name;
    unsigned char bytes[LENGTH];
} needles[32];
static int count;

static void look_for(const char *name, const unsigned char *bytes) {
    needles[count].name = name;
    for (int i = 0; i < LENGTH; i++) needles[count].bytes[i] = bytes[i] ^ MASK;
    count++;
}

/* Its beginning and its end, also as little-endian numbers are kept. */
static void look_for_all(const char *name, const unsigned char *bytes, int length) {
    unsigned char turned[LENGTH];
    look_for(name, bytes + 1);
    look_for(name, bytes + length - LENGTH);
    for (int i = 0; i < LENGTH; i++) turned[i] = bytes[length - 2 - i];
    look_for(name, turned);
    OPENSSL_cleanse(turned, LENGTH);
}

static int is_at(const unsigned char *place, const unsigned char *masked) {
    for (int i = 0; i < LENGTH; i++)
        if ((place[i] ^ MASK) != masked[i]) return 0;
    return 1;
}

static void scan(const char *what) {
    static unsigned char copy[1 << 16];
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    int memory = open("/proc/self/mem", O_RDONLY);
    while (fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char access[8], path[256] = "";
        sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &begin, &end, access, path);
        if (strncmp(access, "rw", 2)) continue;
        for (unsigned long at = begin; at < end; at += sizeof copy - LENGTH) {
            size_t wanted = end - at < sizeof copy ? end - at : sizeof copy;
            long got = pread(memory, copy, wanted, at);
            for (long i = 0; i + LENGTH <= got; i++)
                for (int n = 0; n < count; n++)
                    if (is_at(copy + i, needles[n].bytes)
                        && !(at + i >= (unsigned long)copy && at + i < (unsigned long)(copy + sizeof copy)))
                        printf("%s: %s in %s\n", what, needles[n].name, *path ? path : "memory without a name");
        }
    }
    memset(copy, 0, sizeof copy);
    fclose(maps);
    close(memory);
    count = 0;
}

static void must(int holds, const char *what) {
    if (holds) return;
    printf("failed: %s\n", what);
    exit(1);
}

static __attribute__((noinline)) void derive(const char *name, int mode, size_t length) {
    unsigned char key[32], salt[32], output[96], padded[LENGTH];
    RAND_bytes(key, 32);
    RAND_bytes(salt, 32);
    int is_tls13 = !strcmp(name, "TLS13-KDF"), is_prf = !strcmp(name, "TLS1-PRF");
    PARAM params[8], *p = params;
    *p++ = (PARAM){"digest", TEXT, "SHA256", 6, 0};
    *p++ = (PARAM){is_prf ? "secret" : "key", OCTETS, key, 32, 0};
    if (is_prf) *p++ = (PARAM){"seed", OCTETS, salt, 32, 0};
    if (!is_prf && mode != 2) *p++ = (PARAM){"salt", OCTETS, salt, 32, 0};
    if (is_tls13) {
        *p++ = (PARAM){"mode", INTEGER, &mode, sizeof mode, 0};
        *p++ = (PARAM){"prefix", OCTETS, "tls13 ", 6, 0};
        *p++ = (PARAM){"label", OCTETS, "derived", 7, 0};
    }
    *p = (PARAM){0};
    void *kdf = EVP_KDF_fetch(0, name, 0), *context = EVP_KDF_CTX_new(kdf);
    EVP_KDF_free(kdf);
    must(EVP_KDF_derive(context, output, length, params) > 0, name);
    EVP_KDF_CTX_free(context);
    look_for_all("the key", key, 32);
    look_for_all("the output", output, length);
    if (!is_prf) look_for("the salt", salt);
    for (int i = 0; i < LENGTH; i++) padded[i] = key[i] ^ 0x36;
    look_for("the inner pad", padded);
    for (int i = 0; i < LENGTH; i++) padded[i] = key[i] ^ 0x5c;
    look_for("the outer pad", padded);
    for (int i = 0; i < LENGTH; i++) padded[i] = output[(i & ~3) + 3 - (i & 3)];
    look_for("the state of the output", padded);
    OPENSSL_cleanse(padded, sizeof padded);
    OPENSSL_cleanse(key, sizeof key);
    OPENSSL_cleanse(salt, sizeof salt);
    OPENSSL_cleanse(output, sizeof output);
}

static void agree(void *own, void *peer, int length) {
    unsigned char secret[66];
    size_t written = sizeof secret;
    void *context = EVP_PKEY_CTX_new_from_pkey(0, own, 0);
    must(EVP_PKEY_derive_init(context) > 0 && EVP_PKEY_derive_set_peer(context, peer) > 0
             && EVP_PKEY_derive(context, secret, &written) > 0,
         "an agreement");
    EVP_PKEY_CTX_free(context);
    look_for_all("the shared secret", secret, length);
    OPENSSL_cleanse(secret, sizeof secret);
}

static void sign(void *key, const char *digest) {
    unsigned char signature[512];
    size_t length = sizeof signature;
    void *context = EVP_MD_CTX_new();
    must(EVP_DigestSignInit_ex(context, 0, digest, 0, 0, key, 0) > 0
             && EVP_DigestSign(context, signature, &length, (const unsigned char *)"message", 7) > 0,
         "a signature");
    EVP_MD_CTX_free(context);
}

static __attribute__((noinline)) void raw(const char *name, int agrees) {
    unsigned char number[32];
    size_t length = sizeof number;
    void *own = EVP_PKEY_Q_keygen(0, 0, name), *peer = EVP_PKEY_Q_keygen(0, 0, name);
    if (agrees) agree(own, peer, 32);
    else sign(own, 0);
    EVP_PKEY_get_raw_private_key(own, number, &length);
    EVP_PKEY_free(own);
    EVP_PKEY_free(peer);
    look_for_all("the private key", number, 32);
    OPENSSL_cleanse(number, sizeof number);
}

static void number(void *key, const char *name, int length) {
    unsigned char bytes[512];
    void *value = 0;
    must(EVP_PKEY_get_bn_param(key, name, &value) == 1, name);
    BN_bn2binpad(value, bytes, length);
    BN_clear_free(value);
    look_for_all(name, bytes, length);
    OPENSSL_cleanse(bytes, sizeof bytes);
}

static __attribute__((noinline)) void curve(const char *name, int length) {
    void *own = EVP_PKEY_Q_keygen(0, 0, "EC", name), *peer = EVP_PKEY_Q_keygen(0, 0, "EC", name);
    agree(own, peer, length);
    sign(own, "SHA256");
    number(own, "priv", length);
    EVP_PKEY_free(own);
    EVP_PKEY_free(peer);
}

static __attribute__((noinline)) void rsa(void) {
    void *key = EVP_PKEY_Q_keygen(0, 0, "RSA", (size_t)2048);
    sign(key, "SHA256");
    number(key, "d", 256);
    number(key, "rsa-factor1", 128);
    number(key, "rsa-factor2", 128);
    number(key, "rsa-exponent1", 128);
    number(key, "rsa-coefficient1", 128);
    EVP_PKEY_free(key);
}

/* Parts of a key of ML-KEM or ML-DSA: the seed, and pieces of the private half, of which the first `skip` bytes are public. */
static void parts(void *key, int skip) {
    static unsigned char bytes[8192];
    size_t length = 0;
    must(EVP_PKEY_get_octet_string_param(key, "seed", bytes, sizeof bytes, &length) == 1, "a seed");
    look_for_all("the seed", bytes, length);
    must(EVP_PKEY_get_octet_string_param(key, "priv", bytes, sizeof bytes, &length) == 1, "a private half");
    look_for("the private half", bytes + skip);
    look_for("the middle of the private half", bytes + skip + 300);
    OPENSSL_cleanse(bytes, sizeof bytes);
}

/* EVP_PKEY_Q_keygen of OpenSSL 3.0 knows no new types. */
static void *generate(const char *name) {
    void *key = 0, *context = EVP_PKEY_CTX_new_from_name(0, name, 0);
    must(EVP_PKEY_keygen_init(context) > 0 && EVP_PKEY_generate(context, &key) > 0, name);
    EVP_PKEY_CTX_free(context);
    return key;
}

static __attribute__((noinline)) void kem(const char *name) {
    static unsigned char ciphertext[1700];
    unsigned char secret[96], opened[96];
    size_t length = sizeof ciphertext, written = sizeof secret;
    void *key = generate(name), *copy = EVP_PKEY_dup(key);
    void *context = EVP_PKEY_CTX_new_from_pkey(0, key, 0);
    must(EVP_PKEY_encapsulate_init(context, 0) > 0
             && EVP_PKEY_encapsulate(context, ciphertext, &length, secret, &written) > 0,
         "an encapsulation");
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(key);
    context = EVP_PKEY_CTX_new_from_pkey(0, copy, 0);
    must(EVP_PKEY_decapsulate_init(context, 0) > 0
             && EVP_PKEY_decapsulate(context, opened, &written, ciphertext, length) > 0
             && !memcmp(secret, opened, written),
         "a decapsulation");
    EVP_PKEY_CTX_free(context);
    if (!strncmp(name, "ML-", 3)) parts(copy, 0);
    EVP_PKEY_free(copy);
    look_for_all("the shared secret", secret, 32);
    look_for("the end of the shared secret", secret + written - LENGTH);
    OPENSSL_cleanse(secret, sizeof secret);
    OPENSSL_cleanse(opened, sizeof opened);
}

static __attribute__((noinline)) void dsa(const char *name) {
    static unsigned char signature[5000];
    size_t length = sizeof signature;
    void *key = generate(name), *context = EVP_MD_CTX_new();
    must(EVP_DigestSignInit_ex(context, 0, 0, 0, 0, key, 0) > 0
             && EVP_DigestSign(context, signature, &length, (const unsigned char *)"message", 7) > 0,
         name);
    EVP_MD_CTX_free(context);
    /* After rho come K, the hash of the public half, and the vectors. */
    parts(key, 128);
    EVP_PKEY_free(key);
}

static unsigned char planted[] = "what is planted is found";

int main(int argc, char **argv) {
    (void)argv;
    setvbuf(stdout, 0, _IONBF, 0);
    look_for("what was planted", planted);
    scan("test");
    OPENSSL_cleanse(planted, sizeof planted);
    derive("TLS13-KDF", 2, 32), scan("TLS13-KDF, expand");
    derive("TLS13-KDF", 1, 32), scan("TLS13-KDF, extract");
    derive("HKDF", 0, 96), scan("HKDF");
    derive("TLS1-PRF", 0, 96), scan("TLS1-PRF");
    raw("X25519", 1), scan("X25519");
    raw("ED25519", 0), scan("Ed25519");
    curve("P-256", 32), scan("P-256");
    curve("P-384", 48), scan("P-384");
    curve("P-521", 66), scan("P-521");
    rsa(), scan("RSA");
    if (argc > 1) {
        kem("ML-KEM-512"), scan("ML-KEM-512");
        kem("ML-KEM-768"), scan("ML-KEM-768");
        kem("ML-KEM-1024"), scan("ML-KEM-1024");
        kem("X25519MLKEM768"), scan("X25519MLKEM768");
        kem("SecP256r1MLKEM768"), scan("SecP256r1MLKEM768");
        kem("SecP384r1MLKEM1024"), scan("SecP384r1MLKEM1024");
        dsa("ML-DSA-44"), scan("ML-DSA-44");
        dsa("ML-DSA-65"), scan("ML-DSA-65");
        dsa("ML-DSA-87"), scan("ML-DSA-87");
    }
    puts("done");
    return 0;
}
