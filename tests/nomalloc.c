/* Fails the n-th allocation that a compiled module of treefactor asks for, itself or by way of the interpreter or
 * of NumPy, and counts them: preloaded by test_memory.py. What grows (realloc) is left out: Cython 3.3.1 releases
 * an element twice that it could not append to a list. So is what NumPy 2.4 needs beside the entries of an array:
 * it goes on without. */
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

long nomalloc_seen = 0, nomalloc_fails = -1;
static __thread int inside = 0;

enum { UNKNOWN, OURS, INTERPRETER, NUMPY, OTHERS, DEPTH = 24, KNOWN = 1 << 16, ENTRIES = 1024 };
static struct { void *address; int owner; } known[KNOWN];

static int owner_of(void *address) {
    size_t at = ((uintptr_t) address >> 1) % KNOWN;
    Dl_info info;
    if (known[at].address != address) {
        const char *name = dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
        known[at].address = address;
        known[at].owner = strstr(name, "/treefactor/") && strstr(name, ".so") ? OURS
            : strstr(name, "_multiarray_umath") ? NUMPY
            : strstr(name, "-packages") || strstr(name, "lib-dynload") ? OTHERS
            : strstr(name, "python") || strstr(name, "libc.so") || strstr(name, "nomalloc") ? INTERPRETER
            : OTHERS;
    }
    return known[at].owner;
}

static int refused(size_t size) {
    void *frames[DEPTH];
    int count, k, owner = UNKNOWN;
    if (inside || nomalloc_fails < 0) return 0;
    inside = 1;
    count = backtrace(frames, DEPTH);
    for (k = 0; k < count; k++) {
        owner = owner_of(frames[k]);
        if (owner != INTERPRETER && !(owner == NUMPY && size >= ENTRIES)) break;
    }
    inside = 0;
    return owner == OURS && nomalloc_seen++ == nomalloc_fails;
}

void *malloc(size_t size) { return refused(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return refused(n * size) ? NULL : __libc_calloc(n, size); }
void *aligned_alloc(size_t to, size_t size) { return refused(size) ? NULL : __libc_memalign(to, size); }
int posix_memalign(void **found, size_t to, size_t size) {
    if (refused(size)) return ENOMEM;
    *found = __libc_memalign(to, size);
    return *found ? 0 : ENOMEM;
}
