/* Fails the n-th allocation that a compiled module of treefactor asks for, itself or by way of the interpreter or
 * of NumPy, and counts them; counts what the modules themselves still hold. Preloaded by test_memory.py.
 *
 * Left out are what grows (realloc), as Cython 3.3.1 releases an element twice that it could not append to a list,
 * and what NumPy 2.4 needs beside the entries of an array, as it goes on without. */
#define _GNU_SOURCE
#include <errno.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

long nomalloc_seen = 0, nomalloc_fails = -1, nomalloc_held = 0;
static __thread int inside = 0;

enum { UNKNOWN, OURS, THIS, INTERPRETER, NUMPY, OTHERS, DEPTH = 24, KNOWN = 1 << 16, ENTRIES = 1024, HELD = 1024 };
static struct { void *address; int owner; } known[KNOWN];
static void *mine[HELD];

static int owner_of(void *address) {
    size_t at = ((uintptr_t) address >> 1) % KNOWN;
    Dl_info info;
    if (known[at].address != address) {
        const char *name = dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
        known[at].address = address;
        known[at].owner = strstr(name, "/treefactor/") && strstr(name, ".so") ? OURS
            : strstr(name, "nomalloc") ? THIS
            : strstr(name, "_multiarray_umath") ? NUMPY
            : strstr(name, "-packages") || strstr(name, "lib-dynload") ? OTHERS
            : strstr(name, "python") || strstr(name, "libc.so")
                ? INTERPRETER
            : OTHERS;
    }
    return known[at].owner;
}

/* Who asks for memory; direct: whether with nobody in between. */
static int asking(size_t size, int *direct) {
    void *frames[DEPTH];
    int count, k, owner = UNKNOWN, last = THIS;
    inside = 1;
    count = backtrace(frames, DEPTH);
    for (k = 0; k < count; k++, last = owner) {
        owner = owner_of(frames[k]);
        if (owner != THIS && owner != INTERPRETER && !(owner == NUMPY && size >= ENTRIES)) break;
    }
    inside = 0;
    *direct = owner == OURS && last == THIS;
    return owner;
}

/* The memory that `get` gives, or none. */
#define GIVE(size, get)                                                                     \
    int direct = 0, k;                                                                      \
    void *p;                                                                                \
    if (inside || nomalloc_fails < 0) return get;                                           \
    if (asking(size, &direct) == OURS && nomalloc_seen++ == nomalloc_fails) return NULL;    \
    p = get;                                                                                \
    for (k = 0; direct && p && k < HELD; k++)                                               \
        if (!mine[k]) {                                                                     \
            mine[k] = p;                                                                    \
            nomalloc_held++;                                                                \
            break;                                                                          \
        }                                                                                   \
    return p;

void *malloc(size_t size) { GIVE(size, __libc_malloc(size)) }
void *calloc(size_t n, size_t size) { GIVE(n * size, __libc_calloc(n, size)) }
void *aligned_alloc(size_t to, size_t size) { GIVE(size, __libc_memalign(to, size)) }

int posix_memalign(void **found, size_t to, size_t size) {
    *found = aligned_alloc(to, size);
    return *found ? 0 : ENOMEM;
}

void free(void *p) {
    int k;
    for (k = 0; p && nomalloc_held && k < HELD; k++)
        if (mine[k] == p) {
            mine[k] = NULL;
            nomalloc_held--;
        }
    __libc_free(p);
}
