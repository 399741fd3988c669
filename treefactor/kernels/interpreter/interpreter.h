/* Interpreter of programs: executes instructions on `lanes` configurations at a time, in double or in single
 * precision. The workspace holds slot s of lane l at workspace[s * lanes + l], numbers of that precision. */
#ifndef TREEFACTOR_INTERPRETER_H
#define TREEFACTOR_INTERPRETER_H

#include <stddef.h>
#include <stdint.h>

/* Opcodes. SUM_OPCODE: a sum of up to three terms, named by its counts of positive and negative products and of
 * positive and negative single operands; at least one term is positive. OP_RECIP: 1 / a. OP_POSITIVE and
 * OP_NEGATIVE: 1 / a of a pivot, NaN unless a is positive, or negative. OP_SINCOS: sin a and cos a, two results.
 * OP_SQRT: the square root of a, NaN if a is negative. OP_ATAN2: atan2(a, b). A sum plus OP_SCALED: the first
 * factor of every product is a constant, the same in all lanes. */
#define SUM_OPCODE(products, negative_products, numbers, negative_numbers) \
    (((products) * 4 + (negative_products)) * 16 + (numbers) * 4 + (negative_numbers))
enum {
    OP_END = SUM_OPCODE(0, 0, 0, 0),
    OP_SINCOS = SUM_OPCODE(0, 0, 0, 1),
    OP_RECIP = SUM_OPCODE(0, 0, 1, 0),
    OP_POSITIVE = SUM_OPCODE(0, 1, 0, 0),
    OP_NEGATIVE = SUM_OPCODE(0, 0, 0, 2),
    OP_SQRT = SUM_OPCODE(0, 1, 0, 1),
    OP_ATAN2 = SUM_OPCODE(0, 2, 0, 0),
    OP_SCALED = 256,
    OPCODES = OP_SCALED + SUM_OPCODE(3, 0, 0, 0) + 1    /* one more than the largest */
};

/* Kernels for one precision and number of lanes. Code is a sequence of runs: an opcode, a repeat count, then for each repetition
 * the slots of the results and of the operands; it ends with OP_END. */
typedef struct {
    int lanes;
    void (*run)(const int32_t *code, void *workspace);
    /* Copies `size` entries of `count` configurations into workspaces: `lanes` configurations into the first one,
     * the next `lanes` into the second, `to_workspace` numbers further; unused lanes repeat their first lane. */
    void (*load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                 void *workspace, ptrdiff_t to_workspace);
    /* Copies results out of the workspaces: entry e is sign[e] times slot[e]; without signs, if `sign` is NULL, slots
     * follow one another. */
    void (*store)(ptrdiff_t size, int count, const int32_t *slot, const double *sign, const void *workspace,
                  ptrdiff_t to_workspace, char *to, ptrdiff_t to_lane, ptrdiff_t to_entry);
    /* Sets invalid[lane] to non-zero for lanes with a non-finite value among the first `slots` slots, or with a
     * rotation (unit[2 k + 1] slots from unit[2 k] on) whose squares do not sum to 1 within the tolerance, and to
     * 0 for the others. Returns whether any lane is invalid. */
    int (*find_invalid)(ptrdiff_t slots, ptrdiff_t units, const ptrdiff_t *unit, double tolerance,
                        const void *workspace, int64_t *invalid);
    /* Sets invalid[lane] to non-zero for lanes with a non-finite result, checking every `step`-th of `size`
     * results, and leaves the others. Returns whether any result is not finite. */
    int (*find_failed)(ptrdiff_t size, ptrdiff_t step, const int32_t *slot, const void *workspace,
                       int64_t *invalid);
} Width;

enum { DOUBLE, SINGLE, PRECISIONS };
enum { WIDTHS = 4 };

typedef struct {
    const char *name;
    /* Widest first. In double precision the last has a single lane; in single precision the last two are equal,
     * since a whole register of numbers takes as long as one. */
    Width width[PRECISIONS][WIDTHS];
    /* Compute sines and cosines of n numbers, and atan2(y, x) of n pairs, for generated machine code; in single
     * precision n is a multiple of 16. */
    void (*sincos[PRECISIONS])(ptrdiff_t n, const void *x, void *sine, void *cosine);
    void (*arctangents[PRECISIONS])(ptrdiff_t n, const void *y, const void *x, void *angle);
} ProgramKernels;

extern const ProgramKernels program_kernels_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const ProgramKernels program_kernels_avx2, program_kernels_avx512;
#endif

#endif
