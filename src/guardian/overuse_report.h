/* What is said of who uses more than its share of memory. Nothing here fails. */
#ifndef GUARDIAN_OVERUSE_REPORT_H
#define GUARDIAN_OVERUSE_REPORT_H

#include "ledger/nouns.h"
#include "model/reason.h"

struct action;

/* One tenant of a node that was judged. */
void overuse_report(struct overuses *all, const struct world_pod *p, struct emitter *out);
void emit_pod_warning(
	const struct world_pod *p, enum reason reason, const char *text, struct emitter *out);
/* A condition of that type, unless it is so already or one was asked for lately. */
void emit_pod_condition(struct overuses *overuses, const struct world_pod *p,
	const struct action *what, struct emitter *out);

#endif
