/* Which bodies of one tree are computed side by side: bodies of one kind whose parents are, as those of equal limbs.
 *
 * Lane l of a group holds one body, whose parent is in lane l of the group's parent, so that what parents hand to their
 * children stays in its lane. A single body fills all lanes of its group; where several children of it form a group,
 * each fills a part of its lanes:
 *
 *     trunk | trunk | trunk | trunk          trunk of a humanoid with two arms of two fingers each
 *     left  | left  | right | right          arms
 *     left0 | left1 | right0| right1         fingers
 *
 * A lane is empty (-1) where the parent in it has no such child. */
#ifndef TREEFACTOR_LIMB_GROUPS_H
#define TREEFACTOR_LIMB_GROUPS_H

#include "bodies.h"

#define MOST_LANES 4

typedef struct {
    ptrdiff_t parent;                /* a group, or -1: the base */
    ptrdiff_t body[MOST_LANES];      /* of every lane, or -1 */
} Group;

/* Children of every body, the last one first; of the base at [count]. */
typedef struct {
    ptrdiff_t *first, *next;         /* -1: no more */
    ptrdiff_t *size;                 /* bodies of the subtree */
    ptrdiff_t *group;                /* to which a body belongs, or -1 */
} Family;

/* Return the integers that the family of a tree takes. */
static inline ptrdiff_t family_size(ptrdiff_t count) { return 4 * (count + 1); }

static inline Family find_family(const Body *body, ptrdiff_t count, ptrdiff_t *memory)
{
    Family f = {memory, memory + count + 1, memory + 2 * (count + 1), memory + 3 * (count + 1)};
    for (ptrdiff_t i = 0; i <= count; i++) {
        f.first[i] = f.next[i] = f.group[i] = -1;
        f.size[i] = 1;
    }
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t parent = body[i].parent < 0 ? count : body[i].parent;
        f.next[i] = f.first[parent];
        f.first[parent] = i;
    }
    for (ptrdiff_t i = count - 1; i >= 0; i--)
        if (body[i].parent >= 0) f.size[body[i].parent] += f.size[i];
    return f;
}

/* Return whether the bodies i and j take the same steps. */
static inline int are_alike(const Body *body, const Family *f, ptrdiff_t i, ptrdiff_t j)
{
    const Body *a = body + i, *b = body + j;
    return a->kind == b->kind && a->turn == b->turn && a->circle == b->circle && (a->joint < 0) == (b->joint < 0)
        && f->size[i] == f->size[j];
}

/* Return the end of the lanes of a group that hold the same body as its lane l. */
static inline int end_of_lanes(const Group *g, int l, int lanes)
{
    int end = l + 1;
    while (end < lanes && g->body[end] == g->body[l]) end++;
    return end;
}

/* Add to group `to` those children of the body in lanes l to end of its parent that are like body i, as many as these
 * lanes hold. */
static inline void take_children(const Body *body, const Family *f, ptrdiff_t parent, ptrdiff_t i, int l, int end,
                                 ptrdiff_t number, Group *to)
{
    ptrdiff_t child[MOST_LANES];
    int count = 0;
    for (ptrdiff_t c = f->first[parent]; c >= 0 && count < end - l; c = f->next[c])
        if (f->group[c] < 0 && are_alike(body, f, i, c)) child[count++] = c;
    for (int k = 0; k < count; k++) f->group[child[k]] = number;
    for (int lane = l; count && lane < end; lane++) to->body[lane] = child[(lane - l) * count / (end - l)];
}

/* Fill the groups of a tree, parents first, each with `lanes` lanes; return their number. */
static inline ptrdiff_t group_bodies(const Body *body, ptrdiff_t count, int lanes, const Family *f, Group *group)
{
    Group base = {-1, {count, count, count, count}};
    ptrdiff_t groups = 0;
    for (ptrdiff_t g = -1; g < groups; g++) {
        const Group *parents = g < 0 ? &base : group + g;
        for (int l = 0; l < lanes; l = end_of_lanes(parents, l, lanes)) {
            if (parents->body[l] < 0) continue;
            for (ptrdiff_t i = f->first[parents->body[l]]; i >= 0; i = f->next[i]) {
                if (f->group[i] >= 0) continue;
                Group *to = group + groups;
                to->parent = g;
                for (int lane = 0; lane < lanes; lane++) to->body[lane] = -1;
                for (int from = l, end; from < lanes; from = end) {
                    end = end_of_lanes(parents, from, lanes);
                    if (parents->body[from] >= 0)
                        take_children(body, f, parents->body[from], i, from, end, groups, to);
                }
                groups++;
            }
        }
    }
    return groups;
}

/* Return how many lanes take the least time, 0: none. A group takes longer than a body alone: measured on four robots,
 * about 1.25 times as long in two lanes, 1.4 times in four. */
static inline int best_lanes(const Body *body, ptrdiff_t count, int most)
{
    const ptrdiff_t percent[] = {100, 125, 140};
    ptrdiff_t *integers = malloc(family_size(count) * sizeof *integers + count * sizeof(Group)), least = 90 * count;
    int best = 0;
    if (!integers) return 0;
    for (int k = 1; 1 << k <= most; k++) {
        Family f = find_family(body, count, integers);
        ptrdiff_t cost = percent[k] * group_bodies(body, count, 1 << k, &f, (Group *)(integers + family_size(count)));
        if (cost < least) {
            least = cost;
            best = 1 << k;
        }
    }
    free(integers);
    return best;
}

#endif
