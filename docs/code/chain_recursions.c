/* Inertia matrix of a revolute chain by the Kane-sum recursion as printed, and by the composites of
   treefactor/dynamics/chain_on_scalars.py: measured by measure_chains.py, used by nothing else.

   Arrays of one chain: axis, r, c (n, 3), mass (n,), inertia (n, 3, 3), A (n, n). With LANES > 1 every entry is a
   vector of as many chains. Numbers are the paper's equations. */

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if LANES > 1
typedef double real __attribute__((vector_size(8 * LANES), aligned(8)));
#else
typedef double real;
#endif

INLINE real dot(const real *x, const real *y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }

INLINE void cross(const real *x, const real *y, real *z)
{
    z[0] = x[1] * y[2] - x[2] * y[1];
    z[1] = x[2] * y[0] - x[0] * y[2];
    z[2] = x[0] * y[1] - x[1] * y[0];
}

/* M += x~ y~^T = (x^T y) E - y x^T, without the zeros of both matrices */
INLINE void add_product(const real *x, const real *y, real *M)
{
    const real xx = x[0] * y[0], yy = x[1] * y[1], zz = x[2] * y[2];
    M[0] += yy + zz;
    M[4] += xx + zz;
    M[8] += xx + yy;
    M[1] -= y[0] * x[1];
    M[2] -= y[0] * x[2];
    M[3] -= y[1] * x[0];
    M[5] -= y[1] * x[2];
    M[6] -= y[2] * x[0];
    M[7] -= y[2] * x[1];
}

/* Equations (12) to (16) and (20): for every pair i <= k the sums of the bodies from k on. M2 and M3 hold, for
   every i, the sums over the bodies behind k. */
void printed(long batch, long n, const real *axis, const real *r, const real *mass, const real *c,
             const real *inertia, real *A, real *workspace)
{
    real *o = workspace, *S = o + 3 * n, *M2 = S + 3 * n, *M3 = M2 + 9 * n;
    for (; batch--; axis += 3 * n, r += 3 * n, mass += n, c += 3 * n, inertia += 9 * n, A += n * n) {
        real M1[9], own[9], r_ik[3], Ma[3];
        memset(S, 0, 21 * n * sizeof(real));
        memset(M1, 0, sizeof M1);
        memset(o, 0, 3 * sizeof(real));
        for (long k = 3; k < 3 * n; k++)
            o[k] = o[k - 3] + r[k];
        for (long k = n - 1; k >= 0; k--) {
            const real *a = axis + 3 * k;
            for (int e = 0; e < 9; e++) {
                M1[e] += inertia[9 * k + e];           /* (13) */
                own[e] = M1[e] + M3[9 * k + e];
            }
            for (int x = 0; x < 3; x++) {
                Ma[x] = (own[3 * x] + M2[9 * k + 3 * x] + M3[9 * k + x]) * a[0]
                    + (own[3 * x + 1] + M2[9 * k + 3 * x + 1] + M3[9 * k + 3 + x]) * a[1]
                    + (own[3 * x + 2] + M2[9 * k + 3 * x + 2] + M3[9 * k + 6 + x]) * a[2];
            }
            A[k * n + k] = dot(a, Ma);                 /* (16a), (20) */
            for (long i = 0; i < k; i++) {
                real *m2 = M2 + 9 * i, *m3 = M3 + 9 * i, *s = S + 3 * i;
                for (int x = 0; x < 3; x++)
                    r_ik[x] = o[3 * k + x] - o[3 * i + x];   /* (12) */
                add_product(c + 3 * k, r_ik, m3);      /* (15) */
                for (int x = 0; x < 3; x++)
                    Ma[x] = (own[3 * x] + m2[3 * x] + m3[x]) * a[0]
                        + (own[3 * x + 1] + m2[3 * x + 1] + m3[3 + x]) * a[1]
                        + (own[3 * x + 2] + m2[3 * x + 2] + m3[6 + x]) * a[2];   /* (16b) */
                A[i * n + k] = A[k * n + i] = dot(axis + 3 * i, Ma);   /* (20) */
                for (int x = 0; x < 3; x++)
                    s[x] += mass[k] * r_ik[x];
                add_product(s, r + 3 * k, m2);         /* (14), with the sums of m r */
            }
        }
    }
}

/* Column k is the momentum of the bodies from k on when joint k alone moves, about the first joint. */
void composite(long batch, long n, const real *axis, const real *r, const real *mass, const real *c,
               const real *inertia, real *A, real *workspace)
{
    real *o = workspace, *v = o + 3 * n;
    for (; batch--; axis += 3 * n, r += 3 * n, mass += n, c += 3 * n, inertia += 9 * n, A += n * n) {
        real m, h[3], shifted[3], I[9], P[3], L[3], moved[3];
        memset(&m, 0, sizeof m), memset(h, 0, sizeof h), memset(I, 0, sizeof I);
        memset(o, 0, 3 * sizeof(real));
        for (long k = 0; k < n; k++) {
            for (int x = 0; k && x < 3; x++)
                o[3 * k + x] = o[3 * k - 3 + x] + r[3 * k + x];
            cross(o + 3 * k, axis + 3 * k, v + 3 * k);
        }
        for (long k = n - 1; k >= 0; k--) {
            const real *a = axis + 3 * k;
            if (k < n - 1) {
                const real *s = r + 3 * k + 3;
                for (int x = 0; x < 3; x++)
                    shifted[x] = h[x] + m * s[x];
                const real x = s[0] * (h[0] + shifted[0]), y = s[1] * (h[1] + shifted[1]),
                           z = s[2] * (h[2] + shifted[2]);
                I[0] += y + z;
                I[4] += x + z;
                I[8] += x + y;
                I[1] -= s[0] * h[1] + s[1] * shifted[0];
                I[2] -= s[0] * h[2] + s[2] * shifted[0];
                I[5] -= s[1] * h[2] + s[2] * shifted[1];
                memcpy(h, shifted, sizeof h);
            }
            m += mass[k];
            for (int x = 0; x < 3; x++)
                h[x] += c[3 * k + x];
            for (int e = 0; e < 9; e++)
                I[e] += inertia[9 * k + e];
            I[3] = I[1], I[6] = I[2], I[7] = I[5];
            cross(a, h, P);
            for (int x = 0; x < 3; x++)
                L[x] = dot(I + 3 * x, a);
            A[k * n + k] = dot(a, L);
            cross(o + 3 * k, P, moved);
            for (int x = 0; x < 3; x++)
                L[x] += moved[x];
            for (long i = 0; i < k; i++)
                A[i * n + k] = A[k * n + i] = dot(axis + 3 * i, L) + dot(v + 3 * i, P);
        }
    }
}
