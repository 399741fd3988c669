/* Copies configurations into workspaces of LANES lanes, and results out of them; checks both for invalid numbers.
 * REAL holds WIDTH lanes, FLAGS as many integers, INVALID as many of 64 bits; see interpreter.h. */

/* entry of a lane in an array with strides in bytes */
#define ENTRY(base, lane, to_lane, entry, to_entry) \
    (*(ELEMENT *)((base) + (lane) * (to_lane) + (entry) * (to_entry)))

#if LANES > 1
/* Loads LANES configurations whose entries are contiguous, at least TILE_ENTRIES of them: transposed tiles.
 * Plain loop: for each e, l: workspace[e * LANES + l] = entry e of configuration l. */
INLINE void NAME(load_contiguous)(ptrdiff_t size, const char *from, ptrdiff_t to_lane, ELEMENT *workspace)
{
    for (ptrdiff_t next = 0; next < size; next += TILE_ENTRIES) {
        const ptrdiff_t e = next < size - TILE_ENTRIES ? next : size - TILE_ENTRIES;   /* the last tile may overlap */
        for (int lane = 0; lane < LANES; lane += TILE_LANES) {
            TILE T[TILE_ENTRIES];
            LOAD_TILE(T, from + lane * to_lane + e * (ptrdiff_t)sizeof(ELEMENT), to_lane);
            UNROLL for (int i = 0; i < TILE_ENTRIES; i++) *(TILE *)(workspace + (e + i) * LANES + lane) = T[i];
        }
    }
}

/* Stores LANES results with contiguous entries, the reverse of load_contiguous. To read signs and slots takes as long
 * as the transposition: results of compiled code have none. */
INLINE void NAME(store_contiguous)(ptrdiff_t size, const int32_t *slot, const double *sign,
                                   const ELEMENT *workspace, char *to, ptrdiff_t to_lane)
{
    for (ptrdiff_t next = 0; next < size; next += TILE_ENTRIES) {
        const ptrdiff_t e = next < size - TILE_ENTRIES ? next : size - TILE_ENTRIES;
        for (int lane = 0; lane < LANES; lane += TILE_LANES) {
            TILE T[TILE_ENTRIES];
            if (sign)
                UNROLL for (int i = 0; i < TILE_ENTRIES; i++)
                    T[i] = (ELEMENT)sign[e + i] * *(const TILE *)(workspace + (ptrdiff_t)slot[e + i] * LANES + lane);
            else
                UNROLL for (int i = 0; i < TILE_ENTRIES; i++)
                    T[i] = *(const TILE *)(workspace + (slot[0] + e + i) * LANES + lane);
            STORE_TILE(T, to + lane * to_lane + e * (ptrdiff_t)sizeof(ELEMENT), to_lane);
        }
    }
}
#endif

/* Loads configurations with any strides. */
static void NAME(load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                       void *memory, ptrdiff_t to_workspace)
{
    ELEMENT *workspace = memory;
    if (count == 1) {                /* one for all lanes */
        for (ptrdiff_t e = 0; e < size; e++) {
            const ELEMENT x = ENTRY(from, 0, to_lane, e, to_entry);
            for (int l = 0; l < LANES; l++) workspace[e * LANES + l] = x;
        }
        return;
    }
    for (; count > 0; count -= LANES, from += LANES * to_lane, workspace += to_workspace) {
#if LANES > 1
        if (count >= LANES && to_entry == sizeof(ELEMENT) && size >= TILE_ENTRIES) {
            NAME(load_contiguous)(size, from, to_lane, workspace);
            continue;
        }
        if (count >= LANES && to_lane == sizeof(ELEMENT)) {   /* contiguous lanes: entry by entry, all workspaces */
            const int whole = count / LANES;
            for (ptrdiff_t e = 0; e < size; e++)
                for (int k = 0; k < whole; k++)
                    memcpy(workspace + k * to_workspace + e * LANES, from + e * to_entry + k * LANES * to_lane,
                           LANES * sizeof(ELEMENT));
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
                        const void *memory, ptrdiff_t to_workspace, char *to, ptrdiff_t to_lane,
                        ptrdiff_t to_entry)
{
    enum { BLOCK_LANES = 64 / sizeof(ELEMENT) };   /* of the layout "lanes" */
    const ELEMENT *workspace = memory;
#if LANES > 1
    if (to_lane == sizeof(ELEMENT)) {
        for (ptrdiff_t e = 0; e < size; e++) {
            const ELEMENT *x = workspace + (ptrdiff_t)slot[e] * LANES, factor = sign ? sign[e] : 1;
            ELEMENT *row = (ELEMENT *)(to + e * to_entry);
            if (count == BLOCK_LANES) {
                for (int l = 0; l < BLOCK_LANES; l++) row[l] = factor * x[l];
                continue;
            }
            for (int first = 0; first < count; first += LANES, x += to_workspace)
                if (count - first >= LANES)
                    for (int l = 0; l < LANES; l++) row[first + l] = factor * x[l];
                else
                    for (int l = 0; l < count - first; l++) row[first + l] = factor * x[l];
        }
        return;
    }
#endif
    for (; count > 0; count -= LANES, to += LANES * to_lane, workspace += to_workspace) {
#if LANES > 1
        if (count >= LANES && to_entry == sizeof(ELEMENT) && size >= TILE_ENTRIES) {
            NAME(store_contiguous)(size, slot, sign, workspace, to, to_lane);
            continue;
        }
#endif
        const int lanes = count < LANES ? count : LANES;
        for (ptrdiff_t e = 0; e < size; e++)
            for (int l = 0; l < lanes; l++)
                ENTRY(to, l, to_lane, e, to_entry) =
                    (sign ? (ELEMENT)sign[e] : 1) * workspace[(ptrdiff_t)slot[e] * LANES + l];
    }
}

/* Finds lanes with non-finite inputs or rotations that are not of unit length: 0 * x is 0 for finite x only. */
static int NAME(find_invalid)(ptrdiff_t slots, ptrdiff_t units, const ptrdiff_t *unit, double tolerance,
                          const void *memory, int64_t *invalid)
{
    enum { CHAINS = 4 };             /* independent sums, to hide the latency of additions */
    const ELEMENT *workspace = memory, most = tolerance;
    FLAGS any;
    memset(&any, 0, sizeof any);
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        const REAL *x = (const REAL *)(workspace + lane);   /* slot e at x[e * (LANES / WIDTH)] */
        REAL nothing[CHAINS], square;
        FLAGS flags;
        INVALID marks;
        ptrdiff_t e = 0;
        UNROLL for (int i = 0; i < CHAINS; i++) nothing[i] = (REAL){0};   /* GCC makes a slow loop of memset */
        for (; e + CHAINS <= slots; e += CHAINS)
            UNROLL for (int i = 0; i < CHAINS; i++) nothing[i] += (ELEMENT)0 * x[(e + i) * (LANES / WIDTH)];
        for (; e < slots; e++) nothing[0] += (ELEMENT)0 * x[e * (LANES / WIDTH)];
        nothing[0] += nothing[1] + nothing[2] + nothing[3];
        flags = AS_FLAGS(nothing[0] != 0);
        for (ptrdiff_t k = 0; k < units; k++) {
            memset(&square, 0, sizeof square);
            for (e = unit[2 * k]; e < unit[2 * k] + unit[2 * k + 1]; e++)
                square += x[e * (LANES / WIDTH)] * x[e * (LANES / WIDTH)];
            square -= 1;
            flags |= ~AS_FLAGS((square <= most) & (square >= -most));
        }
        marks = AS_INVALID(flags);
        memcpy(invalid + lane, &marks, sizeof marks);
        any |= flags;
    }
    return ANY_LANE(any);
}

/* Finds lanes with non-finite results. */
static int NAME(find_failed)(ptrdiff_t size, ptrdiff_t step, const int32_t *slot, const void *memory,
                             int64_t *invalid)
{
    FLAGS flags[LANES / WIDTH], any;
    memset(&any, 0, sizeof any);
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        const ELEMENT *x = (const ELEMENT *)memory + lane;
        REAL even, other;            /* independent sums, to hide the latency of additions */
        ptrdiff_t e = 0;
        memset(&even, 0, sizeof even);
        memset(&other, 0, sizeof other);
        for (; e + step < size; e += 2 * step) {
            even += (ELEMENT)0 * *(const REAL *)(x + (ptrdiff_t)slot[e] * LANES);
            other += (ELEMENT)0 * *(const REAL *)(x + (ptrdiff_t)slot[e + step] * LANES);
        }
        if (e < size) even += (ELEMENT)0 * *(const REAL *)(x + (ptrdiff_t)slot[e] * LANES);
        flags[lane / WIDTH] = AS_FLAGS(even + other != 0);
        any |= flags[lane / WIDTH];
    }
    if (!ANY_LANE(any)) return 0;
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        INVALID marks, before;
        memcpy(&before, invalid + lane, sizeof before);
        marks = before | AS_INVALID(flags[lane / WIDTH]);
        memcpy(invalid + lane, &marks, sizeof marks);
    }
    return 1;
}

#undef ENTRY
