/* Compares every function with reference values: prints the largest deviations, returns 1 if one is too large. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics.h"

typedef void Function(const double *q, const double *v, const double *u, double *out);

typedef struct {
    const char *name;
    Function *one, *eight;
    const double *v, *u;            /* NULL if the function does not take it */
    const double *expected;
    int size, u_size;               /* entries of out and u */
    double tolerance;               /* relative to the largest entry */
} Case;

#include "reference.h"

/* Rearranges eight configurations: from one per row to entry e of configuration l at 8 e + l. */
static void transpose(int n, const double *rows, double *lanes)
{
    for (int l = 0; l < 8; l++)
        for (int e = 0; e < n; e++) lanes[8 * e + l] = rows[l * n + e];
}

/* Returns the largest deviation relative to the largest expected entry; step: 1 for rows, 0 for lanes. */
static double deviation(const Case *c, int step, const double *out)
{
    double largest = 0.0, scale = 0.0;
    for (int l = 0; l < 8; l++)
        for (int e = 0; e < c->size; e++) {
            double actual = step ? out[l * c->size + e] : out[8 * e + l];
            double expected = c->expected[l * c->size + e];
            double off = fabs(actual - expected);
            if (!(off <= largest)) largest = isnan(off) ? INFINITY : off;
            if (fabs(expected) > scale) scale = fabs(expected);
        }
    return scale > 0.0 ? largest / scale : largest;
}

/* Prints the deviation of one form of a function; returns whether it is too large. */
static int report(const Case *c, const char *form, double off)
{
    int good = off <= c->tolerance;
    printf("%-16s %-4s largest deviation %.1e, allowed %.1e%s\n", c->name, form, off, c->tolerance,
           good ? "" : "  WRONG");
    return !good;
}

int main(void)
{
    static double out[8 * LARGEST], q8[8 * NQ], v8[8 * NV], u8[8 * LARGEST_U];
    int wrong = 0;
    printf("tf_abi %d, tf_hash %s\n", tf_abi(), tf_hash());
    transpose(NQ, q, q8);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const Case *c = &cases[k];
        memset(out, 0, sizeof out);
        for (int l = 0; l < 8; l++)
            c->one(q + l * NQ, c->v ? c->v + l * NV : NULL, c->u ? c->u + l * c->u_size : NULL, out + l * c->size);
        wrong |= report(c, "", deviation(c, 1, out));
        if (c->v) transpose(NV, c->v, v8);
        if (c->u) transpose(c->u_size, c->u, u8);
        memset(out, 0, sizeof out);
        c->eight(q8, v8, u8, out);
        wrong |= report(c, "x8", deviation(c, 0, out));
    }
    return wrong;
}
