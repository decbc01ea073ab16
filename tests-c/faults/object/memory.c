/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory: malloc and its like. Nothing here may need memory. What the library gets holds no zeros, and what it gives
 * back is overwritten, so that whoever reads either is found out.
 */
#include "inject.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As libc has them; its dlsym() needs memory itself. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

enum { SLOTS = 1 << 15, NEW = 0xa5, FREED = 0xdf };

/* What the library has, by address; what is gone leaves a mark, so that a search goes on behind it. */
static struct {
	uintptr_t address;
	struct faults_block block;
} slots[SLOTS];
static const uintptr_t gone = 1;
static char spin;

static void lock(void)
{
	while (__atomic_test_and_set(&spin, __ATOMIC_ACQUIRE))
		;
}

static void unlock(void)
{
	__atomic_clear(&spin, __ATOMIC_RELEASE);
}

static size_t first_slot(uintptr_t address)
{
	return (address >> 4) * 2654435761u % SLOTS;
}

static void *add(void *block, size_t size, uintptr_t place)
{
	size_t slot = first_slot((uintptr_t)block);

	if (!block || !place)
		return block;
	lock();
	for (size_t i = 0; i < SLOTS && slots[slot].address > gone; i++)
		slot = (slot + 1) % SLOTS;
	slots[slot].address = (uintptr_t)block;
	slots[slot].block = (struct faults_block){ size, place };
	unlock();
	return block;
}

/* Its size; 0 if it is not the library's. */
static size_t forget(const void *block)
{
	size_t slot = first_slot((uintptr_t)block), size = 0;

	lock();
	for (size_t i = 0; i < SLOTS && slots[slot].address; i++) {
		if (slots[slot].address == (uintptr_t)block) {
			slots[slot].address = gone;
			size = slots[slot].block.size;
			break;
		}
		slot = (slot + 1) % SLOTS;
	}
	unlock();
	return size;
}

static void *fill(void *block, size_t size, uintptr_t place)
{
	return block && place ? memset(block, NEW, size) : block;
}

REPLACES size_t faults_blocks(struct faults_block *blocks, size_t room)
{
	size_t count = 0;

	lock();
	for (size_t i = 0; i < SLOTS; i++) {
		if (slots[i].address <= gone)
			continue;
		if (count < room)
			blocks[count] = slots[i].block;
		count++;
	}
	unlock();
	return count;
}

REPLACES void *malloc(size_t size)
{
	FAIL(NULL, "malloc", ENOMEM);
	return add(fill(__libc_malloc(size), size, IS_OURS), size, IS_OURS);
}

REPLACES void *calloc(size_t count, size_t size)
{
	FAIL(NULL, "calloc", ENOMEM);
	return add(__libc_calloc(count, size), count * size, IS_OURS);
}

REPLACES void *realloc(void *old, size_t size)
{
	void *new;

	FAIL(NULL, "realloc", ENOMEM);
	/* Before: afterwards the address may be another thread's. */
	if (old)
		forget(old);
	new = __libc_realloc(old, size);
	return add(new, size, IS_OURS);
}

REPLACES int posix_memalign(void **place, size_t alignment, size_t size)
{
	void *block;

	if (WAY("posix_memalign", ENOMEM))
		return ENOMEM;
	block = __libc_memalign(alignment, size);
	if (!block)
		return ENOMEM;
	*place = add(fill(block, size, IS_OURS), size, IS_OURS);
	return 0;
}

REPLACES void free(void *block)
{
	size_t size = block ? forget(block) : 0;

	if (size)
		memset(block, FREED, size);
	__libc_free(block);
}

REPLACES char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy;

	FAIL(NULL, "strdup", ENOMEM);
	copy = add(__libc_malloc(size), size, IS_OURS);
	return copy ? memcpy(copy, text, size) : NULL;
}

#define MMAP(name)                                                                              \
	REPLACES void *name(void *wanted, size_t size, int rights, int flags, int fd, off_t offset) \
	{                                                                                       \
		FAIL(MAP_FAILED, "mmap", ENOMEM, EAGAIN);                                       \
		return NEXT(name)(wanted, size, rights, flags, fd, offset);                     \
	}

MMAP(mmap)
MMAP(mmap64)
