/* Shares of tenants that run: what they should have where they are, and what became of it. */
#ifndef SIZER_RESIZE_REQUEST_H
#define SIZER_RESIZE_REQUEST_H

#include "status_sentences.h"

void request_resize(struct tracking *s, struct sized_pod *p);
void resize_counts_clear(struct sized_workload *x); /* a round */
/* What became of it. */
void resize_counts_add(const struct sizer_port *engine, struct sized_pod *p);
/* What keeps a tenant from its target where it runs. False: nothing. */
bool resize_blocker(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct sentence *ret);
#endif
