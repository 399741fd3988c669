/* Fails the n-th allocation that a compiled module of treefactor asks for, itself or by way of the interpreter or
 * of NumPy, and counts them; counts what the modules themselves still hold. Preloaded by test_memory.py.
 *
 * Left out are what grows (realloc), as Cython 3.3.1 releases an element twice that it could not append to a list,
 * what NumPy 2.4 needs beside the entries of an array, as it goes on without, and what the interpreter needs while
 * it evaluates Python code that a compiled module calls: without it CPython 3.13 crashes, whoever calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

long nomalloc_seen = 0, nomalloc_fails = -1, nomalloc_held = 0;
static __thread int inside = 0;

enum { UNKNOWN, OURS, THIS, INTERPRETER, NUMPY, OTHERS, DEPTH = 24, KNOWN = 1 << 16, ENTRIES = 1024, HELD = 1024 };
enum { LIBRARIES = 64 };
static struct { void *address; int owner; } known[KNOWN];
static struct { void *base; int owner; } library[LIBRARIES];
static int libraries = 0;
static void *mine[HELD];
static void *evaluation;     /* the interpreter's function that evaluates Python code */

/* Where the library is loaded that an address belongs to. */
static void *base_of(void *address) {
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static void add(void *address, int owner) {
    void *base = base_of(address);
    int k;
    for (k = 0; k < libraries; k++)
        if (library[k].base == base) return;
    if (libraries == LIBRARIES || !base) abort();
    library[libraries].base = base;
    library[libraries++].owner = owner;
}

/* Counts the library that an open handle belongs to as ours, or as NumPy's. The paths of files play no part. */
void nomalloc_add(void *handle, int numpy) {
    struct link_map *map;
    if (!libraries) {
        add((void *) base_of, THIS);
        add((void *) __libc_malloc, INTERPRETER);
        add(dlsym(RTLD_DEFAULT, "PyObject_Malloc"), INTERPRETER);
        evaluation = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
    }
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map)) abort();
    add(map->l_ld, numpy ? NUMPY : OURS);
}

static int owner_of(void *address) {
    size_t at = ((uintptr_t) address >> 1) % KNOWN;
    int k;
    if (known[at].address != address) {
        void *base = base_of(address);
        known[at].address = address;
        known[at].owner = OTHERS;
        for (k = 0; k < libraries; k++)
            if (library[k].base == base) known[at].owner = library[k].owner;
    }
    return known[at].owner;
}

/* Who asks for memory; direct: whether with nobody in between. */
struct request { size_t size; int count, owner, last, direct; };

/* Looks at one caller, from the inside out; ends at the first that decides, as unwinding takes long. */
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *given) {
    struct request *r = given;
    r->last = r->owner;
    r->owner = owner_of((void *) _Unwind_GetIP(context));
    r->direct = r->owner == OURS && r->last == THIS;
    if (r->owner == INTERPRETER && (void *) _Unwind_GetRegionStart(context) == evaluation) return _URC_END_OF_STACK;
    if (r->owner != THIS && r->owner != INTERPRETER && !(r->owner == NUMPY && r->size >= ENTRIES)) return _URC_END_OF_STACK;
    return ++r->count < DEPTH ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static int asking(size_t size, int *direct) {
    struct request r = {size, 0, THIS, THIS, 0};
    inside = 1;
    _Unwind_Backtrace(look, &r);
    inside = 0;
    *direct = r.direct;
    return r.owner;
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
