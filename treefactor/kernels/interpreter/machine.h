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
    /* rooms <- entries of `count` configurations: `lanes` of them in the first room, others in the next ones,
     * `to_room` doubles apart; lanes beyond repeat the first of their room */
    void (*load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                 double *room, ptrdiff_t to_room);
    /* the reverse: entry e is sign[e] times slot[e] */
    void (*store)(ptrdiff_t size, int count, const int32_t *slot, const double *sign, const double *room,
                  ptrdiff_t to_room, char *to, ptrdiff_t to_lane, ptrdiff_t to_entry);
    /* which lanes of a room have a slot that is not finite among the first ones, or squares that do not sum to
     * 1 within a tolerance, of so many slots from unit[2 k] on: odd[lane] is not 0. Whether there are any. */
    int (*find_odd)(ptrdiff_t slots, ptrdiff_t units, const ptrdiff_t *unit, double tolerance,
                    const double *room, int64_t *odd);
    /* which lanes have a result that is not finite, of so many in these slots, one every `step`: odd[lane] is
     * made other than 0. Whether there are any, odd before or now. */
    int (*find_failed)(ptrdiff_t size, ptrdiff_t step, const int32_t *slot, const double *room, int64_t *odd);
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
