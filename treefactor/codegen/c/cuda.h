/* Defines what kernels of generated functions use. One thread computes one configuration: entry e of argument x of
 * configuration i is x[e * x_stride + i * x_step], so that neighbouring threads read neighbouring numbers. */
#ifdef __CUDACC_RTC__
#define KERNEL extern "C" __global__ __launch_bounds__(THREADS)
#define BLOCK static __device__ __noinline__
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#define restrict __restrict__
#endif

typedef double real;
#define PADDED(n) (n)
#define load(x, e) ((x)[(e) * x##_stride])
#define store(x, e, value) ((x)[(e) * x##_stride] = (value))
#define constant(number) (number)
#define sincos_of(angle, sine, cosine) \
    UNROLL for (int k = 0; k < (int)(sizeof(angle) / sizeof(real)); k++) sincos((angle)[k], (sine) + k, (cosine) + k)

/* Computes 1 / x, NaN unless low < x < high: pivots must be in (0, inf). */
INLINE real reciprocal(real x, real low, real high) { return low < x && x < high ? 1.0 / x : NAN; }
INLINE real root(real x) { return sqrt(x); }
INLINE real arctangent(real y, real x) { return atan2(y, x); }
