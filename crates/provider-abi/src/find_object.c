/* Which module a program counter belongs to, for the unwinder that is linked in.
 *
 * GCC's unwinder asks the C library by _dl_find_object, which is new in glibc 2.35. Modules that ask so cannot be loaded into
 * programs with glibc 2.34 (RHEL 9 and its kin). Here is the same answer by dl_iterate_phdr, as unwinders asked before: found
 * first by the linker, and hidden, so that no other module ever sees it.
 *
 * It runs where a panic unwinds, which is never fast, and needs no memory of its own.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* glibc 2.35's struct dl_find_object (dlfcn.h), under a name of its own: an older header has none. */
struct found {
    unsigned long long flags;
    void *map_start;
    void *map_end;
    struct link_map *link_map;
    void *eh_frame;
    unsigned long long reserved[7];
};

struct search {
    uintptr_t pc;
    struct found *found;
};

static int look(struct dl_phdr_info *module, size_t size, void *data)
{
    (void)size;
    struct search *search = data;
    uintptr_t start = UINTPTR_MAX, end = 0;
    void *eh_frame = NULL;
    int holds_pc = 0;
    for (size_t i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
        uintptr_t from = module->dlpi_addr + segment->p_vaddr;
        uintptr_t to = from + segment->p_memsz;
        if (segment->p_type == PT_GNU_EH_FRAME)
            eh_frame = (void *)from;
        if (segment->p_type != PT_LOAD)
            continue;
        if (from < start)
            start = from;
        if (to > end)
            end = to;
        if (from <= search->pc && search->pc < to)
            holds_pc = 1;
    }
    if (!holds_pc || eh_frame == NULL)
        return holds_pc ? -1 : 0;
    *search->found = (struct found){
        .map_start = (void *)start,
        .map_end = (void *)end,
        .eh_frame = eh_frame,
    };
    return 1;
}

/* 0 and the module, or -1. (dlfcn.h may declare the function; so its name here is another one.) */
__attribute__((visibility("hidden"))) int find_object(void *pc, struct found *found) __asm__("_dl_find_object");

int find_object(void *pc, struct found *found)
{
    struct search search = { .pc = (uintptr_t)pc, .found = found };
    return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
