/* A tenant that runs gets another share where it is, and nothing restarts: in a mode that enforces
 * nothing a share is a line in the books. Two books say it, the ledger of the capacity pod and what
 * the tenant was told, and each is written by itself; so that nothing is given twice whatever fails
 * between, the ledger never says less than the tenant was told:
 *
 *     1. what grows, grows in the ledger, by the same compare-and-swap that grants
 *     2. the tenant is told, by one patch, once the watch shows the ledger
 *     3. what shrinks, shrinks in the ledger, once that patch was answered and the watch shows it
 *
 * Growing and shrinking alone take two writes. What counts is the ledger, as always. A patch that
 * is late fails on the version that it was made from, since each patch makes a new one; so a
 * process that did not send the last one itself sends one before it lets the ledger shrink.
 *
 * Who wants another share for a tenant says so by CHANGE_SHARE, once; it is remembered while the
 * tenant is there, by this process alone, and tried whenever there may be room. Where nobody says
 * anything and the books differ for long, somebody was interrupted: the tenant is told what its
 * ledger says. Tenants of MPS cannot be changed while they run: they are left as they are; of a
 * framework that was told at its start what to take the compute alone changes. The engine owns it;
 * nothing fails. */
#ifndef GUARDIAN_RESIZE_H
#define GUARDIAN_RESIZE_H

#include "guardian/resizes.h"
#include "ledger/nouns.h"

void resizes_begin(struct resizes *resizes); /* of a picture */
/* What an entry takes of its GPU; `p` is its tenant, NULL: the world knows of none. */
struct share resize_counts(struct resizes *resizes, const struct holder *h,
	const struct grant *entry, const struct world_pod *p);
/* At most what a tenant that no ledger names was told, or may yet be told by what was sent. */
struct share resize_may_have(const struct resizes *resizes, const struct world_pod *p);
/* Step 4, before those who wait: what runs comes first. */
void resizes_decide(struct resizes *resizes);
/* The entry as it is to be written into the ledger of GPU `at` of the snapshot. */
void resize_entry(const struct resizes *resizes, uint32_t at, struct grant *entry);
/* Does what is to be written there give less to somebody? */
bool resizes_shrink(const struct resizes *resizes, uint32_t at);
/* Tenants are told. */
void resizes_emit(struct resizes *resizes, struct emitter *out);
void resizes_sweep(struct resizes *resizes);

#endif
