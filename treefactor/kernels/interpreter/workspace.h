/* Configurations into rooms of LANES and results out of them, REAL holding WIDTH; see machine.h. */

#if WIDTH == 1
#define FLAGS int64_t
#else
#define FLAGS ISA(I)
#endif
#define AT(base, lane, entry) (*(double *)((base) + (lane) * to_lane + (entry) * to_entry))

#if LANES > 1
/* entries that follow each other in each of LANES configurations, at least SIDE of them */
INLINE void NAME(load_rows)(ptrdiff_t size, const char *from, ptrdiff_t to_lane, double *room)
{
    for (ptrdiff_t next = 0; next < size; next += SIDE) {
        const ptrdiff_t e = next < size - SIDE ? next : size - SIDE;   /* the last tile may overlap */
        for (int lane = 0; lane < LANES; lane += SIDE) {
            ISA(row) T[SIDE];
            UNROLL for (int i = 0; i < SIDE; i++)
                memcpy(&T[i], from + (lane + i) * to_lane + e * (ptrdiff_t)sizeof(double), sizeof(ISA(row)));
            ISA(transpose)(T);
            UNROLL for (int i = 0; i < SIDE; i++) *(ISA(row) *)(room + (e + i) * LANES + lane) = T[i];
        }
    }
}

INLINE void NAME(store_rows)(ptrdiff_t size, const int32_t *slot, const double *sign, const double *room,
                             char *to, ptrdiff_t to_lane)
{
    for (ptrdiff_t next = 0; next < size; next += SIDE) {
        const ptrdiff_t e = next < size - SIDE ? next : size - SIDE;
        for (int lane = 0; lane < LANES; lane += SIDE) {
            ISA(row) T[SIDE];
            UNROLL for (int i = 0; i < SIDE; i++)
                T[i] = sign[e + i] * *(const ISA(row) *)(room + (ptrdiff_t)slot[e + i] * LANES + lane);
            ISA(transpose)(T);
            UNROLL for (int i = 0; i < SIDE; i++)
                memcpy(to + (lane + i) * to_lane + e * (ptrdiff_t)sizeof(double), &T[i], sizeof(ISA(row)));
        }
    }
}
#endif

static void NAME(load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                       double *room, ptrdiff_t to_room)
{
    for (; count > 0; count -= LANES, from += LANES * to_lane, room += to_room) {
#if LANES > 1
        if (count >= LANES && to_entry == sizeof(double) && size >= SIDE) {
            NAME(load_rows)(size, from, to_lane, room);
            continue;
        }
        if (count >= LANES && to_lane == sizeof(double)) {   /* the rooms of an entry one after the other */
            const int whole = count / LANES;
            for (ptrdiff_t e = 0; e < size; e++)
                for (int k = 0; k < whole; k++)
                    memcpy(room + k * to_room + e * LANES, from + e * to_entry + k * LANES * to_lane,
                           LANES * sizeof(double));
            count -= (whole - 1) * LANES;
            from += (whole - 1) * LANES * to_lane;
            room += (whole - 1) * to_room;
            continue;
        }
#endif
        for (ptrdiff_t e = 0; e < size; e++)
            for (int l = 0; l < LANES; l++) room[e * LANES + l] = AT(from, l < count ? l : 0, e);
    }
}

static void NAME(store)(ptrdiff_t size, int count, const int32_t *slot, const double *sign,
                        const double *room, ptrdiff_t to_room, char *to, ptrdiff_t to_lane,
                        ptrdiff_t to_entry)
{
#if LANES > 1
    if (to_lane == sizeof(double)) {
        for (ptrdiff_t e = 0; e < size; e++) {
            const double *x = room + (ptrdiff_t)slot[e] * LANES;
            double *row = (double *)(to + e * to_entry);
            for (int first = 0; first < count; first += LANES, x += to_room)
                if (count - first >= LANES)
                    for (int l = 0; l < LANES; l++) row[first + l] = sign[e] * x[l];
                else
                    for (int l = 0; l < count - first; l++) row[first + l] = sign[e] * x[l];
        }
        return;
    }
#endif
    for (; count > 0; count -= LANES, to += LANES * to_lane, room += to_room) {
#if LANES > 1
        if (count >= LANES && to_entry == sizeof(double) && size >= SIDE) {
            NAME(store_rows)(size, slot, sign, room, to, to_lane);
            continue;
        }
#endif
        const int lanes = count < LANES ? count : LANES;
        for (ptrdiff_t e = 0; e < size; e++)
            for (int l = 0; l < lanes; l++) AT(to, l, e) = sign[e] * room[(ptrdiff_t)slot[e] * LANES + l];
    }
}

static int NAME(find_odd)(ptrdiff_t slots, ptrdiff_t units, const ptrdiff_t *unit, double tolerance,
                          const double *room, int64_t *odd)
{
    enum { CHAINS = 4 };             /* sums side by side */
    int64_t any = 0;
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        const REAL *x = (const REAL *)(room + lane);   /* slot e at x[e * (LANES / WIDTH)] */
        REAL nothing[CHAINS], square;
        double found[WIDTH];
        ptrdiff_t e = 0;
        memset(nothing, 0, sizeof nothing);
        for (; e + CHAINS <= slots; e += CHAINS)
            UNROLL for (int i = 0; i < CHAINS; i++) nothing[i] += 0.0 * x[(e + i) * (LANES / WIDTH)];
        for (; e < slots; e++) nothing[0] += 0.0 * x[e * (LANES / WIDTH)];
        nothing[0] += nothing[1] + nothing[2] + nothing[3];
        memcpy(found, nothing, sizeof found);
        for (int l = 0; l < WIDTH; l++) odd[lane + l] = found[l] != 0.0;
        for (ptrdiff_t k = 0; k < units; k++) {
            memset(&square, 0, sizeof square);
            for (e = unit[2 * k]; e < unit[2 * k] + unit[2 * k + 1]; e++)
                square += x[e * (LANES / WIDTH)] * x[e * (LANES / WIDTH)];
            memcpy(found, &square, sizeof found);
            for (int l = 0; l < WIDTH; l++) odd[lane + l] |= !(fabs(found[l] - 1.0) <= tolerance);
        }
        for (int l = 0; l < WIDTH; l++) any |= odd[lane + l];
    }
    return any != 0;
}

static int NAME(find_failed)(ptrdiff_t size, ptrdiff_t step, const int32_t *slot, const double *room,
                             int64_t *odd)
{
    FLAGS flags, any;
    int64_t each[WIDTH], found = 0;
    memset(&any, 0, sizeof any);
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        const double *x = room + lane;
        REAL even, other;            /* sums side by side */
        ptrdiff_t e = 0;
        memset(&even, 0, sizeof even);
        memset(&other, 0, sizeof other);
        for (; e + step < size; e += 2 * step) {
            even += 0.0 * *(const REAL *)(x + (ptrdiff_t)slot[e] * LANES);
            other += 0.0 * *(const REAL *)(x + (ptrdiff_t)slot[e + step] * LANES);
        }
        if (e < size) even += 0.0 * *(const REAL *)(x + (ptrdiff_t)slot[e] * LANES);
        memcpy(&flags, odd + lane, sizeof flags);
        flags |= even + other != 0.0;
        memcpy(odd + lane, &flags, sizeof flags);
        any |= flags;
    }
    memcpy(each, &any, sizeof each);
    for (int l = 0; l < WIDTH; l++) found |= each[l];
    return found != 0;
}

#undef FLAGS
#undef AT
