/* A register machine on LANES configurations at a time: slot s of configuration l stands at room[s * LANES + l]. */
#ifndef TREEFACTOR_MACHINE_H
#define TREEFACTOR_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* What an instruction computes of a, b, c, d. */
typedef enum {
    OP_MUL,                          /* a b */
    OP_ADD,                          /* a + b */
    OP_SUB,                          /* a - b */
    OP_FMA,                          /* a b + c */
    OP_FMS,                          /* a b - c */
    OP_FNMA,                         /* c - a b */
    OP_DOT,                          /* a b + c d */
    OP_DET,                          /* a b - c d */
    OP_RECIP,                        /* 1 / a */
    OP_SINCOS,                       /* two results: sin a, cos a */
    OP_END
} Opcode;

/* Code is a sequence of runs: an opcode, how often, and for each time the slots of the results and operands;
 * the last one is OP_END. */
typedef struct {
    int lanes;
    void (*run)(const int32_t *code, double *room);
    /* room <- entries of `count` configurations, the first one also where there are fewer than LANES */
    void (*load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry, double *room);
    /* the reverse: entry e is sign[e] times slot[e] */
    void (*store)(ptrdiff_t size, int count, const int32_t *slot, const double *sign, const double *room, char *to,
                  ptrdiff_t to_lane, ptrdiff_t to_entry);
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
