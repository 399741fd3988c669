/* Copies configurations into workspaces of LANES lanes, and results out of them; checks both for invalid numbers.
 * REAL holds WIDTH lanes; see interpreter.h. */

#if WIDTH == 1
#define FLAGS int64_t
#else
#define FLAGS ISA(I)
#endif
/* entry of a lane in an array with strides in bytes */
#define ENTRY(base, lane, to_lane, entry, to_entry) \
    (*(double *)((base) + (lane) * (to_lane) + (entry) * (to_entry)))

#if LANES > 1
/* Loads LANES configurations whose entries are contiguous, at least SIDE of them: SIDE x SIDE tiles, transposed.
 * Plain loop: for each e, l: workspace[e * LANES + l] = entry e of configuration l. */
INLINE void NAME(load_contiguous)(ptrdiff_t size, const char *from, ptrdiff_t to_lane, double *workspace)
{
    for (ptrdiff_t next = 0; next < size; next += SIDE) {
        const ptrdiff_t e = next < size - SIDE ? next : size - SIDE;   /* the last tile may overlap */
        for (int lane = 0; lane < LANES; lane += SIDE) {
            ISA(row) T[SIDE];
            UNROLL for (int i = 0; i < SIDE; i++)
                memcpy(&T[i], from + (lane + i) * to_lane + e * (ptrdiff_t)sizeof(double), sizeof(ISA(row)));
            ISA(transpose)(T);
            UNROLL for (int i = 0; i < SIDE; i++) *(ISA(row) *)(workspace + (e + i) * LANES + lane) = T[i];
        }
    }
}

/* Stores LANES results with contiguous entries, the reverse of load_contiguous. */
INLINE void NAME(store_contiguous)(ptrdiff_t size, const int32_t *slot, const double *sign,
                                   const double *workspace, char *to, ptrdiff_t to_lane)
{
    for (ptrdiff_t next = 0; next < size; next += SIDE) {
        const ptrdiff_t e = next < size - SIDE ? next : size - SIDE;
        for (int lane = 0; lane < LANES; lane += SIDE) {
            ISA(row) T[SIDE];
            UNROLL for (int i = 0; i < SIDE; i++)
                T[i] = sign[e + i] * *(const ISA(row) *)(workspace + (ptrdiff_t)slot[e + i] * LANES + lane);
            ISA(transpose)(T);
            UNROLL for (int i = 0; i < SIDE; i++)
                memcpy(to + (lane + i) * to_lane + e * (ptrdiff_t)sizeof(double), &T[i], sizeof(ISA(row)));
        }
    }
}
#endif

/* Loads configurations with any strides. */
static void NAME(load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                       double *workspace, ptrdiff_t to_workspace)
{
    for (; count > 0; count -= LANES, from += LANES * to_lane, workspace += to_workspace) {
#if LANES > 1
        if (count >= LANES && to_entry == sizeof(double) && size >= SIDE) {
            NAME(load_contiguous)(size, from, to_lane, workspace);
            continue;
        }
        if (count >= LANES && to_lane == sizeof(double)) {   /* contiguous lanes: entry by entry, all workspaces */
            const int whole = count / LANES;
            for (ptrdiff_t e = 0; e < size; e++)
                for (int k = 0; k < whole; k++)
                    memcpy(workspace + k * to_workspace + e * LANES, from + e * to_entry + k * LANES * to_lane,
                           LANES * sizeof(double));
            count -= (whole - 1) * LANES;
            from += (whole - 1) * LANES * to_lane;
            workspace += (whole - 1) * to_workspace;
            continue;
        }
#endif
        for (ptrdiff_t e = 0; e < size; e++)
            for (int l = 0; l < LANES; l++)
                workspace[e * LANES + l] = ENTRY(from, l < count ? l : 0, to_lane, e, to_entry);
    }
}

/* Stores results with any strides. */
static void NAME(store)(ptrdiff_t size, int count, const int32_t *slot, const double *sign,
                        const double *workspace, ptrdiff_t to_workspace, char *to, ptrdiff_t to_lane,
                        ptrdiff_t to_entry)
{
#if LANES > 1
    if (to_lane == sizeof(double)) {
        for (ptrdiff_t e = 0; e < size; e++) {
            const double *x = workspace + (ptrdiff_t)slot[e] * LANES;
            double *row = (double *)(to + e * to_entry);
            for (int first = 0; first < count; first += LANES, x += to_workspace)
                if (count - first >= LANES)
                    for (int l = 0; l < LANES; l++) row[first + l] = sign[e] * x[l];
                else
                    for (int l = 0; l < count - first; l++) row[first + l] = sign[e] * x[l];
        }
        return;
    }
#endif
    for (; count > 0; count -= LANES, to += LANES * to_lane, workspace += to_workspace) {
#if LANES > 1
        if (count >= LANES && to_entry == sizeof(double) && size >= SIDE) {
            NAME(store_contiguous)(size, slot, sign, workspace, to, to_lane);
            continue;
        }
#endif
        const int lanes = count < LANES ? count : LANES;
        for (ptrdiff_t e = 0; e < size; e++)
            for (int l = 0; l < lanes; l++)
                ENTRY(to, l, to_lane, e, to_entry) = sign[e] * workspace[(ptrdiff_t)slot[e] * LANES + l];
    }
}

/* Finds lanes with non-finite inputs or rotations that are not of unit length: 0 * x is 0 for finite x only. */
static int NAME(find_invalid)(ptrdiff_t slots, ptrdiff_t units, const ptrdiff_t *unit, double tolerance,
                          const double *workspace, int64_t *invalid)
{
    enum { CHAINS = 4 };             /* independent sums, to hide the latency of additions */
    int64_t any = 0;
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        const REAL *x = (const REAL *)(workspace + lane);   /* slot e at x[e * (LANES / WIDTH)] */
        REAL nothing[CHAINS], square;
        double found[WIDTH];
        ptrdiff_t e = 0;
        memset(nothing, 0, sizeof nothing);
        for (; e + CHAINS <= slots; e += CHAINS)
            UNROLL for (int i = 0; i < CHAINS; i++) nothing[i] += 0.0 * x[(e + i) * (LANES / WIDTH)];
        for (; e < slots; e++) nothing[0] += 0.0 * x[e * (LANES / WIDTH)];
        nothing[0] += nothing[1] + nothing[2] + nothing[3];
        memcpy(found, nothing, sizeof found);
        for (int l = 0; l < WIDTH; l++) invalid[lane + l] = found[l] != 0.0;
        for (ptrdiff_t k = 0; k < units; k++) {
            memset(&square, 0, sizeof square);
            for (e = unit[2 * k]; e < unit[2 * k] + unit[2 * k + 1]; e++)
                square += x[e * (LANES / WIDTH)] * x[e * (LANES / WIDTH)];
            memcpy(found, &square, sizeof found);
            for (int l = 0; l < WIDTH; l++) invalid[lane + l] |= !(fabs(found[l] - 1.0) <= tolerance);
        }
        for (int l = 0; l < WIDTH; l++) any |= invalid[lane + l];
    }
    return any != 0;
}

/* Finds lanes with non-finite results. */
static int NAME(find_failed)(ptrdiff_t size, ptrdiff_t step, const int32_t *slot, const double *workspace,
                             int64_t *invalid)
{
    FLAGS flags, any;
    int64_t each[WIDTH], found = 0;
    memset(&any, 0, sizeof any);
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        const double *x = workspace + lane;
        REAL even, other;            /* independent sums, to hide the latency of additions */
        ptrdiff_t e = 0;
        memset(&even, 0, sizeof even);
        memset(&other, 0, sizeof other);
        for (; e + step < size; e += 2 * step) {
            even += 0.0 * *(const REAL *)(x + (ptrdiff_t)slot[e] * LANES);
            other += 0.0 * *(const REAL *)(x + (ptrdiff_t)slot[e + step] * LANES);
        }
        if (e < size) even += 0.0 * *(const REAL *)(x + (ptrdiff_t)slot[e] * LANES);
        memcpy(&flags, invalid + lane, sizeof flags);
        flags |= even + other != 0.0;
        memcpy(invalid + lane, &flags, sizeof flags);
        any |= flags;
    }
    memcpy(each, &any, sizeof each);
    for (int l = 0; l < WIDTH; l++) found |= each[l];
    return found != 0;
}

#undef FLAGS
#undef ENTRY
