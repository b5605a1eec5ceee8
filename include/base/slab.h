/* Small objects of which there are tens of thousands, side by side in pages of one size each: what
 * malloc keeps of every object, and what it rounds up to, is a sixth of such. Sizes are rounded up
 * to 8 bytes. Who frees says how large it was.
 *
 * A page whose last object is gone serves any size next; all of them go back with the slab. Larger
 * objects are malloc's, and under AddressSanitizer all are, so that it sees each of them. */
#ifndef BASE_SLAB_H
#define BASE_SLAB_H

#include <stddef.h>

#define SLAB_SIZE_MAX 384 /* of an object that stands in a page */
#define SLAB_STEP     8
#define SLAB_CLASSES  (SLAB_SIZE_MAX / SLAB_STEP)

#define SLAB_PAGE_BYTES 4096

struct slab_page;
struct slab_region;
/* A zeroed struct is an empty slab. */
struct slab {
	struct slab_page *open[SLAB_CLASSES]; /* of each size, those with a free place */
	struct slab_page *spare;	      /* without objects */
	struct slab_region *regions;	      /* owned; all pages are in them */
};

void *slab_alloc(struct slab *s, size_t size); /* zeroed, aligned to 8 */
void slab_free(struct slab *s, void *p, size_t size);
void slab_finish(struct slab *s); /* what is in pages goes with it, what is malloc's must be gone */
size_t slab_pages(const struct slab *s); /* that are in use */

#endif
