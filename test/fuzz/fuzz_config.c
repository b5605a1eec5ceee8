/* The configuration file: no text crashes the reader or leaks, what is accepted is within the
 * table's bounds, what is not says where it is and leaves nothing behind. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "json/yaml.h"
#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_one_of(const char *value, const char *choices)
{
	struct view rest = view_of(choices), part;
	while (view_next(&rest, '|', &part)) {
		if (view_equals(part, value)) {
			return true;
		}
	}
	return false;
}

static void check_bounds(const struct options *o)
{
	ENSURE(o->idle_grace_s >= 1 && o->idle_grace_s <= 86400);
	ENSURE(o->open_timeout_s >= 5 && o->open_timeout_s <= 3600);
	ENSURE(o->patience_s >= 1 && o->patience_s <= 3600);
	ENSURE(o->context_memory_mib >= 64 && o->context_memory_mib <= 8192);
	ENSURE(o->journal_files >= 1 && o->journal_files <= 1000);
	ENSURE(o->journal_memory_mib >= 0 && o->journal_memory_mib <= 64);
	ENSURE(is_one_of(o->log_level, "debug|info|warn|error"));
	ENSURE(is_one_of(o->image_pull_policy, "|Always|IfNotPresent|Never"));
	const char *const texts[] = {o->config, o->kubeconfig, o->context, o->webhook_listen,
		o->webhook_names, o->metrics_listen, o->image, o->identity, o->runtime_class,
		o->schedulers, o->journal};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		ENSURE(texts[i] != NULL && strlen(texts[i]) <= DOC_BYTES_MAX);
	}
	/* A file does not name another one, and does not ask for help. */
	ENSURE(o->config[0] == '\0' && !o->help);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct options o = {.idle_grace_s = -7};
	struct fault f = {0};
	if (options_parse_file((const char *)data, size, "a.yaml", &o, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		ENSURE(strncmp(f.message, "a.yaml", 6) == 0 && strlen(f.message) > 8);
		ENSURE(o.idle_grace_s == -7);
		return 0;
	}
	check_bounds(&o);
	options_finish(&o);
	return 0;
}
