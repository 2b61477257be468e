/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The registry of what was handed out; fakerm.h says what it is for. */
#include "fakerm.h"

#include <linux/hashtable.h>

static DEFINE_HASHTABLE(objects, 8);
static DEFINE_SPINLOCK(objects_lock);

static const char *const kind_names[FAKERM_KIND_COUNT] = {
	[FAKERM_SESSION] = "session",
	[FAKERM_DEVICE] = "device",
	[FAKERM_VAS] = "address space",
	[FAKERM_MEMORY] = "memory",
	[FAKERM_TSG] = "time-slice group",
	[FAKERM_CHANNEL] = "channel",
	[FAKERM_USER_CHANNEL] = "user channel",
	[FAKERM_P2P] = "peer-to-peer object",
	[FAKERM_LAUNCH] = "launch",
};

static unsigned long key_of(const void *object)
{
	return (unsigned long)object >> 4;
}

void fakerm_object_add(struct fakerm_object *object, enum fakerm_kind kind, struct fakerm_gpu *gpu)
{
	object->kind = kind;
	object->gpu = gpu;
	spin_lock(&objects_lock);
	hash_add(objects, &object->node, key_of(object));
	spin_unlock(&objects_lock);
}

void fakerm_object_remove(struct fakerm_object *object)
{
	spin_lock(&objects_lock);
	hash_del(&object->node);
	spin_unlock(&objects_lock);
}

void *fakerm_object_find(const void *handle, enum fakerm_kind kind, const char *who)
{
	struct fakerm_object *object;
	struct fakerm_object *found = NULL;

	spin_lock(&objects_lock);
	hash_for_each_possible(objects, object, node, key_of(handle))
	{
		if (object == handle && object->kind == kind)
			found = object;
	}
	spin_unlock(&objects_lock);
	if (!found)
		fakerm_error("%s: %px is no %s that is alive", who, handle, kind_names[kind]);
	return found;
}

unsigned int fakerm_object_leaks(void)
{
	struct fakerm_object *object;
	unsigned int leaks = 0;
	int bucket;

	spin_lock(&objects_lock);
	hash_for_each(objects, bucket, object, node)
	{
		if (object->gpu)
			fakerm_error("leak: a %s of GPU %u", kind_names[object->kind],
				     object->gpu->index);
		else
			fakerm_error("leak: a %s", kind_names[object->kind]);
		leaks++;
	}
	spin_unlock(&objects_lock);
	return leaks;
}
