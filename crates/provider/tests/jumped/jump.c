/* Jumps out of the module's own code with siglongjmp, from a signal handler, in the middle of operations, and goes on. The
 * first argument is a part of the module's file name; a second one leaves RSA out. */

#define _GNU_SOURCE
#include <link.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { JUMPS = 300 };

static uintptr_t low, high;
static sigjmp_buf back;
static volatile sig_atomic_t jumps, may_jump;

static int find(struct dl_phdr_info *object, size_t size, void *name)
{
    (void)size;
    if (strstr(object->dlpi_name, name) == NULL)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            low = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            high = low + object->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

/* Only out of the module itself: the C library's locks are not to be left behind. */
static void leave(int signal, siginfo_t *information, void *context)
{
    (void)signal;
    (void)information;
    uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (!may_jump || at < low || at >= high)
        return;
    may_jump = 0;
    jumps++;
    siglongjmp(back, 1);
}

static EVP_PKEY *rsa, *ec, *x25519, *peer;
static int without_rsa;

static int signs(EVP_PKEY *key)
{
    unsigned char signature[512];
    size_t length = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int signed_ = EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestSign(context, signature, &length, (const unsigned char *)"message", 7) == 1;
    EVP_MD_CTX_free(context);
    context = EVP_MD_CTX_new();
    signed_ = signed_ && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestVerify(context, signature, length, (const unsigned char *)"message", 7) == 1;
    EVP_MD_CTX_free(context);
    return signed_;
}

static int derives(void)
{
    unsigned char secret[32];
    size_t length = sizeof secret;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(x25519, NULL);
    int derived = EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, peer) == 1
        && EVP_PKEY_derive(context, secret, &length) == 1;
    EVP_PKEY_CTX_free(context);
    return derived;
}

static int works(void)
{
    return (without_rsa || signs(rsa)) && signs(ec) && derives();
}

static void set(long microseconds)
{
    struct itimerval timer = {{0, 0}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int count, char **arguments)
{
    without_rsa = count == 3;
    rsa = EVP_RSA_gen(2048);
    ec = EVP_EC_gen("P-256");
    x25519 = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    peer = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    if (count < 2 || !works() || !dl_iterate_phdr(find, arguments[1]))
        return 2;
    struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO};
    sigaction(SIGALRM, &action, NULL);
    for (volatile int i = 0; jumps < JUMPS; i++) {
        if (i > 1000 * JUMPS)
            return 3;
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            set(1 + i % 500);
            works();
        }
        may_jump = 0;
        set(0);
        if (i % 50 == 0 && !works())
            return 4;
    }
    return works() ? 0 : 5;
}
