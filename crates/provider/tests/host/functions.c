/* Preloaded: functions of a program that AWS-LC would use in place of its own, as jemalloc's and BoringSSL's are. */

#include <stddef.h>
#include <stdlib.h>

void *OPENSSL_memory_alloc(size_t size) { (void)size; abort(); }
void OPENSSL_memory_free(void *memory) { (void)memory; abort(); }
size_t OPENSSL_memory_get_size(void *memory) { (void)memory; abort(); }
void *OPENSSL_memory_realloc(void *memory, size_t size) { (void)memory; (void)size; abort(); }
void sdallocx(void *memory, size_t size, int flags) { (void)memory; (void)size; (void)flags; abort(); }
