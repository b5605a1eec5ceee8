/* The mutations: mistakes by name, alone or two together where one of them is what the other is
 * saved by. */
#include "mutations.h"

#include <string.h>

#include "base/vec.h"
#include "mistakes.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

const struct mutation_row mutation_rows[] = {
	{"grant-without-version", "the compare-and-swap is only a swap",
		.hooks = {.request = grant_without_version}, .rare = true},
	{"place-without-uid", "a placement finds its pod by name alone",
		.hooks = {.request = place_without_uid}, .rare = true},
	{"place-without-pin", "a placement forgets the node",
		.hooks = {.request = place_without_pin}},
	{"no-fence", "a placement does not say in which term it was sent",
		.hooks = {.request = place_without_term}, .scenario = "fence"},
	{"place-on-the-first", "a tenant of several GPUs is told one",
		.hooks = {.request = place_on_the_first}},
	{"reserves-nothing", "whoever is passed over reserves nothing",
		.hooks = {.patience_ms = INT64_MAX / 4}, .rare = true},
	{"tells-more", "a tenant that runs is told more memory than its ledger has",
		.hooks = {.request = tell_more}},
	{"keep-halves", "a partial multi-GPU grant is kept",
		.hooks = {.partial_ms = INT64_MAX / 4}},
	{"delete-without-version", "a capacity pod goes although it was just granted from",
		.hooks = {.request = delete_without_version}, .rare = true},
	{"free-when-deleting", "a share is free when deletion begins",
		.hooks = {.change = free_when_deleting}},
	{"count-completed", "pods that are over hold their share",
		.hooks = {.change = count_completed}},
	{"relist-without-deletes", "a new picture sweeps nothing away",
		.hooks = {.change = relist_without_deletes}},
	{"all-go-gently", "a deletion by force frees the share at once",
		.hooks = {.change = all_go_gently}},
	{"ignore-whole-pods", "GPUs are opened under pods that wait for whole ones",
		.hooks = {.change = ignore_whole_pods}},
	{"ignore-deletes", "deletions are not heard", .hooks = {.change = ignore_deletes}},
	{"sweep-at-once", "a picture that has begun is taken for complete",
		.hooks = {.change = sweep_at_once}, .rare = true},
	{"silence-is-nobody", "an agent that does not answer passes for one that lists nobody",
		.hooks = {.silence_is_nobody = true}},
	{"nobody-listed", "what an agent lists is not looked at", .hooks = {.change = list_nobody}},
	{"forget-ledgers", "entries of tenants that are not placed yet do not count",
		.hooks = {.change = forget_ledgers}},
	{"more-memory", "a GPU is taken for twice its size", .hooks = {.change = more_memory}},
	{"accept-doubles", "a UUID that two capacity pods tell passes for two GPUs",
		.hooks = {.request = place_without_mark, .change = accept_doubles}, .rare = true},
	{"waiters-rank-higher", "a tenant is evicted for one of the same priority",
		.hooks = {.change = waiters_rank_higher}},
	{"forget-orphans", "a GPU whose capacity pod is lost passes for nobody's",
		.hooks = {.change = tenants_by_name}},
	{"lost-is-failed-no-version",
		"a lost answer is taken for a failure, and writes name no version",
		.hooks = {.outcome = lost_is_failed, .request = write_without_version},
		.rare = true},
	{"forgets-at-relist", "what was asked for and not seen is forgotten at a new picture",
		.hooks = {.forgets_at_relist = true}, .rare = true},
	{"forgets-at-relist-no-version", "the same, and writes name no version",
		.hooks = {.forgets_at_relist = true, .request = write_without_version},
		.rare = true},
	{"gone-when-deleting-freed-early",
		"a capacity pod is taken for gone when its deletion begins, and its device is free",
		.hooks = {.change = gone_when_deleting, .devices_free_early = true}, .rare = true},
	{"less-cpu", "a node is taken for smaller than it is", .hooks = {.change = less_cpu}},
	{"quotas-unheard", "quotas are not heard", .hooks = {.change = quotas_unheard}},
	{"say-less-is-free", "a condition tells of less than is free",
		.hooks = {.request = say_less_is_free}, .rare = true},
	{"everybody-is-company", "policies are heard, and not with whom they share",
		.hooks = {.change = everybody_is_company}, .rare = true},
	{"modes-unheard", "every capacity pod passes for one of mode None",
		.hooks = {.change = modes_unheard}},
	{"faults-unheard", "every daemon of MPS passes for active",
		.hooks = {.change = faults_unheard}, .rare = true},
	{"illness-forgotten", "an agent that was started anew ends what it does not know of",
		.hooks = {.change = events_are_asked_for}, .scenario = "k42"},
	{"uses-count-twice", "a tenant is taken to use twice the memory that it does",
		.hooks = {.change = uses_count_twice}},
	{"figures-never-age", "what an agent said of memory a minute ago passes for now",
		.hooks = {.change = figures_never_age}},
	{"devices-are-full", "every GPU passes for one without free memory",
		.hooks = {.change = devices_are_full}},
	{"every-policy-evicts", "memoryOveruse: Evict is read in every policy",
		.hooks = {.change = every_policy_evicts}},
	{"say-another-rule", "a condition tells of tenants under another rule",
		.hooks = {.request = say_another_rule}, .rare = true},
	{"say-it-is-opening", "every condition says that a GPU is being opened",
		.hooks = {.request = say_it_is_opening}},
	{"assumes-a-form", "nothing is tried before a GPU is named by its UUID",
		.hooks = {.assumes_env = true}},
	{"believes-any-probe", "a probe proves its form whatever it has seen",
		.hooks = {.change = believe_any_probe}},
	{"proofs-are-env", "whatever form is proven, env is read",
		.hooks = {.change = read_proofs_as_env}},
	{"classes-unheard", "which RuntimeClass a tenant has is not heard",
		.hooks = {.change = unhear_classes}},
	{"say-nothing", "conditions are written under another name",
		.hooks = {.request = say_nothing}},
	{"keeps-leading", "a leader does not notice that its Lease is over",
		.hooks = {.keeps_leading = true}},
};
const size_t mutation_count = COUNT(mutation_rows);

const struct mutation_row *mutation_find(const char *name)
{
	for (size_t i = 0; i < mutation_count; i++) {
		if (strcmp(mutation_rows[i].name, name) == 0) {
			return &mutation_rows[i];
		}
	}
	return NULL;
}
