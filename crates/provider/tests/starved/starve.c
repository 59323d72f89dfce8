/* Preloaded: malloc and its relatives fail when one module calls them, while that is asked for. */

#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t low, high;
/* So many allocations succeed before all fail; negative: none fails. */
static _Thread_local long left = -1;
static _Thread_local long failed;

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

/* Whose allocations are to fail: 1 if that module is loaded. */
int starve_module(char *name)
{
    return dl_iterate_phdr(find, name);
}

/* From now on, in this thread, after so many more; returns how many have failed since the last call. */
long starve_after(long count)
{
    long before = failed;
    failed = 0;
    left = count;
    return before;
}

static int fails(void *caller)
{
    uintptr_t from = (uintptr_t)caller;
    if (left < 0 || from < low || from >= high)
        return 0;
    if (left > 0) {
        left--;
        return 0;
    }
    failed++;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(__builtin_return_address(0)))
        return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory == NULL ? ENOMEM : 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
