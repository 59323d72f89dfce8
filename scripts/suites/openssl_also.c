/*
 * openssl.sh preloads this into OpenSSL's tests. Many of these tests make a library context of their own and load the
 * default provider into that context by a call. Such a context reads no configuration, so the test would run without
 * Outboard. This file makes each such call read the configuration in $OUTBOARD_ALSO, too, which loads Outboard.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/provider.h>

static void also(OSSL_LIB_CTX *context, const char *name, OSSL_PROVIDER *loaded)
{
    const char *configuration = getenv("OUTBOARD_ALSO");

    /* The program's own context (NULL) has read $OPENSSL_CONF. */
    if (loaded == NULL || context == NULL || configuration == NULL || strcmp(name, "default") != 0)
        return;
    ERR_set_mark();
    OSSL_LIB_CTX_load_config(context, configuration);
    ERR_pop_to_mark();
}

OSSL_PROVIDER *OSSL_PROVIDER_load(OSSL_LIB_CTX *context, const char *name)
{
    OSSL_PROVIDER *(*next)(OSSL_LIB_CTX *, const char *) = dlsym(RTLD_NEXT, "OSSL_PROVIDER_load");
    OSSL_PROVIDER *loaded = next(context, name);

    also(context, name, loaded);
    return loaded;
}

OSSL_PROVIDER *OSSL_PROVIDER_try_load(OSSL_LIB_CTX *context, const char *name, int retain_fallbacks)
{
    OSSL_PROVIDER *(*next)(OSSL_LIB_CTX *, const char *, int) = dlsym(RTLD_NEXT, "OSSL_PROVIDER_try_load");
    OSSL_PROVIDER *loaded = next(context, name, retain_fallbacks);

    also(context, name, loaded);
    return loaded;
}
