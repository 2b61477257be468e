/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "core/heap.h"

static uint32_t rank_of(const struct wic_heap *heap, uint32_t i)
{
	return i == WIC_HEAP_NONE ? 0 : heap->nodes[i].rank;
}

bool wic_heap_is_before(const struct wic_heap *heap, uint32_t a, uint32_t b)
{
	const struct wic_heap_node *x = &heap->nodes[a];
	const struct wic_heap_node *y = &heap->nodes[b];

	return x->key != y->key ? x->key < y->key : x->order < y->order;
}

/* The shorter side to the right; true when the node's rank changed. */
static bool node_balance(struct wic_heap *heap, uint32_t i)
{
	struct wic_heap_node *node = &heap->nodes[i];
	uint32_t rank;

	heap->steps++;
	if (rank_of(heap, node->left) < rank_of(heap, node->right)) {
		uint32_t left = node->left;

		node->left = node->right;
		node->right = left;
	}
	rank = rank_of(heap, node->right) + 1;
	if (rank == node->rank)
		return false;
	node->rank = rank;
	return true;
}

/* Two heaps into one: interleave their right edges, then balance from below. */
static uint32_t merge(struct wic_heap *heap, uint32_t a, uint32_t b)
{
	uint32_t root = WIC_HEAP_NONE;
	uint32_t last = WIC_HEAP_NONE;

	while (a != WIC_HEAP_NONE || b != WIC_HEAP_NONE) {
		bool is_end = a == WIC_HEAP_NONE || b == WIC_HEAP_NONE;
		uint32_t small = a;

		if (a == WIC_HEAP_NONE || (b != WIC_HEAP_NONE && wic_heap_is_before(heap, b, a))) {
			small = b;
			b = a;
			a = small;
		}
		heap->nodes[small].parent = last;
		if (last == WIC_HEAP_NONE)
			root = small;
		else
			heap->nodes[last].right = small;
		if (is_end)
			break;
		heap->steps++;
		last = small;
		a = heap->nodes[small].right;
	}
	while (last != WIC_HEAP_NONE) {
		node_balance(heap, last);
		last = heap->nodes[last].parent;
	}
	return root;
}

uint32_t wic_heap_insert(struct wic_heap *heap, uint32_t root, uint32_t i)
{
	struct wic_heap_node *node = &heap->nodes[i];

	node->parent = node->left = node->right = WIC_HEAP_NONE;
	node->rank = 1;
	return merge(heap, root, i);
}

uint32_t wic_heap_remove(struct wic_heap *heap, uint32_t root, uint32_t i)
{
	uint32_t parent = heap->nodes[i].parent;
	uint32_t rest;

	WIC_ASSERT((parent == WIC_HEAP_NONE) == (root == i));
	rest = merge(heap, heap->nodes[i].left, heap->nodes[i].right);
	if (rest != WIC_HEAP_NONE)
		heap->nodes[rest].parent = parent;
	if (parent == WIC_HEAP_NONE)
		return rest;
	if (heap->nodes[parent].left == i)
		heap->nodes[parent].left = rest;
	else
		heap->nodes[parent].right = rest;
	while (parent != WIC_HEAP_NONE && node_balance(heap, parent))
		parent = heap->nodes[parent].parent;
	return root;
}

bool wic_heap_is_consistent(const struct wic_heap *heap, uint32_t root, uint32_t i)
{
	const struct wic_heap_node *node = &heap->nodes[i];
	uint32_t child[2] = { node->left, node->right };
	uint32_t side;

	if ((node->parent == WIC_HEAP_NONE) != (root == i))
		return false;
	if (node->parent != WIC_HEAP_NONE && heap->nodes[node->parent].left != i &&
	    heap->nodes[node->parent].right != i)
		return false;
	for (side = 0; side < 2; side++)
		if (child[side] != WIC_HEAP_NONE && (heap->nodes[child[side]].parent != i ||
						     !wic_heap_is_before(heap, i, child[side])))
			return false;
	return rank_of(heap, child[0]) >= rank_of(heap, child[1]) &&
	       node->rank == rank_of(heap, child[1]) + 1;
}
