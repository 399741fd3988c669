/* What a body hands to its parent: forces, articulated and composite inertias, in the axes of the parent. Defined by
 *     HANDOVERS   0: the parent keeps their sum; 1: every body keeps its own, and its parent adds up those of its limbs */

#if !HANDOVERS

/* F <- the force on body i and those that its children have handed to it */
INLINE void NAME(receive_force)(const Mechanism *m, ptrdiff_t i, const Workspace *w, real *F)
{
    EACH(r, 6) F[r] = w->F[i].e[r];
}

/* Hand the force F of body i to its parent. */
INLINE void NAME(hand_force)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const real *F)
{
    real *to = w->F[m->body[i].parent].e;
    EACH(r, 6) to[r] += F[r];
}

/* A <- the sum of the articulated inertias that the children of body i have handed to it */
INLINE void NAME(receive_articulated)(const Mechanism *m, ptrdiff_t i, const Workspace *w, real *A)
{
    EACH_ENTRY(e) A[e] = w->IA[i].e[e];
}

/* Hand the articulated inertia A of body i to its parent. */
INLINE void NAME(hand_articulated)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const real *A)
{
    const Body *b = m->body + i;
    real *to = w->IA[b->parent].e;
    if (b->last) EACH_ENTRY(e) to[e] = A[e];
    else EACH_ENTRY(e) to[e] += A[e];
}

/* I <- I and the composite inertias that the children of body i have handed to it */
INLINE void NAME(receive_inertia)(const Mechanism *m, ptrdiff_t i, const Workspace *w, Inertia *I)
{
    NAME(add_inertia)(w->C + i, I);
}

/* Hand the composite inertia I of body i to its parent. */
INLINE void NAME(hand_inertia)(const Mechanism *m, ptrdiff_t i, const Workspace *w, Inertia *I)
{
    const Body *b = m->body + i;
    if (!b->last) NAME(add_inertia)(w->C + b->parent, I);
    w->C[b->parent] = *I;
}

#else

/* Return what a child in the lanes of a handover hands to every lane of its parent; -0, which changes no sum, to lanes
 * without such a child. */
INLINE real NAME(handed)(const Handover *h, const real *x)
{
    LimbInteger bits;
    if (h->straight) return *x;
    EACH(l, LANES) bits[l] = ((const long long *)x)[h->lane[l]];
    return (real)((bits & h->valid) | h->nothing);
}

/* sum += what the children of a group hand to it: `count` numbers of each, those of group g at first + g * step */
static void NAME(add_handovers)(const Handover *h, const real *first, ptrdiff_t step, int count, real *sum)
{
    for (int e = 0; e < count; e++) {
        real s = sum[e];
        for (const Handover *k = h; k->from >= 0; k++) s += NAME(handed)(k, first + k->from * step + e);
        sum[e] = s;
    }
}

INLINE void NAME(receive_force)(const Mechanism *m, ptrdiff_t i, const Workspace *w, real *F)
{
    const Body *b = m->body + i;
    if (b->only >= 0) EACH(r, 6) F[r] = w->F[i].e[r] + w->F[b->only].e[r];
    else {
        if (!b->leaf) NAME(add_handovers)(m->handover + b->handovers, w->F->e, 6, 6, w->F[i].e);
        EACH(r, 6) F[r] = w->F[i].e[r];
    }
}

INLINE void NAME(hand_force)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const real *F)
{
    EACH(r, 6) w->F[i].e[r] = F[r];
}

INLINE void NAME(receive_articulated)(const Mechanism *m, ptrdiff_t i, const Workspace *w, real *A)
{
    const real zero = {0};
    const Body *b = m->body + i;
    ptrdiff_t from = b->only;
    if (from < 0) {
        from = i;
        EACH_ENTRY(e) w->IA[i].e[e] = -zero;
        NAME(add_handovers)(m->handover + b->handovers, w->IA->e, 21, 21, w->IA[i].e);
    }
    EACH_ENTRY(e) A[e] = w->IA[from].e[e];
}

INLINE void NAME(hand_articulated)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const real *A)
{
    EACH_ENTRY(e) w->IA[i].e[e] = A[e];
}

INLINE void NAME(receive_inertia)(const Mechanism *m, ptrdiff_t i, const Workspace *w, Inertia *I)
{
    const real zero = {0};
    const Body *b = m->body + i;
    ptrdiff_t from = b->only;
    if (from < 0) {
        real *sum = &w->C[i].mass;
        from = i;
        EACH(e, 10) sum[e] = -zero;
        NAME(add_handovers)(m->handover + b->handovers, &w->C->mass, 10, 10, sum);
    }
    NAME(add_inertia)(w->C + from, I);
}

INLINE void NAME(hand_inertia)(const Mechanism *m, ptrdiff_t i, const Workspace *w, Inertia *I)
{
    w->C[i] = *I;
}

#endif
