/* The state of an installation at one moment, as a person asks for it: who leads, what becomes of
 * the GPUs and of the workloads, which pods wait or started whole and why, and whose owners are not
 * recognized.
 *
 * It is told the objects of the cluster as changes, a whole list a kind, and says it as text or as
 * JSON. What was not to be read is a gap, and is said too. Everything that has its size from
 * outside is bounded: rows up to REPORT_ROWS_MAX are kept, all are counted. All text is copied. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/change.h"
#include "owner/owner.h"

#define REPORT_ROWS_MAX	   256 /* of pods, of each list */
#define REPORT_REASONS_MAX 32
#define REPORT_GAPS_MAX	   32
#define REPORT_COLUMNS	   100
#define REPORT_TEXT_BYTES  ((size_t)1 << 20)
#define REPORT_JSON_BYTES  ((size_t)16 << 20)

enum report_webhook {
	REPORT_WEBHOOK_UNKNOWN,
	REPORT_WEBHOOK_ABSENT, /* there is no configuration of ours */
	REPORT_WEBHOOK_BARE,   /* nobody has written a certificate authority into it */
	REPORT_WEBHOOK_SET,
};

/* The objects that are asked for by name. */
struct report_parts {
	bool lease_known;
	const char *holder; /* ""; nobody */
	int64_t renew_ms;
	const char *refused_by; /* the policy that refuses the leader's canary; NULL: none does */
	bool deployment_known, deployment_absent; /* neither: it could not be read */
	const char *image;
	int32_t ready, wanted;
	enum report_webhook webhook;
};

struct report;

struct report *report_create(void);
void report_destroy(struct report *r); /* NULL is fine */

void report_tell(struct report *r, const struct report_parts *parts);
/* A change of nodes, namespaces, groups, recommendations or pods; namespaces before pods. */
void report_apply(struct report *r, const struct change *c);
/* Pods, or recommendations, are those of this namespace alone. */
void report_limit(struct report *r, enum kind kind, const char *ns);
void report_gap(struct report *r, const char *format, ...) PRINTF(2, 3);
/* After the lists: whose the pods are that have GPUs. How many could not be said yet, because
 * owners are being asked for: then once more later. `final`: labels and names have to do. */
uint32_t report_look(struct report *r, const struct owner_port *port /* may be NULL */, bool final);

#endif
