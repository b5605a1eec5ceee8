/* A table by uid, of what each uses on its GPU. */
#include "tracking/unowned_pods.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "tracking/container_use.h"

struct unowned_pod {
	struct table_row row; /* of no namespace, by its uid */
	int64_t at_ms;	      /* told last */
	int64_t mib;
	char uid[SIZER_UID_MAX + 1];
};

static void unowned_pod_free(void *data, struct table_row *row)
{
	(void)data;
	free(row);
}

void unowned_pods_init(struct table *pods)
{
	table_init(pods, unowned_pod_free, NULL);
}

static struct unowned_pod *unowned_pod_ensure(struct table *pods, const char *uid)
{
	struct unowned_pod *p = (struct unowned_pod *)table_find(pods, "", uid);
	if (p != NULL || strlen(uid) > SIZER_UID_MAX || pods->rows.count >= SIZER_PODS_MAX) {
		return p;
	}
	p = xcalloc(1, sizeof *p);
	memcpy(p->uid, uid, strlen(uid) + 1);
	p->row = (struct table_row){.ns = "", .name = p->uid};
	table_add(pods, &p->row);
	return p;
}

void unowned_pods_take(struct table *pods, const struct sizer_use *use)
{
	int64_t at_ms = 0;
	int64_t bytes = uses_memory(use, &at_ms);
	struct unowned_pod *p = bytes != METERED_ABSENT ? unowned_pod_ensure(pods, use->uid) : NULL;
	if (p != NULL) {
		p->mib = (bytes + (1 << 20) - 1) >> 20;
		p->at_ms = at_ms;
	}
}

int64_t unowned_pods_used(const struct table *pods, const char *uid, int64_t since_ms)
{
	const struct unowned_pod *p = (struct unowned_pod *)table_find(pods, "", uid);
	return p != NULL && p->at_ms >= since_ms ? p->mib : METERED_ABSENT;
}

void unowned_pods_forget(struct table *pods, int64_t since_ms)
{
	for (size_t i = pods->rows.count; i-- > 0;) {
		if (((struct unowned_pod *)pods->rows.items[i])->at_ms < since_ms) {
			table_remove(pods, pods->rows.items[i]);
		}
	}
}
