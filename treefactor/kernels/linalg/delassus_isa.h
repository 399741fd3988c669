/* Kernels of J H^-1 J^T for one instruction set: included by delassus.c with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#undef WIDTH
#define WIDTH (REGISTER / 8)

#include "delassus_one.h"

#undef KERNELS
#define KERNELS "kernels/linalg/invert_small.h"
#include "../common/one_and_lanes.h"

static void ISA(invert_all)(ptrdiff_t m, double damping, double *G, double *X, ptrdiff_t *failed)
{
    PASSES NAME(invert)(m, damping, G + l, X + l, failed + l);
}

static void ISA(multiply_plain)(ptrdiff_t n, ptrdiff_t m, const double *K, ptrdiff_t stride, const double *A, double *B)
{
    ISA(multiply_one)(n, m, K, stride, A, NULL, B);
}

static void ISA(multiply_all)(ptrdiff_t n, ptrdiff_t m, const double *K, const double *A, const double *squares,
                              double *B)
{
    PASSES NAME(multiply)(n, m, K + l, m, A + l, squares + l, B + l);
}

static void ISA(project)(ptrdiff_t n, ptrdiff_t m, const double *B, const double *J, double *restrict N)
{
    for (ptrdiff_t i = 0; i < n; i++, N += n) {
        for (ptrdiff_t j = 0; j < n; j++) N[j] = i == j;
        for (ptrdiff_t e = 0; e < m; e++)
            for (ptrdiff_t j = 0; j < n; j++) N[j] -= B[i * m + e] * J[e * n + j];
    }
}

const DelassusTable ISA(delassus) = {
    ISA_NAME, ISA(delassus_one), ISA(invert_one), ISA(invert_all), ISA(multiply_plain), ISA(multiply_all), ISA(project),
};
