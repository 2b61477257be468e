/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A leftist heap over an array of nodes that the caller owns: smallest (key, order)
 * first.  The root is an index, WIC_HEAP_NONE when empty; several heaps may share
 * one array.  Any node can be removed.  Insert and remove look at O(log n) nodes
 * in the worst case, whatever the order of the keys; no allocation, no recursion.
 *
 *	rank of a node: 1 + the shorter way down to a missing child; the right child's
 *	rank is never above the left one's, so the way down on the right is <= log2(n + 1)
 *
 * (key, order) must be unique in a heap.  Each node looked at is counted in @steps.
 */
#ifndef WIC_CORE_HEAP_H
#define WIC_CORE_HEAP_H

#include "core/dep.h"

#define WIC_HEAP_NONE 0xffffffffu

struct wic_heap_node {
	uint64_t key;
	uint64_t order; /* among equal keys: first in, first out */
	uint32_t parent;
	uint32_t left;
	uint32_t right;
	uint32_t rank;
};

/* What the heaps of one array have in common; borrowed by each call. */
struct wic_heap {
	struct wic_heap_node *nodes;
	uint64_t steps;
};

/* Add node @i, whose key and order are set, to the heap at @root.  Returns the new root. */
uint32_t wic_heap_insert(struct wic_heap *heap, uint32_t root, uint32_t i);
/* Take node @i out of the heap at @root.  Returns the new root. */
uint32_t wic_heap_remove(struct wic_heap *heap, uint32_t root, uint32_t i);
/* True when @a comes before @b. */
bool wic_heap_is_before(const struct wic_heap *heap, uint32_t a, uint32_t b);
/* Node @i against its parent and children.  For tests and debug. */
bool wic_heap_is_consistent(const struct wic_heap *heap, uint32_t root, uint32_t i);

#endif /* WIC_CORE_HEAP_H */
