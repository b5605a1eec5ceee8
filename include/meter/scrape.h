/* Reads /metrics over plain HTTP, each target every so often, and tells `latest` what it says of
 * pods: our agents, a dcgm-exporter, and the applications of pods with a GPU that carry the
 * prometheus.io annotations.
 *
 * What a target says is used when all of it was read, and not at all otherwise: an answer that
 * breaks off, cannot be read or is too large is counted, said in the log once and asked for again
 * after a pause that grows. An agent or an exporter is believed of the pods of its own node, an
 * application of its own pod. No token is sent; there is no TLS, so whoever can answer in a pod's
 * place can lie about use (docs/design/usage.md).
 *
 * Owner: whoever creates it destroys it before its wire and before `latest`. */
#ifndef METER_SCRAPE_H
#define METER_SCRAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/metric.h"
#include "meter/latest.h"
#include "model/change.h"
#include "model/wire.h"

#define SCRAPE_IN_FLIGHT_MAX 32
#define SCRAPE_NODES_MAX     20000 /* agents and exporters; more are not remembered */
#define SCRAPE_APPS_MAX	     2000  /* applications */
/* A tenant writes what its application says; agents and exporters have the limits of the format. */
#define SCRAPE_APP_BYTES_MAX   ((size_t)2 << 20)
#define SCRAPE_APP_SAMPLES_MAX 20000
#define SCRAPE_TIMEOUT_MS      10000 /* of one reading, slow or silent */

/* Which pods are exporters. */
struct scrape_exporter {
	const char *ns, *key,
		*value; /* borrowed for as long as the scraper; ns NULL: there are none */
	int64_t port;	/* 0: its port that is named, else 9400 */
};

struct scrape_config {
	const struct clock *clock;	 /* borrowed */
	struct metric_registry *metrics; /* borrowed; NULL: nothing is counted */
	struct latest *latest;		 /* borrowed */
	uint64_t seed;			 /* of the jitter */
	int64_t every_ms, apps_every_ms;
	bool agents, apps;
	const char *agent_ns; /* where agents are; borrowed; NULL: where we are */
	struct scrape_exporter exporter;
};

struct scrape;
struct scrape *scrape_create(const struct scrape_config *config);
void scrape_destroy(struct scrape *s);
/* NULL: nobody can be asked. What is under way on another wire is dropped. */
void scrape_use(struct scrape *s, struct wire *wire);
/* What the watch of pods says. */
void scrape_observe(struct scrape *s, const struct change *c);
/* `reads`: whether to ask at all; only a leader decides. What is under way when it does not any
 * more is dropped. */
void scrape_step(struct scrape *s, int64_t now_mono_ms, bool reads);
int64_t scrape_deadline(const struct scrape *s, bool reads);
/* For pages: there were more targets than are remembered, since the last relist. */
bool scrape_crowded(const struct scrape *s);

/* "NAMESPACE/KEY=VALUE" or "NAMESPACE/KEY=VALUE:PORT", into the arena. */
MUST_CHECK int scrape_exporter_parse(const char *text, struct arena *arena,
	struct scrape_exporter *ret, struct fault *ret_fault);

#endif
