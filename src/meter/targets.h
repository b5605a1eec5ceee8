/* Where /metrics is to be read, as the watch of pods tells it: agents, exporters, applications.
 * Marks and sweeps round a relist. Private to the scraper, which adds what it needs to ask. */
#ifndef METER_TARGETS_H
#define METER_TARGETS_H

#include "base/table.h"
#include "meter/scrape.h"

enum target_kind { TARGET_AGENT, TARGET_EXPORTER, TARGET_APP, TARGET_KINDS };
const char *target_kind_name(enum target_kind kind);

struct reading;
struct target {
	struct table_row row; /* its texts owned; of its pod */
	enum target_kind kind;
	char *node;		 /* owned; the same */
	char *to, *path;	 /* owned; path NULL: /metrics */
	struct reading *reading; /* owned by the scraper; NULL: none is under way */
	int64_t next_at;
	struct backoff backoff;
	bool failing; /* that was said in the log */
};

struct targets {
	struct scrape_config config;
	struct table all; /* of targets */
	uint32_t apps;
	bool crowded; /* since the last relist */
	/* before a target goes or is asked elsewhere */
	void (*drop)(void *data, struct target *t);
	void *data;
};

static inline struct target *target_at(const struct targets *t, size_t i)
{
	return (struct target *)(void *)t->all.rows.items[i];
}

void targets_init(struct targets *t, const struct scrape_config *config);
void targets_finish(struct targets *t);
/* True: something new is to be asked. */
bool targets_observe(struct targets *t, const struct change *c);

#endif
