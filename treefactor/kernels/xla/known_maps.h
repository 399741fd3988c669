/* Table of the maps that a process knows, by number: it only grows, readers need no lock. */
#ifndef TREEFACTOR_XLA_KNOWN_MAPS_H
#define TREEFACTOR_XLA_KNOWN_MAPS_H

#include <stdint.h>

enum { XLA_MOST_AXES = 6, XLA_MOST_ARRAYS = 24, XLA_LISTS = 1024 };

typedef struct {
    int64_t axes, size;                                 /* of one configuration */
    int64_t dims[XLA_MOST_AXES];
} ArrayShape;

typedef struct KnownMap {
    int64_t number;
    void *map;                                          /* Python object, owned */
    void *plan;                                         /* Plan, owned, or NULL */
    char *name;                                         /* for messages */
    int dtype;                                          /* of its numbers; XLA_F32 is converted to XLA_F64 */
    int inputs, outputs;
    ArrayShape shape[XLA_MOST_ARRAYS];                  /* of the inputs, then of the outputs */
    const struct KnownMap *next;
} KnownMap;

static const KnownMap *known_maps[XLA_LISTS];

static const KnownMap **list_of(int64_t number)
{
    return &known_maps[(uint64_t)number % XLA_LISTS];
}

/* Return the map of a number, or NULL. */
static const KnownMap *find_map(int64_t number)
{
    const KnownMap *map = __atomic_load_n(list_of(number), __ATOMIC_ACQUIRE);
    while (map && map->number != number)
        map = map->next;
    return map;
}

/* Add a map, which never changes afterwards; only one thread at a time may. */
static void add_map(KnownMap *map)
{
    map->next = *list_of(map->number);
    __atomic_store_n(list_of(map->number), map, __ATOMIC_RELEASE);
}

static int calls_in_python, python_exits;

/* Count a call that runs Python; return 0 if the interpreter exits: it would block such a call forever. */
static int enter_python(void)
{
    __atomic_add_fetch(&calls_in_python, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&python_exits, __ATOMIC_SEQ_CST))
        return 1;
    __atomic_sub_fetch(&calls_in_python, 1, __ATOMIC_SEQ_CST);
    return 0;
}

static void leave_python(void)
{
    __atomic_sub_fetch(&calls_in_python, 1, __ATOMIC_SEQ_CST);
}

/* Let no more calls run Python; return how many still do. */
static int close_python(void)
{
    __atomic_store_n(&python_exits, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&calls_in_python, __ATOMIC_SEQ_CST);
}

#endif
