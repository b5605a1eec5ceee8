/* The hooks of the mutations: each is one mistake. What each does stands in mutations.c. */
#ifndef SIM_MISTAKES_H
#define SIM_MISTAKES_H

#include "sim/sim.h"

typedef void (*teller)(void *data, const struct change *c);

/* --- mistakes.c: the books --- */
void grant_without_version(const struct wire_request *r, json_t *body);
void place_without_uid(const struct wire_request *r, json_t *body);
void delete_without_version(const struct wire_request *r, json_t *body);
void place_on_the_first(const struct wire_request *r, json_t *body);
void place_without_pin(const struct wire_request *r, json_t *body);
void place_without_term(const struct wire_request *r, json_t *body);
void free_when_deleting(struct change *c, teller tell, void *data);
void count_completed(struct change *c, teller tell, void *data);
void relist_without_deletes(struct change *c, teller tell, void *data);
void all_go_gently(struct change *c, teller tell, void *data);
void ignore_deletes(struct change *c, teller tell, void *data);
void sweep_at_once(struct change *c, teller tell, void *data);
void list_nobody(struct change *c, teller tell, void *data);
void forget_ledgers(struct change *c, teller tell, void *data);
void more_memory(struct change *c, teller tell, void *data);
void accept_doubles(struct change *c, teller tell, void *data);
void place_without_mark(const struct wire_request *r, json_t *body);
void believe_any_probe(struct change *c, teller tell, void *data);
void read_proofs_as_env(struct change *c, teller tell, void *data);
void unhear_classes(struct change *c, teller tell, void *data);
void waiters_rank_higher(struct change *c, teller tell, void *data);

/* --- mistakes_more.c: answers, departures, sentences, quotas --- */
void lost_is_failed(const struct action *a, struct outcome *o, struct pod *storage);
void tell_more(const struct wire_request *r, json_t *body);
void write_without_version(const struct wire_request *r, json_t *body);
void gone_when_deleting(struct change *c, teller tell, void *data);
void ignore_whole_pods(struct change *c, teller tell, void *data);
void tenants_by_name(struct change *c, teller tell, void *data);
void less_cpu(struct change *c, teller tell, void *data);
void quotas_unheard(struct change *c, teller tell, void *data);
void say_less_is_free(const struct wire_request *r, json_t *body);
void say_it_is_opening(const struct wire_request *r, json_t *body);
void say_another_rule(const struct wire_request *r, json_t *body);
void everybody_is_company(struct change *c, teller tell, void *data);
void faults_unheard(struct change *c, teller tell, void *data);
void events_are_asked_for(struct change *c, teller tell, void *data);
void modes_unheard(struct change *c, teller tell, void *data);
void uses_count_twice(struct change *c, teller tell, void *data);
void figures_never_age(struct change *c, teller tell, void *data);
void devices_are_full(struct change *c, teller tell, void *data);
void every_policy_evicts(struct change *c, teller tell, void *data);
void say_nothing(const struct wire_request *r, json_t *body);

/* --- mistakes_read.c: reading objects --- */
void shares_truncated(struct change *c, teller tell, void *data);
void quotas_misread(struct change *c, teller tell, void *data);
void other_gates_unread(struct change *c, teller tell, void *data);

/* --- mistakes_roll.c: replacing pods --- */
void everybody_is_ready(struct change *c, teller tell, void *data);
void beside_unheard(struct change *c, teller tell, void *data);
void cheapen_without_cost(const struct wire_request *r, json_t *body);
void restore_without_cost(const struct wire_request *r, json_t *body);
void surge_with_the_label(const struct wire_request *r, json_t *body);
void return_without_version(const struct wire_request *r, json_t *body);
void return_at_once(struct change *c, teller tell, void *data);
void everything_is_in_vain(struct change *c, teller tell, void *data);
void whole_for_no_while(struct change *c, teller tell, void *data);

#endif
