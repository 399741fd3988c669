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

#endif
