/* The search for GPUs whose capacity pod is lost (C11). Nothing here fails. */
#ifndef GUARDIAN_SEARCH_H
#define GUARDIAN_SEARCH_H

struct emitter;
struct orphans;

/* With the orphans of this step; and after decisions were made */
void searches_plan(struct orphans *orphans);
void searches_tend(struct orphans *orphans, struct emitter *out);

#endif
