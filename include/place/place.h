/* Where a share goes. Pure functions: a snapshot and a request go in, a verdict comes out; the
 * caller reserves what it takes.
 *
 * The snapshot lists nodes and GPUs. A GPU is one capacity pod: open (it may receive grants), busy
 * (a write to its ledger is under way) or opening (it will be open soon; its memory is an estimate
 * until it has told). All three can be chosen, so that what is on its way is counted and nothing is
 * opened twice; open ones first.
 *
 * Best fit: the GPU on which the least is left over; for a request that spreads, the one on which
 * the most is free. Ties fall by node and name, so the same snapshot gives the same answer
 * everywhere.
 *
 * With an index (snapshot_index) the same verdicts come without a look at every GPU. From then on
 * until snapshot_clear, GPUs and nodes change through the calls below, or are told by
 * snapshot_gpu_moved. */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include "place/fit.h"
#include "place/gpu_fit.h"
#include "place/group_fit.h"
#include "place/kept.h"
#include "place/lack.h"
#include "place/gpu_picture.h"

struct place_verdict place_best_fit(const struct snapshot *s, const struct place_request *r);
/* Would the request fit this GPU of this node, which need not be as the snapshot has them? If so,
 * the verdict tells the share. */
bool place_would_fit(const struct snapshot *s, const struct place_request *r,
	const struct place_gpu *g, const struct place_node *n, struct place_verdict *ret_verdict);
/* The node on which to open a GPU for the request; PLACE_NOWHERE: there is none. */
struct place_verdict place_open(const struct snapshot *s, const struct place_request *r);
/* The share is larger than every GPU of the nodes that suit the pod, whatever is free there; the
 * verdict then says so, with the largest of them. False also where no node suits it. */
bool place_never_fits(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *ret_verdict);
/* Takes the share out of one GPU, and nothing of what the pod needs of the node. */
void place_reserve_share(struct snapshot *s, const struct place_request *r, uint32_t gpu,
	int64_t milli, int64_t mem_mib);
/* Takes the verdict's share out of the snapshot. */
void place_reserve(
	struct snapshot *s, const struct place_request *r, const struct place_verdict *v);

#endif
