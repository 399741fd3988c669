/* Defines what kernels of generated functions use, of float with SINGLE. One thread computes one configuration: entry e of argument x of
 * configuration i is x[e * x_stride + i * x_step], so that neighbouring threads read neighbouring numbers. */
#ifdef __CUDACC_RTC__
#define KERNEL extern "C" __global__ __launch_bounds__(THREADS)
#define BLOCK static __device__ __noinline__
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#define restrict __restrict__
#endif

#ifdef SINGLE
typedef float real;
#define OF(function) function##f
#else
typedef double real;
#define OF(function) function
#endif
#define PADDED(n) (n)
#define load(x, e) ((x)[(e) * x##_stride])
#define store(x, e, value) ((x)[(e) * x##_stride] = (value))
#define constant(number) (number)
#define sincos_of(angle, sine, cosine) \
    UNROLL for (int k = 0; k < (int)(sizeof(angle) / sizeof(real)); k++) \
        OF(sincos)((angle)[k], (sine) + k, (cosine) + k)

/* Computes 1 / x, NaN unless low < x < high: pivots must be in (0, inf). */
INLINE real reciprocal(real x, real low, real high) { return low < x && x < high ? 1 / x : NAN; }
INLINE real root(real x) { return OF(sqrt)(x); }
INLINE real arctangent(real y, real x) { return OF(atan2)(y, x); }
