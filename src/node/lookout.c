/* What a capacity pod is told of its tenants: its own label and annotation, as the kubelet writes
 * them down. It renews neither once the pod is being ended, so that they say who was there then,
 * and a capacity pod of mode None holds on until it is killed. Under MPS its daemon should be ended
 * before, and it sees the processes of its node: when those of all who were there have ended, it
 * goes. */
#include "lookout.h"

#include <dirent.h>

#include "base/log.h"
#include "capacity_common.h"
#include "own/capacity_text.h"

static int read_told_file(const struct capacity_options *o, const char *name, struct str *text,
	struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str path = STR_INIT(4096);
	if (!str_append_format(&path, "%s/%s", o->told_dir, name)) {
		return fault_set(ret_fault, FAULT_LIMIT, "the path is too long");
	}
	return capacity_read(str_text(&path), text, ret_fault);
}

bool capacity_is_needed(const struct capacity_options *o)
{
	CLEANUP(str_finish) struct str text = STR_INIT(64);
	struct fault fault = {0};
	if (o->told_dir == NULL) {
		return false;
	}
	if (read_told_file(o, "in-use", &text, &fault) != 0) {
		log_warn("could not read whether tenants are there", LOG_F(&fault));
		return false;
	}
	bool needed = text.len > 0 && !text_equals(str_text(&text), IN_USE_NO);
	if (needed) {
		log_info("was asked to end; holding the GPU until its tenants have left");
	}
	return needed;
}

void lookout_begin(struct lookout *l, const struct capacity_options *o, const char *proc_root)
{
	CLEANUP(str_finish) struct str text = STR_INIT(LEDGER_TEXT_MAX);
	struct fault fault = {0};
	*l = (struct lookout){.arena = {.block_bytes = 4096}, .proc_root = proc_root};
	if (read_told_file(o, "grants", &text, &fault) != 0 ||
		ledger_decode(str_text(&text), &l->arena, &l->named, &fault) < 0) {
		log_warn("could not read who the tenants are", LOG_F(&fault));
		l->named = (struct ledger){0};
	}
	l->procs = procs_create(proc_root);
}

void lookout_finish(struct lookout *l)
{
	procs_destroy(l->procs);
	l->procs = NULL;
	arena_finish(&l->arena);
}

static bool ledger_names(const struct lookout *l, const char *uid)
{
	for (uint32_t i = 0; i < l->named.count; i++) {
		if (text_equals(l->named.items[i].uid, uid)) {
			return true;
		}
	}
	return false;
}

bool lookout_sees_anybody(struct lookout *l)
{
	DIR *all = opendir(l->proc_root);
	bool found = false;
	for (const struct dirent *d; all != NULL && !found && (d = readdir(all)) != NULL;) {
		struct cgroup_name name;
		int64_t pid;
		bool pods = parse_i64(view_of(d->d_name), 1, INT32_MAX, &pid) &&
			    procs_ask(l->procs, (uint32_t)pid, &name);
		l->has_sight = l->has_sight || pods;
		found = pods && ledger_names(l, name.pod);
	}
	if (all != NULL) {
		(void)closedir(all);
	}
	return found;
}

/* One between two containers is back in a while. Who was never seen had left before, where
 * processes of pods are in sight, or is about to start. */
bool lookout_sees_nobody_left(struct lookout *l)
{
	if (lookout_sees_anybody(l)) {
		l->seen = true;
		l->alone = 0;
		return false;
	}
	bool known = l->seen || (l->has_sight && l->named.count > 0);
	return known && ++l->alone >= (l->seen ? LOOKOUT_ALONE : LOOKOUT_UNSEEN);
}
