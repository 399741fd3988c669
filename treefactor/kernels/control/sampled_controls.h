/* Random knots of controls, the controls between them, and averages of knots. */

INLINE real NAME(clipped)(real x, double lower, double upper)
{
    const real low = lower - (real){0}, high = upper - (real){0};
    x = SELECT(x < low, low, x);
    return SELECT(x > high, high, x);
}

static void NAME(draw)(const Spline *c, uint64_t key, uint64_t first, const double *nominal, const double *scale, double *x)
{
    const ptrdiff_t entries = c->knots * c->nu;
    PASSES {
        bits own;
        real other = {0}, one = other + 1.0;
        for (int i = 0; i < WIDTH; i++) {
            own[i] = random_bits(key, first + (uint64_t)(l + i));
            one[i] = first + (uint64_t)(l + i) == 0 ? 0.0 : 1.0;
        }
        for (ptrdiff_t e = 0, j = 0; e < entries; e++, j = j + 1 == c->nu ? 0 : j + 1) {
            real normal = other;
            if (e % 2 == 0) NAME(normal_pair)(own, (uint64_t)e, &normal, &other);
            AT(x + l, e) = NAME(clipped)(nominal[e] + scale[e] * (one * normal), c->lower[j], c->upper[j]);
        }
    }
}

static void NAME(control)(const Spline *c, ptrdiff_t t, const double *knots, double *u)
{
    const double *weight = c->weight + t * c->order;
    knots += c->first[t] * c->nu * LANES;
    PASSES
        for (ptrdiff_t j = 0; j < c->nu; j++) {
            real sum = weight[0] * READ(knots + l, j);
            for (ptrdiff_t k = 1; k < c->order; k++) sum += weight[k] * READ(knots + l, k * c->nu + j);
            AT(u + l, j) = NAME(clipped)(sum, c->lower[j], c->upper[j]);
        }
}

/* The samples of a lane are added one after the other, and the lanes then: in one order, whatever the registers. */
static void NAME(average)(ptrdiff_t blocks, ptrdiff_t entries, const double *weight, const double *x, const double *mean,
                          double *result)
{
    double sums[LANES] __attribute__((aligned(64)));
    for (ptrdiff_t e = 0; e < entries; e++) {
        PASSES {
            real sum = {0};
            for (ptrdiff_t b = 0; b < blocks; b++) {
                const real own = READ(x + l, b * entries + e);
                const real moved = mean ? (own - mean[e]) * (own - mean[e]) : own;
                sum += READ(weight + l, b) * moved;
            }
            AS(real, sums + l) = sum;
        }
        result[e] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
}
