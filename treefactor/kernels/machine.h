/* A register machine on `lanes` configurations at a time: slot s of lane l stands at room[s * lanes + l]. */
#ifndef TREEFACTOR_MACHINE_H
#define TREEFACTOR_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* Opcodes: sums of up to three terms, so many products and numbers and negative ones of each, of which one is
 * positive; 1 / a, and that of pivots, which is NaN unless it is positive, or negative; and with two results,
 * sin a and cos a. */
#define SUM(products, negative_products, numbers, negative_numbers) \
    (((products) * 4 + (negative_products)) * 16 + (numbers) * 4 + (negative_numbers))
enum {
    OP_END = SUM(0, 0, 0, 0),
    OP_SINCOS = SUM(0, 0, 0, 1),
    OP_RECIP = SUM(0, 0, 1, 0),
    OP_POSITIVE = SUM(0, 1, 0, 0),
    OP_NEGATIVE = SUM(0, 0, 0, 2),
    OPCODES = SUM(3, 0, 0, 0) + 1    /* the largest, and one */
};

/* Code is a sequence of runs: an opcode, how often, and for each time the slots of the results and operands;
 * the last one is OP_END. */
typedef struct {
    int lanes;
    void (*run)(const int32_t *code, double *room);
    /* room <- entries of `count` configurations; lanes beyond repeat the first */
    void (*load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                 double *room);
    /* the reverse: entry e is sign[e] times slot[e] */
    void (*store)(ptrdiff_t size, int count, const int32_t *slot, const double *sign, const double *room,
                  char *to, ptrdiff_t to_lane, ptrdiff_t to_entry);
} Width;

enum { WIDTHS = 4 };

typedef struct {
    const char *name;
    Width width[WIDTHS];             /* the widest first, the last one of a single lane */
} Machine;

extern const Machine machine_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const Machine machine_avx2, machine_avx512;
#endif

#endif
