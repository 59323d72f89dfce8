/* A payment program in miniature, as docs/coprocessor.md describes it: keys from two parts, an encrypted PIN, its translation
 * and its verification, a MAC; then calls that no sane program makes. tests/programs.rs compiles and runs it. */
#include <csulincl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(const char *what, long rc, long reason, long wanted_rc, long wanted_reason) {
    if (rc != wanted_rc || reason != wanted_reason) {
        fprintf(stderr, "%s: %ld/%ld instead of %ld/%ld\n", what, rc, reason, wanted_rc, wanted_reason);
        exit(1);
    }
}

/* A key of 16 bytes from two parts. */
static void key(const char *type, const char *usage, unsigned char part, unsigned char token[64]) {
    long rc, reason, count = usage ? 4 : 3;
    unsigned char rules[33] = "INTERNALKEYLN16 KEY-PART", bytes[16];
    if (usage)
        memcpy(rules + 24, usage, 8);
    CSNBKTB(&rc, &reason, NULL, NULL, token, (unsigned char *)type, &count, rules, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL);
    expect(type, rc, reason, 0, 0);
    for (int i = 0; i < 16; i++)
        bytes[i] = part * 16 + i;
    count = 1;
    CSNBKPI(&rc, &reason, NULL, NULL, &count, (unsigned char *)"FIRST   ", bytes, token);
    expect("first part", rc, reason, 0, 0);
    for (int i = 0; i < 16; i++)
        bytes[i] = 0x5a + 11 * i;
    CSNBKPI(&rc, &reason, NULL, NULL, &count, (unsigned char *)"LAST    ", bytes, token);
    expect("last part", rc, reason, 0, 0);
}

static unsigned char profile[] = "ISO-0   NONE            ";
static unsigned char account[] = "401234567890";
/* The decimalization table, the validation data, the offset (of PIN verification: none). */
static unsigned char data[] = "0123456789012345"
                              "4012345678900000"
                              "                ";
static unsigned char pin_key[64], out_key[64], in_key[64], next_key[64], verify_key[64];

static void pins(void) {
    long rc, reason, one = 1, length = 4, sequence = 99999;
    unsigned char block[8], translated[8];
    CSNBEPG(&rc, &reason, NULL, NULL, pin_key, out_key, &one, (unsigned char *)"IBM-PIN ", &length, data, profile, account,
            &sequence, block);
    expect("CSNBEPG", rc, reason, 0, 0);
    CSNBPTR(&rc, &reason, NULL, NULL, in_key, next_key, profile, account, block, &one, (unsigned char *)"REFORMAT", profile,
            account, &sequence, translated);
    expect("CSNBPTR", rc, reason, 0, 0);
    if (memcmp(block, translated, 8) == 0)
        expect("the block is another one", 1, 0, 0, 0);
    CSNBPVR(&rc, &reason, NULL, NULL, in_key, verify_key, profile, account, block, &one, (unsigned char *)"IBM-PIN ", &length,
            data);
    expect("CSNBPVR", rc, reason, 0, 0);
    block[0] ^= 1;
    CSNBPVR(&rc, &reason, NULL, NULL, in_key, verify_key, profile, account, block, &one, (unsigned char *)"IBM-PIN ", &length,
            data);
    expect("CSNBPVR of another block", rc, reason, 4, 19);
    block[0] ^= 1;
    CSNBPVR(&rc, &reason, NULL, NULL, in_key, verify_key, profile, account, block, &one, (unsigned char *)"IBM-PIN ", &length,
            data);
    expect("CSNBPVR again", rc, reason, 0, 0);
}

static void *many(void *nothing) {
    for (int i = 0; i < 200; i++) {
        long rc, reason;
        unsigned char random[8] = {0};
        CSNBRNG(&rc, &reason, NULL, NULL, (unsigned char *)"ODD     ", random);
        expect("CSNBRNG", rc, reason, 0, 0);
        for (int byte = 0; byte < 8; byte++)
            if (__builtin_popcount(random[byte]) % 2 == 0)
                expect("odd parity", 1, 0, 0, 0);
    }
    return nothing;
}

static void texts(void) {
    long rc, reason, one = 1, count = 2, length = 13;
    unsigned char token[64] = {0}, text[32] = "Hello, world!", vector[8] = {0}, chain[18], mac[9];
    CSNBKGN(&rc, &reason, NULL, NULL, (unsigned char *)"OP      ", (unsigned char *)"DOUBLE  ", (unsigned char *)"DATA    ",
            (unsigned char *)"        ", NULL, NULL, token, NULL);
    expect("CSNBKGN", rc, reason, 0, 0);
    /* In place, as programs do: 13 bytes become 16, and 13 again. */
    CSNBENC(&rc, &reason, NULL, NULL, token, &length, text, vector, &one, (unsigned char *)"X9.23   ", &(long){0}, chain, text);
    expect("CSNBENC", rc, reason, 0, 0);
    expect("the length of the ciphertext", length, 0, 16, 0);
    CSNBDEC(&rc, &reason, NULL, NULL, token, &length, text, vector, &one, (unsigned char *)"X9.23   ", chain, text);
    expect("CSNBDEC", rc, reason, 0, 0);
    if (length != 13 || memcmp(text, "Hello, world!", 13) != 0)
        expect("the plaintext", 1, 0, 0, 0);
    /* A token that goes in must be of the type that is asked for, or none. */
    memset(token, 0, sizeof token);
    CSNBKGN(&rc, &reason, NULL, NULL, (unsigned char *)"OP      ", (unsigned char *)"DOUBLE  ", (unsigned char *)"MAC     ",
            (unsigned char *)"        ", NULL, NULL, token, NULL);
    expect("CSNBKGN", rc, reason, 0, 0);
    CSNBMGN(&rc, &reason, NULL, NULL, token, &length, text, &count, (unsigned char *)"X9.19OPTHEX-9   ", chain, mac);
    expect("CSNBMGN", rc, reason, 0, 0);
    CSNBMVR(&rc, &reason, NULL, NULL, token, &length, text, &count, (unsigned char *)"X9.19OPTHEX-9   ", chain, mac);
    expect("CSNBMVR", rc, reason, 0, 0);
    mac[0] ^= 1;
    CSNBMVR(&rc, &reason, NULL, NULL, token, &length, text, &count, (unsigned char *)"X9.19OPTHEX-9   ", chain, mac);
    expect("CSNBMVR of another code", rc, reason, 4, 1);
}

/* Labels go into a file. */
static void labels(void) {
    long rc, reason, length = 64;
    unsigned char name[65] = {0}, label[65], line[66];
    for (int i = 1; i <= 2; i++) {
        memset(label, ' ', 64);
        label[0] = 'L';
        label[1] = '0' + i;
        CSNBKRC(&rc, &reason, NULL, NULL, label);
        expect("CSNBKRC", rc, reason, 0, 0);
    }
    memset(label, ' ', 64);
    memcpy(label, "L*", 2);
    CSNBKRL(&rc, &reason, NULL, NULL, label, &length, name, NULL);
    expect("CSNBKRL", rc, reason, 0, 0);
    name[length] = 0;
    FILE *list = fopen((char *)name, "r");
    for (int i = 1; i <= 2; i++)
        if (list == NULL || fread(line, 1, 65, list) != 65 || line[1] != '0' + i || line[64] != '\n')
            expect("a line of the list", 1, 0, 0, 0);
    if (fread(line, 1, 65, list) != 0)
        expect("the end of the list", 1, 0, 0, 0);
    fclose(list);
    remove((char *)name);
    length = 3;
    CSNBKRL(&rc, &reason, NULL, NULL, label, &length, name, NULL);
    expect("no room for a name", rc, reason, 8, 72);
}

/* As openCryptoki: a verb that is not there is found, and answers. */
extern void CSNBCVE(long *, long *, long *, unsigned char *);

/* A CMAC in two parts, and a PIN with its parameters in the published order. */
static void parts(void) {
    long rc, reason, two = 2, one = 1, length = 16, key = 64, chaining = 128, size = 16, none = 0, twelve = 12, eight = 8;
    unsigned char token[64] = {0}, text[32] = "sixteen letters.and more of them", chain[128], whole[16], code[16];
    CSNBKGN(&rc, &reason, NULL, NULL, (unsigned char *)"OP      ", (unsigned char *)"DOUBLE  ", (unsigned char *)"MAC     ",
            (unsigned char *)"        ", NULL, NULL, token, NULL);
    expect("CSNBKGN", rc, reason, 0, 0);
    long all = 32;
    CSNBMGN2(&rc, &reason, NULL, NULL, &two, (unsigned char *)"TDES    ONLY    ", &key, token, &all, text, &none, NULL, &size, whole);
    expect("CSNBMGN2", rc, reason, 0, 0);
    CSNBMGN2(&rc, &reason, NULL, NULL, &two, (unsigned char *)"TDES    FIRST   ", &key, token, &length, text, &chaining, chain, &size,
             code);
    expect("CSNBMGN2, the first part", rc, reason, 0, 0);
    size = 16;
    CSNBMGN2(&rc, &reason, NULL, NULL, &two, (unsigned char *)"TDES    LAST    ", &key, token, &length, text + 16, &chaining, chain,
             &size, code);
    expect("CSNBMGN2, the last part", rc, reason, 0, 0);
    if (size != 8 || memcmp(whole, code, 8) != 0)
        expect("the code of both parts", 1, 0, 0, 0);
    unsigned char block[8], moved[8];
    long sequence = 99999, pin = 4, profile_length = 24;
    CSNBEPG(&rc, &reason, NULL, NULL, pin_key, out_key, &one, (unsigned char *)"IBM-PIN ", &pin, data, profile, account, &sequence,
            block);
    expect("CSNBEPG", rc, reason, 0, 0);
    long out = 8;
    CSNBPTR2(&rc, &reason, NULL, NULL, &one, (unsigned char *)"REFORMAT", &key, in_key, &key, next_key, &none, NULL, &profile_length,
             profile, &twelve, account, &eight, block, &profile_length, profile, &twelve, account, &none, NULL, &out, moved, &none,
             NULL, &none, NULL, &none, NULL);
    expect("CSNBPTR2", rc, reason, 0, 0);
    CSNBCVE(&rc, &reason, NULL, NULL);
    expect("CSNBCVE", rc, reason, 12, 93);
}

/* The keywords of a token, into an array with less room than they need: nothing is written behind it. */
static void short_array(void) {
    long rc, reason, two = 2, count = 3;
    unsigned char token[64], type[8], value[16], vector[16], pattern[8];
    struct {
        unsigned char rules[24], guard[256];
    } room;
    CSNBKTB(&rc, &reason, NULL, NULL, token, (unsigned char *)"IMPORTER", &two, (unsigned char *)"INTERNALDOUBLE  ", NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    expect("CSNBKTB", rc, reason, 0, 0);
    memset(&room, 0xaa, sizeof room);
    CSNBKTP(&rc, &reason, NULL, NULL, token, type, &count, room.rules, value, NULL, NULL, NULL, vector, NULL, NULL, NULL, pattern);
    expect("CSNBKTP with little room", rc, reason, 8, 72);
    for (size_t i = 0; i < sizeof room; i++)
        if (((unsigned char *)&room)[i] != 0xaa)
            expect("what is written of keywords that have no room", (long)i, 0, -1, 0);
    count = -1;
    CSNBKTP(&rc, &reason, NULL, NULL, token, type, &count, room.rules, value, NULL, NULL, NULL, vector, NULL, NULL, NULL, pattern);
    expect("CSNBKTP with a negative count", rc, reason, 8, 72);
    count = 35;
    CSNBKTP(&rc, &reason, NULL, NULL, token, type, &count, room.rules, value, NULL, NULL, NULL, vector, NULL, NULL, NULL, pattern);
    expect("CSNBKTP", rc, reason, 0, 0);
    if (count < 4 || memcmp(type, "IMPORTER", 8) != 0 || memcmp(room.rules, "INTERNAL", 8) != 0 || room.guard[255] != 0xaa)
        expect("the keywords", 1, 0, 0, 0);
}

static void hostile(void) {
    long rc = -1, reason = -1, one = 1, minus = -1, huge = 0x7fffffffffffffffL, many = 1000, length = 8;
    unsigned char bytes[64] = {0};
    unsigned char *rule = (unsigned char *)"SHA-256 ";
    CSNBRNG(NULL, NULL, NULL, NULL, (unsigned char *)"RANDOM  ", bytes);
    CSNBRNG(&rc, &reason, NULL, NULL, (unsigned char *)"RANDOM  ", NULL);
    expect("no room for the output", rc, reason, 8, 72);
    CSNBRNG(&rc, &reason, NULL, NULL, NULL, bytes);
    expect("no form", rc, reason, 8, 33);
    CSNBOWH(&rc, &reason, NULL, NULL, &minus, rule, &length, bytes, &length, bytes, &length, bytes);
    expect("a negative count", rc, reason, 8, 35);
    CSNBOWH(&rc, &reason, NULL, NULL, &many, rule, &length, bytes, &length, bytes, &length, bytes);
    expect("too many keywords", rc, reason, 8, 35);
    CSNBOWH(&rc, &reason, NULL, NULL, &one, NULL, &length, bytes, &length, bytes, &length, bytes);
    expect("no keywords", rc, reason, 8, 72);
    CSNBOWH(&rc, &reason, NULL, NULL, &one, rule, &minus, bytes, &length, bytes, &length, bytes);
    expect("a negative length", rc, reason, 8, 72);
    CSNBOWH(&rc, &reason, NULL, NULL, &one, rule, &huge, bytes, &length, bytes, &length, bytes);
    expect("a huge length", rc, reason, 8, 153);
    CSNBOWH(&rc, &reason, NULL, NULL, &one, rule, &length, NULL, &length, bytes, &length, bytes);
    expect("no text", rc, reason, 8, 72);
    CSNBOWH(&rc, &reason, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    expect("nothing at all", rc, reason, 8, 129);
    length = 8;
    CSNBOWH(&rc, &reason, NULL, NULL, &one, rule, &length, bytes, &(long){0}, NULL, &length, bytes);
    if (rc == 0)
        expect("less room than a hash has", rc, reason, 8, 72);
    CSNBKRR(&rc, &reason, NULL, NULL, (unsigned char *)"NO.SUCH.LABEL                                                   ",
            bytes);
    expect("no such label", rc, reason, 8, 30);
    CSNDKTC(&rc, &reason, NULL, NULL, &one, (unsigned char *)"RTCMK   ", &huge, bytes);
    expect("a huge token", rc, reason, 8, 153);
}

/* Master keys in shares: parameters arrive, and what is not made is left alone. */
static void shares(void) {
    long rc, reason, two = 2, one = 1, four = 4, index = 1, certificate_length = 3, key_length = 512, info_length = 1000;
    long hash_length = 32, sixteen = 16, count;
    unsigned char name[65], none[65], certificate[3] = {0x40, 0, 0}, key[512], info[1000], hash[32] = {1}, status[48];
    memset(name, ' ', 64);
    memset(none, ' ', 64);
    memcpy(name, "CERTIFIER", 9);
    memcpy(none, "NONE", 4);
    CSUACFC(&rc, &reason, NULL, NULL, &one, (unsigned char *)"SET-MOFN", &four, (unsigned char *)"0305");
    expect("CSUACFC", rc, reason, 0, 0);
    CSUACFC(&rc, &reason, NULL, NULL, &one, (unsigned char *)"SET-EID ", &sixteen, (unsigned char *)"A CARD FOR TESTS");
    expect("CSUACFC with SET-EID", rc, reason, 0, 0);
    count = 6;
    memcpy(status, "STATMOFN", 8);
    one = 1;
    sixteen = 0;
    CSUACFQ(&rc, &reason, NULL, NULL, &one, status, &sixteen, NULL);
    expect("CSUACFQ", rc, reason, 0, 0);
    if (one != count || memcmp(status, "111110000000000 111110000000000 03      05      ", 48) != 0)
        expect("STATMOFN", 1, 0, 0, 0);
    CSNDPKH(&rc, &reason, NULL, NULL, &two, (unsigned char *)"SHA-256 CLONE   ", name, &hash_length, hash);
    expect("CSNDPKH", rc, reason, 0, 0);
    one = 1;
    CSNDPKR(&rc, &reason, NULL, NULL, &one, (unsigned char *)"CLONE   ", name, &certificate_length, certificate);
    expect("CSNDPKR", rc, reason, 8, 49);
    memset(key, 0xa0, sizeof key);
    CSUAMKD(&rc, &reason, NULL, NULL, &two, (unsigned char *)"INSTALL SYM-MK  ", &index, none, name, &certificate_length,
            certificate, &key_length, key, &info_length, info);
    expect("CSUAMKD", rc, reason, 8, 1026);
    index = -1;
    CSUAMKD(&rc, &reason, NULL, NULL, &two, (unsigned char *)"INSTALL SYM-MK  ", &index, none, name, &certificate_length,
            certificate, &key_length, key, &info_length, info);
    expect("CSUAMKD with a negative index", rc, reason, 8, 72);
    if (key_length != 512 || info_length != 1000 || key[511] != 0xa0)
        expect("the program's own", 1, 0, 0, 0);
}

/* A label of 64 characters. */
static unsigned char *label(const char *text, unsigned char name[64]) {
    memset(name, ' ', 64);
    memcpy(name, text, strlen(text));
    return name;
}

/* A key for cloning of that name. Its token's length. */
static long cloning_key(const char *text, unsigned char token[3500]) {
    static unsigned char rsa[] = {8, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1};
    long rc, reason, one = 1, two = 2, length = sizeof rsa, name_length = 64, none = 0, skeleton_length = 3500;
    long token_length = 3500;
    unsigned char name[64], skeleton[3500], transport[64] = {0};
    CSNDPKB(&rc, &reason, NULL, NULL, &one, (unsigned char *)"RSA-CRT ", &length, rsa, &name_length, label(text, name), &none, NULL,
            &none, NULL, &none, NULL, &none, NULL, &none, NULL, &skeleton_length, skeleton);
    expect("CSNDPKB", rc, reason, 0, 0);
    CSNDPKG(&rc, &reason, NULL, NULL, &two, (unsigned char *)"RETAIN  CLONE   ", &none, NULL, &skeleton_length, skeleton, transport,
            &token_length, token);
    expect("CSNDPKG", rc, reason, 0, 0);
    return token_length;
}

/* The certificate of a token's key, which the key C.SA signs. Its length; and the hash of what is before the signature. */
static long certify(long token_length, unsigned char *token, unsigned char certificate[3500], unsigned char hash[36]) {
    long rc, reason, one = 1, two = 2, none = 0, name_length = 64, length = 3500, hash_length = 32, signed_length = 36;
    long signature_length = 512, bits, chain_length = 128;
    unsigned char name[64], signature[512], chain[128] = {0};
    CSNDPKB(&rc, &reason, NULL, NULL, &one, (unsigned char *)"RSA-CERT", &token_length, token, &name_length, label("C.SA", name),
            &none, NULL, &none, NULL, &none, NULL, &none, NULL, &none, NULL, &length, certificate);
    expect("CSNDPKB with RSA-CERT", rc, reason, 0, 0);
    CSNBOWH(&rc, &reason, NULL, NULL, &one, (unsigned char *)"SHA-256 ", &length, certificate, &chain_length, chain, &hash_length,
            hash + 4);
    expect("CSNBOWH", rc, reason, 0, 0);
    memcpy(hash, "\0\0\0 ", 4);
    CSNDDSG(&rc, &reason, NULL, NULL, &two, (unsigned char *)"PKCS-PSSSHA-256 ", &name_length, name, &signed_length, hash,
            &signature_length, &bits, signature);
    expect("CSNDDSG", rc, reason, 0, 0);
    memcpy(certificate + length, signature, signature_length);
    return length + signature_length;
}

/* A card is cloned to itself: its symmetric master key goes out in shares, and comes into the register "new". */
static void clone_card(void) {
    static unsigned char token[3500], sa[3500], source[3500], target[3500];
    long rc, reason, one = 1, two = 2, four = 4, hash_length = 32, length, sa_length, source_length, target_length;
    unsigned char name[64], certifier[64], hash[36];
    CSUACFC(&rc, &reason, NULL, NULL, &one, (unsigned char *)"SET-MOFN", &four, (unsigned char *)"0203");
    expect("CSUACFC", rc, reason, 0, 0);
    length = cloning_key("C.SA", token);
    sa_length = certify(length, token, sa, hash);
    CSNDPKH(&rc, &reason, NULL, NULL, &two, (unsigned char *)"SHA-256 CLONE   ", label("C.CERTIFIER", certifier), &hash_length,
            hash + 4);
    expect("CSNDPKH", rc, reason, 0, 0);
    CSNDPKR(&rc, &reason, NULL, NULL, &one, (unsigned char *)"CLONE   ", certifier, &sa_length, sa);
    expect("CSNDPKR", rc, reason, 0, 0);
    length = cloning_key("C.SOURCE", token);
    source_length = certify(length, token, source, hash);
    length = cloning_key("C.TARGET", token);
    target_length = certify(length, token, target, hash);
    for (long index = 3; index >= 2; index--) {
        long key_length = 512, info_length = 1000, before;
        unsigned char key[512], info[1000];
        CSUAMKD(&rc, &reason, NULL, NULL, &two, (unsigned char *)"OBTAIN  SYM-MK  ", &index, label("C.SOURCE", name), certifier,
                &target_length, target, &key_length, key, &info_length, info);
        expect("CSUAMKD with OBTAIN", rc, reason, 0, 0);
        before = info_length;
        CSUAMKD(&rc, &reason, NULL, NULL, &two, (unsigned char *)"INSTALL SYM-MK  ", &index, label("C.TARGET", name), certifier,
                &source_length, source, &key_length, key, &info_length, info);
        expect("CSUAMKD with INSTALL", rc, reason, index == 3 ? 0 : 4, index == 3 ? 0 : 1024);
        if (key_length != 256 || info_length != before)
            expect("lengths of what was installed", 1, 0, 0, 0);
    }
    CSNBMKP(&rc, &reason, NULL, NULL, &two, (unsigned char *)"SYM-MK  CLEAR   ", NULL);
    expect("CSNBMKP", rc, reason, 0, 0);
}

int main(void) {
    key("PINGEN  ", NULL, 1, pin_key);
    key("PINVER  ", NULL, 1, verify_key);
    key("OPINENC ", NULL, 2, out_key);
    key("IPINENC ", NULL, 2, in_key);
    key("OPINENC ", NULL, 3, next_key);
    pins();
    texts();
    labels();
    parts();
    shares();
    clone_card();
    short_array();
    hostile();

    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, many, NULL);
    /* Children that are forked while other threads call: each has its own connection. */
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) {
            many(NULL);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        expect("a child", status, 0, 0, 0);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
