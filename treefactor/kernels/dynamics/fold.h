/* Write the limbs of a mechanism side by side: the constants of limbs.h. */

/* Return the entries of q of a body. */
INLINE ptrdiff_t NAME(entries_of_q)(const Body *b)
{
    switch (b->kind) {
    case CONTINUOUS: return 2;
    case SPHERICAL: case PLANAR: return 4;
    case TRANSLATION: return 3;
    case FREEFLYER: return 7;
    default: return b->circle ? 2 : 1;
    }
}

/* Return the body in lane l of a group; that of another lane where it has none. */
INLINE ptrdiff_t NAME(body_in_lane)(const Group *g, int l)
{
    for (int k = 0; g->body[l] < 0; k++) l = k;
    return g->body[l];
}

typedef struct {
    const Mechanism *whole;
    Family family;
    Group *group;
    ptrdiff_t groups;
    NAME(LimbMechanism) *m;           /* and its arrays, to be written */
    NAME(LimbBody) *body;
    Handover *handover;
    double *inertias, *armature;
    ptrdiff_t *start, *from_q, *from_v, *from_joint, *place, *row, *to_row;
} NAME(Folding);

/* Return the next `count` items of a size in memory, each array from a multiple of 64 bytes on. */
INLINE void *NAME(next_array)(char **end, ptrdiff_t count, size_t size)
{
    void *array = *end;
    *end += (count * size + 63) / 64 * 64;
    return array;
}

/* Carve memory into the arrays of f, to which m refers, too, and which have its sizes; return the doubles taken. */
INLINE ptrdiff_t NAME(carve_folding)(double *memory, NAME(LimbMechanism) *m, NAME(Folding) *f)
{
    char *end = (char *)memory;
    f->m = NAME(next_array)(&end, 1, sizeof *f->m);
    m->body = f->body = NAME(next_array)(&end, f->groups, sizeof *f->body);
    m->handover = f->handover = NAME(next_array)(&end, f->whole->bodies + f->groups, sizeof *f->handover);
    m->inertias = f->inertias = NAME(next_array)(&end, 10 * f->groups * LANES, sizeof(double));
    m->armature = f->armature = NAME(next_array)(&end, m->n * LANES, sizeof(double));
    m->start = f->start = NAME(next_array)(&end, m->n + 1, sizeof(ptrdiff_t));
    m->from_q = f->from_q = NAME(next_array)(&end, m->nq * LANES, sizeof(ptrdiff_t));
    m->from_v = f->from_v = NAME(next_array)(&end, m->n * LANES, sizeof(ptrdiff_t));
    m->from_joint = f->from_joint = NAME(next_array)(&end, m->joints * LANES, sizeof(ptrdiff_t));
    m->place = f->place = NAME(next_array)(&end, m->all, sizeof(ptrdiff_t));
    m->row = f->row = NAME(next_array)(&end, m->all, sizeof(ptrdiff_t));
    m->to_row = f->to_row = NAME(next_array)(&end, m->all + 1, sizeof(ptrdiff_t));
    return (end - (char *)memory) / 8;
}

/* Return the sizes of the mechanism of groups. */
INLINE NAME(LimbMechanism) NAME(folded_sizes)(const NAME(Folding) *f)
{
    NAME(LimbMechanism) m = {.bodies = f->groups, .all = f->whole->n};
    for (ptrdiff_t g = 0; g < f->groups; g++) {
        const Body *b = f->whole->body + NAME(body_in_lane)(f->group + g, 0);
        m.joints += b->joint >= 0;
        m.angles += b->angle >= 0;
        m.nq += NAME(entries_of_q)(b);
        m.n += b->freedoms;
        for (ptrdiff_t k = 0; k < b->freedoms; k++) m.rows += b->above + k + 1;
    }
    EACH(r, 3) m.gravity[r] = f->whole->gravity[r];
    return m;
}

/* Write the constants of lane l of group g, whose fields without lanes are written. */
INLINE void NAME(fold_lane)(const NAME(Folding) *f, ptrdiff_t g, int l)
{
    const Mechanism *whole = f->whole;
    const ptrdiff_t i = NAME(body_in_lane)(f->group + g, l);
    const Body *b = whole->body + i;
    NAME(LimbBody) *to = f->body + g;
    to->ratio[l] = b->ratio;
    to->offset[l] = b->offset;
    to->pitch[l] = b->pitch;
    EACH(r, 3) to->p[r][l] = b->p[r];
    EACH(e, 9) to->R[e][l] = b->R[e];
    EACH(e, 9) to->axes[e][l] = b->axes[e];
    for (ptrdiff_t e = 0; e < 10; e++) f->inertias[(10 * g + e) * LANES + l] = whole->inertias[10 * i + e];
    for (ptrdiff_t e = 0; e < NAME(entries_of_q)(b); e++) f->from_q[(to->q + e) * LANES + l] = b->q + e;
    if (b->joint >= 0) f->from_joint[to->joint * LANES + l] = b->joint;
    for (ptrdiff_t k = 0; k < b->freedoms; k++) {
        f->from_v[(to->v + k) * LANES + l] = b->v + k;
        f->armature[(to->v + k) * LANES + l] = whole->armature[b->v + k];
        if (f->group[g].body[l] < 0) continue;
        f->place[b->v + k] = (to->v + k) * LANES + l;
        f->row[b->v + k] = f->start[to->v + k] * LANES + l;
    }
}

/* Write the handovers of group g from `to` on, the children of each of its bodies in their order; return their end. */
INLINE Handover *NAME(write_handovers)(const NAME(Folding) *f, ptrdiff_t g, Handover *to)
{
    const Group *parents = f->group + g;
    const Family *family = &f->family;
    ptrdiff_t child[MOST_LANES];     /* next child of every lane */
    EACH(l, LANES) child[l] = parents->body[l] < 0 ? -1 : family->first[parents->body[l]];
    for (;; to++) {
        int first = 0;
        while (first < LANES && child[first] < 0) first++;
        if (first == LANES) break;
        to->from = family->group[child[first]];
        to->straight = 1;
        for (int l = 0; l < LANES; l++) {
            const ptrdiff_t c = child[l];
            const int valid = c >= 0 && family->group[c] == to->from;
            int lane = l;
            if (valid)
                while (f->group[to->from].body[lane] != c) lane = (lane + 1) % LANES;
            to->lane[l] = lane;
            to->valid[l] = valid || parents->body[l] < 0 ? -1 : 0;
            to->nothing[l] = to->valid[l] ? 0 : (long long)(1ULL << 63);
            to->straight = to->straight && lane == l && to->valid[l];
            if (valid) child[l] = family->next[c];
        }
    }
    to->from = -1;
    return to + 1;
}

/* Write all arrays of f. */
INLINE void NAME(fill_folding)(const NAME(Folding) *f)
{
    Handover *end = f->handover;
    ptrdiff_t q = 0, v = 0, angle = 0, joint = 0;
    f->start[0] = 0;
    for (ptrdiff_t g = 0; g < f->groups; g++) {
        const Body *b = f->whole->body + NAME(body_in_lane)(f->group + g, 0);
        NAME(LimbBody) *to = f->body + g;
        *to = (NAME(LimbBody)){
            .kind = b->kind, .parent = f->group[g].parent, .q = q, .v = v, .freedoms = b->freedoms, .angle = -1,
            .joint = -1, .circle = b->circle, .above = b->above, .turn = b->turn, .leaf = b->leaf,
            .handovers = end - f->handover};
        if (b->angle >= 0) to->angle = angle++;
        if (b->joint >= 0) to->joint = joint++;
        for (ptrdiff_t k = 0; k < b->freedoms; k++) f->start[v + k + 1] = f->start[v + k] + b->above + k + 1;
        q += NAME(entries_of_q)(b);
        v += b->freedoms;
        for (int l = 0; l < LANES; l++) NAME(fold_lane)(f, g, l);
        Handover *first = end;
        end = NAME(write_handovers)(f, g, end);
        to->only = end - first == 2 && first->straight ? first->from : -1;
    }
    for (ptrdiff_t k = 0; k <= f->whole->n; k++) f->to_row[k] = f->whole->start[k];
}

static ptrdiff_t NAME(fold)(const Mechanism *whole, double *memory)
{
    const ptrdiff_t count = whole->bodies;
    ptrdiff_t *integers = malloc(family_size(count) * sizeof *integers + count * sizeof(Group)), size;
    if (!integers) return -1;
    NAME(Folding) f = {whole, find_family(whole->body, count, integers), (Group *)(integers + family_size(count))};
    f.groups = group_bodies(whole->body, count, LANES, &f.family, f.group);
    NAME(LimbMechanism) sizes = NAME(folded_sizes)(&f);
    size = NAME(carve_folding)(memory, &sizes, &f);
    if (memory) {
        *f.m = sizes;
        NAME(fill_folding)(&f);
    }
    free(integers);
    return size;
}
