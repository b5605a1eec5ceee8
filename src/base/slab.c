/* Pages of 4 KiB with a head, cut from regions that are mapped. What is not touched yet takes no
 * memory. */
#include "base/slab.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/alloc.h"

#define PAGE	     SLAB_PAGE_BYTES
#define REGION_PAGES 64

/* GCC says it one way, and clang, which builds the fuzzers, another. */
#ifdef __has_feature
#define CLANG_HAS(feature) __has_feature(feature)
#else
#define CLANG_HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CLANG_HAS(address_sanitizer)
#define IN_PAGES false
#else
#define IN_PAGES true
#endif

/* A free place says where the next one is. */
struct place {
	struct place *next;
};

struct slab_page {
	struct slab_page *next,
		*previous; /* among the open ones of its size; or spare, by `next` */
	struct place *free;
	uint32_t used;	/* objects */
	uint16_t fresh; /* where nothing was yet */
	uint16_t room;	/* of each */
};

struct slab_region {
	struct slab_region *next;
	unsigned char *pages; /* owned, mapped */
	uint32_t fresh;	      /* pages that were never used */
};

static_assert(sizeof(struct place) <= SLAB_STEP, "a free place must hold where the next one is");
static_assert(sizeof(struct slab_page) % SLAB_STEP == 0, "objects are aligned");

static size_t size_class(size_t size)
{
	return size > 0 ? (size - 1) / SLAB_STEP : 0;
}

static size_t class_bytes(size_t class)
{
	return (class + 1) * SLAB_STEP;
}

static bool is_unpaged(size_t size)
{
	return !IN_PAGES || size > SLAB_SIZE_MAX;
}

/* --- pages --- */

static struct slab_page *page_of(void *p)
{
	return (struct slab_page *)(void *)((char *)p - (uintptr_t)p % PAGE);
}

static struct slab_region *region_create(struct slab *s)
{
	struct slab_region *r = xcalloc(1, sizeof *r);
	void *pages = mmap(NULL, (size_t)REGION_PAGES * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED) {
		BUG("out of memory: %d bytes", REGION_PAGES * PAGE);
	}
	r->pages = pages;
	r->next = s->regions;
	s->regions = r;
	return r;
}

static struct slab_page *page_take(struct slab *s)
{
	struct slab_page *page = s->spare;
	if (page != NULL) {
		s->spare = page->next;
		return page;
	}
	struct slab_region *r = s->regions;
	if (r == NULL || r->fresh == REGION_PAGES) {
		r = region_create(s);
	}
	return (struct slab_page *)(void *)(r->pages + (size_t)PAGE * r->fresh++);
}

static void page_open(struct slab *s, struct slab_page *page, size_t class)
{
	page->previous = NULL;
	page->next = s->open[class];
	if (page->next != NULL) {
		page->next->previous = page;
	}
	s->open[class] = page;
}

static void page_shut(struct slab *s, struct slab_page *page, size_t class)
{
	if (page->previous != NULL) {
		page->previous->next = page->next;
	} else {
		s->open[class] = page->next;
	}
	if (page->next != NULL) {
		page->next->previous = page->previous;
	}
	page->next = page->previous = NULL;
}

static bool page_is_full(const struct slab_page *page)
{
	return page->free == NULL && page->fresh + page->room > PAGE;
}

/* --- objects --- */

void *slab_alloc(struct slab *s, size_t size)
{
	size_t class = size_class(size);
	if (is_unpaged(size)) {
		return xcalloc(1, size);
	}
	struct slab_page *page = s->open[class];
	if (page == NULL) {
		page = page_take(s);
		*page = (struct slab_page){
			.fresh = sizeof *page, .room = (uint16_t)class_bytes(class)};
		page_open(s, page, class);
	}
	void *p = page->free;
	if (p != NULL) {
		page->free = page->free->next;
	} else {
		p = (char *)page + page->fresh;
		page->fresh = (uint16_t)(page->fresh + page->room);
	}
	page->used++;
	if (page_is_full(page)) {
		page_shut(s, page, class);
	}
	return memset(p, 0, class_bytes(class));
}

void slab_free(struct slab *s, void *p, size_t size)
{
	size_t class = size_class(size);
	if (p == NULL || is_unpaged(size)) {
		free(p);
		return;
	}
	struct slab_page *page = page_of(p);
	/* Another size, or once more, and two would stand in one place later. */
	ENSURE(page->used > 0 && page->room == class_bytes(class) && page->free != p);
	if (page_is_full(page)) {
		page_open(s, page, class);
	}
	struct place *place = p;
	place->next = page->free;
	page->free = place;
	if (--page->used == 0) {
		page_shut(s, page, class);
		page->next = s->spare;
		s->spare = page;
	}
}

size_t slab_pages(const struct slab *s)
{
	size_t n = 0;
	for (const struct slab_region *r = s->regions; r != NULL; r = r->next) {
		n += r->fresh;
	}
	for (const struct slab_page *page = s->spare; page != NULL; page = page->next) {
		n--;
	}
	return n;
}

void slab_finish(struct slab *s)
{
	while (s->regions != NULL) {
		struct slab_region *r = s->regions;
		s->regions = r->next;
		munmap(r->pages, (size_t)REGION_PAGES * PAGE);
		free(r);
	}
	*s = (struct slab){0};
}
