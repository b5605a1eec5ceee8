/* An engine whose surroundings are random, and the journal that records it: what the tests of the
 * journal share. Only roughly a cluster, because the journal must hold for any input. */
#ifndef TEST_ENGINE_JOURNAL_BED_H
#define TEST_ENGINE_JOURNAL_BED_H

#include "base/rand.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "model/names.h"

#define BED_VERSION "test"
#define PODS_MAX    48

struct obj {
	bool exists, capacity, gated, running, whole, probe;
	char ns[16], name[64], uid[24], node[16], holder[64];
	struct inject_class other; /* of the claim */
	struct inject_claim claim; /* of probes; of capacity pods where it has a node */
	char claim_node[16], claim_class[16];
	char owner[2][64]; /* of probes: name and uid */
	int rv;
	int64_t milli;
	struct grant grants[MODEL_GRANTS_MAX];
	char grant_uids[MODEL_GRANTS_MAX][24];
	uint32_t grant_count;
};

struct waiting_outcome {
	uint64_t id;
	bool succeeded, unknown, answered;
	int pod;
};

struct bed {
	struct engine *e;
	struct journal *j;
	struct plan plan;
	struct rng rng;
	struct obj pods[PODS_MAX];
	struct waiting_outcome late[256];
	size_t late_count;
	int rv, uids;
	int64_t now;
	uint64_t actions;
	struct str bytes; /* what the sink got */
	size_t starts[4096];
	size_t segments;
};

uint64_t bed_below(struct bed *b, uint64_t n);
/* The bed owns what it makes. Segments go to `bytes` unless they stay in memory; segment_bytes 0:
 * as in production. */
struct bed *bed_new(uint64_t seed, size_t segment_bytes, bool in_memory);
void bed_run(struct bed *b, int turns);
void bed_free(struct bed *b);

/* The table of pods; telling is what a watch does. */
struct obj *bed_pod_add(struct bed *b, const char *ns, const char *name);
int bed_pod_find(const struct bed *b, const char *ns, const char *name); /* -1: none */
void bed_tell_pod(struct bed *b, const struct obj *o);
/* The write of an action in our table; `at` is the pod it names, or -1. */
void bed_carry_out(struct bed *b, const struct action *a, int at);

void bed_settle(struct bed *b, const struct waiting_outcome *w);

/* What went to the sink so far. */
struct view bed_bytes(const struct bed *b);
/* Fails the test where the bytes cannot be read. */
struct journal_summary bed_replay(struct view bytes);

#endif
