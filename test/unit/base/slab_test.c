/* Objects of any size stand apart and are zeroed, pages are used again, and malloc's are alike. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/slab.h"

/* Under AddressSanitizer there are no pages. */
static bool has_pages(void)
{
	struct slab s = {0};
	void *p = slab_alloc(&s, 1);
	bool has = slab_pages(&s) > 0;
	slab_free(&s, p, 1);
	slab_finish(&s);
	return has;
}

static bool is_all(const unsigned char *p, size_t n, unsigned char byte)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != byte) {
			return false;
		}
	}
	return true;
}

#define OBJECTS 4000

Test(slab, objects_stand_apart_and_are_zeroed)
{
	static struct {
		unsigned char *p;
		size_t n;
	} kept[OBJECTS];
	struct slab s = {0};
	struct rng rng;
	rng_seed(&rng, 11);
	for (int round = 0; round < 20 * OBJECTS; round++) {
		size_t at = (size_t)rng_below(&rng, OBJECTS);
		if (kept[at].p != NULL) {
			cr_assert(is_all(kept[at].p, kept[at].n, (unsigned char)at));
			slab_free(&s, TAKE(kept[at].p), kept[at].n);
			continue;
		}
		size_t n = 1 + (size_t)rng_below(&rng, SLAB_SIZE_MAX + 100);
		kept[at].n = n;
		kept[at].p = slab_alloc(&s, n);
		cr_assert_eq((uintptr_t)kept[at].p % SLAB_STEP, 0);
		cr_assert(is_all(kept[at].p, n, 0));
		memset(kept[at].p, (int)(at & 0xff), n);
	}
	for (size_t i = 0; i < OBJECTS; i++) {
		cr_assert(kept[i].p == NULL || is_all(kept[i].p, kept[i].n, (unsigned char)i));
		slab_free(&s, kept[i].p, kept[i].n);
	}
	cr_assert_eq(slab_pages(&s), 0);
	slab_finish(&s);
}

static size_t fill(struct slab *s, void **objects, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		objects[i] = slab_alloc(s, size);
	}
	return slab_pages(s);
}

static void empty(struct slab *s, void **objects, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		slab_free(s, objects[i], size);
	}
}

Test(slab, a_page_without_objects_serves_any_size)
{
	static void *objects[OBJECTS];
	struct slab s = {0};
	size_t pages = fill(&s, objects, OBJECTS, 72);
	const struct slab_region *regions = s.regions;
	empty(&s, objects, OBJECTS, 72);
	cr_assert_eq(slab_pages(&s), 0);
	/* 4000 of 72 bytes take as many pages as 3000 of 96, and no more are mapped for them. */
	cr_assert_leq(fill(&s, objects, OBJECTS / 4 * 3, 96), pages);
	cr_assert_eq(s.regions, regions);
	empty(&s, objects, OBJECTS / 4 * 3, 96);
	slab_finish(&s);
}

Test(slab, a_page_holds_what_fits_in_it)
{
	static void *objects[OBJECTS];
	struct slab s = {0};
	size_t pages = fill(&s, objects, OBJECTS, 72);
	if (has_pages()) {
		cr_assert_eq(pages, (OBJECTS + 55) / 56); /* of 4096, less the head */
	}
	/* A hole in a full page is filled before another page is begun. */
	for (size_t i = 0; i < OBJECTS; i += 100) {
		slab_free(&s, objects[i], 72);
	}
	for (size_t i = 0; i < OBJECTS; i += 100) {
		objects[i] = slab_alloc(&s, 70);
	}
	cr_assert_eq(slab_pages(&s), pages);
	empty(&s, objects, OBJECTS, 72);
	slab_finish(&s);
}

Test(slab, what_is_left_goes_with_it)
{
	struct slab s = {0};
	if (has_pages()) {
		cr_assert_not_null(slab_alloc(&s, 100));
		cr_assert_eq(slab_pages(&s), 1);
	}
	slab_free(&s, NULL, 100);
	slab_finish(&s);
	cr_assert_eq(slab_pages(&s), 0);
	slab_finish(&s);
}

/* malloc tells of both, more or less; so do pages. */
Test(slab, another_size_is_not_taken_back, .signal = SIGABRT)
{
	struct slab s = {0};
	void *p = slab_alloc(&s, 72);
	if (!has_pages()) {
		abort();
	}
	slab_free(&s, p, 80);
}

Test(slab, nothing_is_taken_back_twice, .signal = SIGABRT)
{
	struct slab s = {0};
	void *p = slab_alloc(&s, 72), *other = slab_alloc(&s, 72);
	cr_assert_neq(p, other);
	if (!has_pages()) {
		abort();
	}
	slab_free(&s, p, 72);
	slab_free(&s, p, 72);
}
