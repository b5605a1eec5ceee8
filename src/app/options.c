/* One row an option. Everything else in this file walks the rows. */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "json/yaml.h"
#include "model/injection.h"
#include "model/names.h"
#include "model/price.h"

#define FILE_MAX_BYTES (256 * 1024)

enum option_type { OPTION_TEXT, OPTION_RULES, OPTION_PRICES, OPTION_NUMBER, OPTION_SWITCH };

struct option_row {
	const char *flag; /* without dashes; the environment and YAML names follow from it */
	enum option_type type;
	size_t offset;
	const char *otherwise; /* the default, as one would write it */
	int64_t min, max;      /* numbers */
	const char *choices;   /* text: "a|b|c" or NULL */
	const char *help;
};

#define TEXT(field)   OPTION_TEXT, offsetof(struct options, field)
#define RULES(field)  OPTION_RULES, offsetof(struct options, field)
#define PRICES(field) OPTION_PRICES, offsetof(struct options, field)
#define NUMBER(field) OPTION_NUMBER, offsetof(struct options, field)
#define SWITCH(field) OPTION_SWITCH, offsetof(struct options, field)

static const struct option_row rows[] = {
	{"config", TEXT(config), "", 0, 0, NULL,
		"YAML file with any of these options; keys as the flags"},
	{"kubeconfig", TEXT(kubeconfig), "", 0, 0, NULL,
		"one kubeconfig file; empty: $KUBECONFIG, then the pod's own account, then "
		"~/.kube/config"},
	{"context", TEXT(context), "", 0, 0, NULL,
		"context in the kubeconfig; empty: its current-context"},
	{"webhook-listen", TEXT(webhook_listen), ":10250", 0, 0, NULL,
		"address and port of the admission webhook (HTTPS)"},
	{"webhook-names", TEXT(webhook_names), "", 0, 0, NULL,
		"further names or addresses in the webhook's certificate, separated by commas"},
	{"webhook-client-ca", TEXT(webhook_client_ca), "", 0, 0, NULL,
		"file with the authorities of those who may call the webhook, read at the start: "
		"API servers that show a certificate; empty: everybody who reaches its port"},
	{"metrics-listen", TEXT(metrics_listen), ":8080", 0, 0, NULL,
		"address and port of /metrics, /healthz and /readyz (HTTP)"},
	{"log-level", TEXT(log_level), "info", 0, 0, "debug|info|warn|error",
		"least level of the log lines"},
	{"image", TEXT(image), "", 0, 0, NULL,
		"image of the capacity pods; empty: that of the controller's own pod "
		"($POD_NAMESPACE/$POD_NAME)"},
	{"image-pull-policy", TEXT(image_pull_policy), "", 0, 0, "|Always|IfNotPresent|Never",
		"imagePullPolicy of the capacity pods; empty: the cluster's default"},
	{"identity", TEXT(identity), "", 0, 0, NULL,
		"name in the Lease, unique to this process; empty: host name and a random suffix"},
	{"runtime-class", TEXT(runtime_class), "auto", 0, 0, NULL,
		"runtimeClassName of tenants and capacity pods: auto (nvidia if that class "
		"exists), none, or a name"},
	{"injection", RULES(injection), "probe", 0, 0, NULL,
		"how a node gives a container its GPU: probe (it is tried), env, cdi or nri; for "
		"some nodes LABEL=VALUE:WAY, separated by commas, the first that matches counts"},
	{"schedulers", TEXT(schedulers), "default-scheduler", 0, 0, NULL,
		"schedulers whose pods may become tenants, separated by commas"},
	{"mps-unlabelled", SWITCH(mps_unlabelled), "false", 0, 0, NULL,
		"mode MPS also in namespaces without the label "
		"pod-security.kubernetes.io/enforce: where the cluster forbids directories of "
		"the node to them, no such pod is created"},
	{"linger-seconds", NUMBER(linger_s), "5", 0, 15, NULL,
		"how long it goes on after SIGTERM, as not ready, until Services and API servers "
		"have heard of that"},
	{"idle-grace-seconds", NUMBER(idle_grace_s), "60", 1, 86400, NULL,
		"how long a capacity pod without tenants stays, unless their GPUPolicies say "
		"otherwise"},
	{"warm-gpus", NUMBER(warm_gpus), "0", 0, 1000, NULL,
		"how many capacity pods without tenants stay all the same, so that the next "
		"tenant starts at once; a whole-GPU pod that waits has them before"},
	{"open-timeout-seconds", NUMBER(open_timeout_s), "120", 5, 3600, NULL,
		"how long a capacity pod may take to say which GPU it holds"},
	{"evictions-per-minute", NUMBER(evictions_per_minute), "30", 1, 1000, NULL,
		"how many tenants may be evicted in any minute, for whatever reason"},
	{"reacquire-seconds", NUMBER(reacquire_s), "60", 1, 3600, NULL,
		"how long a GPU is searched for whose capacity pod was lost, before its tenants "
		"are evicted"},
	{"patience-seconds", NUMBER(patience_s), "60", 1, 3600, NULL,
		"how long a pod is passed over by others before GPUs are kept for it"},
	{"recycle-seconds", NUMBER(recycle_s), "30", 1, 3600, NULL,
		"how long the scheduler may refuse a tenant where it was placed, before it is "
		"evicted so that its owner makes another one"},
	{"preempt-seconds", NUMBER(preempt_s), "10", 1, 3600, NULL,
		"how long a tenant fits nowhere before tenants of a lower priority are evicted "
		"for it"},
	{"scale-up-seconds", NUMBER(scale_up_s), "10", 0, 3600, NULL,
		"how long nothing fits a tenant before a capacity pod that is not pinned asks "
		"autoscalers for a node; 0: never"},
	{"scale-up-serve-seconds", NUMBER(serve_s), "300", 10, 3600, NULL,
		"how long a node that came for tenants and does not suit them counts as theirs, "
		"before others have their turn"},
	{"context-memory-mib", NUMBER(context_memory_mib), "512", 64, 8192, NULL,
		"GPU memory of one CUDA context: the smallest memory share"},
	{"agent-identity", TEXT(agent_identity), "auto", 0, 0, "auto|node",
		"whom an agent's certificate must name: its node alone (node), or, where its pod "
		"is of the version before or of the overlay shared-agent-key, any agent (auto)"},
	{"agent-namespace", TEXT(agent_namespace), NAME_NAMESPACE, 0, 0,
		NAME_NAMESPACE "|" NAME_AGENT_HOME,
		"where agents are: what has their label elsewhere is none, and only their account "
		"there is given certificates; the overlay restricted says " NAME_AGENT_HOME},
	{"usage-agents", SWITCH(usage_agents), "true", 0, 0, NULL,
		"read the use of pods from our agents"},
	{"usage-exporter", TEXT(usage_exporter), "", 0, 0, NULL,
		"dcgm-exporters to read use from where no agent is, as NAMESPACE/LABEL=VALUE or "
		"NAMESPACE/LABEL=VALUE:PORT; empty: none"},
	{"usage-prometheus", TEXT(usage_prometheus), "", 0, 0, NULL,
		"URL of a Prometheus to read use from where neither is, and what was used before "
		"us; empty: none"},
	{"usage-prometheus-matcher", TEXT(usage_prometheus_matcher), "", 0, 0, NULL,
		"label matchers of its GPU exporters, as job=\"dcgm-exporter\": only what they "
		"tell is read, and is believed of every pod; empty: exported_namespace and "
		"exported_pod are believed of nobody"},
	{"usage-prometheus-ca", TEXT(usage_prometheus_ca), "", 0, 0, NULL,
		"file with the authorities of its certificate; empty: the system's"},
	{"usage-prometheus-token", TEXT(usage_prometheus_token), "", 0, 0, NULL,
		"file with a bearer token for it, which is sent over https only; empty: none"},
	{"usage-seconds", NUMBER(usage_s), "15", 5, 300, NULL, "how often use is read"},
	{"rightsizing-seconds", NUMBER(rightsizing_s), "30", 1, 3600, NULL,
		"how often it is looked at what each workload should have"},
	{"checkpoint-seconds", NUMBER(checkpoint_s), "300", 5, 3600, NULL,
		"how old the checkpoint of what was measured of a container gets, before it is "
		"written again"},
	{"zoneinfo", TEXT(zoneinfo), "/usr/share/zoneinfo", 0, 0, NULL,
		"folder of the zone files (tzdata) by which the update windows of policies in "
		"other time zones than UTC are read"},
	{"usage-gauges", TEXT(usage_gauges), "off", 0, 0, "off|pods|prometheus",
		"what vLLM, SGLang and Triton tell of themselves: not read, read from pods by "
		"their prometheus.io annotations, or from the Prometheus"},
	{"gpu-prices", PRICES(gpu_prices), "", 0, 0, NULL,
		"price of one GPU for an hour, as MODEL=2.00, separated by commas; MODEL as the "
		"nodes' label nvidia.com/gpu.product has it, * for all others; empty: none is "
		"known"},
	{"gpu-price-label", TEXT(gpu_price_label), "aliquot.dev/gpu-price", 0, 0, NULL,
		"label of nodes that has the price of their GPUs, before that of their model"},
	{"currency", TEXT(currency), "USD", 0, 0, NULL, "of the prices, as it is told"},
	{"team-label", TEXT(team_label), "team", 0, 0, NULL,
		"label of pods by which costs are added up; empty: none"},
	{"model-label", TEXT(model_label), "model", 0, 0, NULL,
		"another one, of what a pod serves or trains; empty: none"},
	{"journal", TEXT(journal), "", 0, 0, NULL,
		"directory for the journal of the engine's inputs, of this process alone; read "
		"it with aliquot replay; empty: none on disk"},
	{"journal-files", NUMBER(journal_files), "8", 1, 1000, NULL,
		"how many files of the journal are kept, of 64 MiB each and the state with which "
		"it begins"},
	{"journal-memory-mib", NUMBER(journal_memory_mib), "8", 0, 64, NULL,
		"with --debug and without a directory: the journal's last minutes in memory, for "
		"GET /debug/journal; 0: none"},
	{"never-lead", SWITCH(never_lead), "false", 0, 0, NULL,
		"serve the webhook but never take the Lease"},
	{"debug", SWITCH(debug), "false", 0, 0, NULL,
		"serve /debug/dump, /debug/usage, /debug/latency, /debug/journal and POST "
		"/debug/relist on the metrics port"},
};

static const char *system_env(const char *name)
{
	return getenv(name);
}

/* "idle-grace-seconds" as "ALIQUOT_IDLE_GRACE_SECONDS". */
static void env_name(const struct option_row *row, char *out, size_t room)
{
	snprintf(out, room, "ALIQUOT_%s", row->flag);
	for (char *c = out; *c != '\0'; c++) {
		*c = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	}
}

static bool is_choice(const char *choices, const char *value)
{
	struct view rest = view_of(choices), part;
	while (view_next(&rest, '|', &part)) {
		if (view_equals(part, value)) {
			return true;
		}
	}
	return false;
}

/* The caller says in front of the message where the value came from. */
static int set_value(
	struct options *o, const struct option_row *row, const char *value, struct fault *f)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 4096};
	struct inject_rules rules;
	struct prices prices;
	void *field = (char *)o + row->offset;
	switch (row->type) {
	case OPTION_SWITCH:
		if (!is_choice("true|false", value)) {
			return fault_set(f, FAULT_INVALID, "%s is \"%.60s\"; write true or false",
				row->flag, value);
		}
		*(bool *)field = text_equals(value, "true");
		return 0;
	case OPTION_NUMBER:
		if (!parse_i64(view_of(value), row->min, row->max, field)) {
			return fault_set(f, FAULT_INVALID,
				"%s is \"%.60s\"; write a whole number from %lld to %lld",
				row->flag, value, (long long)row->min, (long long)row->max);
		}
		return 0;
	case OPTION_RULES:
		if (inject_rules_parse(value, &arena, &rules, f) < 0) {
			return fault_wrap(f, "%s", row->flag);
		}
		break;
	case OPTION_PRICES:
		if (prices_parse(value, &arena, &prices, f) < 0) {
			return fault_wrap(f, "%s", row->flag);
		}
		break;
	case OPTION_TEXT:
		if (row->choices != NULL && !is_choice(row->choices, value)) {
			return fault_set(f, FAULT_INVALID, "%s is \"%.60s\"; write one of %s",
				row->flag, value, row->choices);
		}
		break;
	}
	*(const char **)field = arena_strdup(&o->arena, value);
	return 0;
}

static const struct option_row *row_find(struct view flag)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (view_equals(flag, rows[i].flag)) {
			return &rows[i];
		}
	}
	return NULL;
}

static int set_from_yaml(struct options *o, const struct doc *d, const char *key,
	const json_t *value, struct fault *f)
{
	char number[32];
	const struct option_row *row = row_find(view_of(key));
	if (row == NULL || text_equals(row->flag, "config")) {
		return doc_fault(d, d->root, key, f,
			"\"%.60s\" is not an option; see aliquot controller --help", key);
	}
	const char *text = json_is_string(value)  ? json_string_value(value)
			   : json_is_true(value)  ? "true"
			   : json_is_false(value) ? "false"
			   : json_is_null(value)  ? row->otherwise
						  : NULL;
	if (json_is_integer(value)) {
		snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
		text = number;
	}
	if (text == NULL) {
		return doc_fault(
			d, d->root, key, f, "%s must be one value, not a list or a mapping", key);
	}
	struct fault inner = {0};
	if (set_value(o, row, text, &inner) < 0) {
		return doc_fault(d, d->root, key, f, "%s", inner.message);
	}
	return 0;
}

static int read_document(
	struct options *o, const char *text, size_t n, const char *name, struct fault *f)
{
	CLEANUP(doc_finish) struct doc d = {0};
	if (doc_parse(text, n, name, &d, f) < 0) {
		return -1;
	}
	if (d.root != NULL && !json_is_object(d.root) && !json_is_null(d.root)) {
		return doc_fault(&d, NULL, NULL, f, "a mapping of options is expected");
	}
	const char *key;
	json_t *value;
	json_object_foreach(d.root, key, value)
	{
		if (set_from_yaml(o, &d, key, value, f) < 0) {
			return -1;
		}
	}
	return 0;
}

static int read_config_file(struct options *o, const char *path, struct fault *f)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FILE_MAX_BYTES);
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		return fault_set(
			f, FAULT_INVALID, "config: %s cannot be opened: %s", path, strerror(errno));
	}
	char buffer[4096];
	size_t n = 0;
	while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
		str_append(&text, buffer, n);
	}
	bool failed = ferror(file) != 0;
	fclose(file);
	if (failed || text.overflow) {
		return fault_set(f, FAULT_INVALID, "config: %s %s", path,
			failed ? "cannot be read" : "is larger than 256 KiB");
	}
	return read_document(o, str_text(&text), text.len, path, f);
}

static void options_preset(struct options *o)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (set_value(o, &rows[i], rows[i].otherwise, NULL) < 0) {
			BUG("the default of %s breaks its own rule", rows[i].flag);
		}
	}
}

static int read_environment(
	struct options *o, const char *(*get_env)(const char *), struct fault *f)
{
	char name[64];
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		env_name(&rows[i], name, sizeof name);
		const char *value = get_env(name);
		if (value != NULL && set_value(o, &rows[i], value, f) < 0) {
			return fault_wrap(f, "%s", name);
		}
	}
	return 0;
}

/* --flag value, --flag=value, --switch. */
static int read_flags(struct options *o, int argc, char **argv, bool config_only, struct fault *f)
{
	for (int i = 1; i < argc; i++) {
		const char *text = argv[i];
		if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
			o->help = true;
			continue;
		}
		if (strncmp(text, "--", 2) != 0) {
			return fault_set(f, FAULT_INVALID,
				"\"%.80s\" is not an option; options begin with --", text);
		}
		struct view rest = view_of(text + 2), flag = rest;
		(void)view_next(&rest, '=', &flag);
		const struct option_row *row = row_find(flag);
		if (row == NULL) {
			return fault_set(
				f, FAULT_INVALID, "there is no option %.80s; see --help", text);
		}
		const char *value = text + 2 + flag.n;
		if (*value == '=') {
			value++;
		} else if (row->type == OPTION_SWITCH) {
			value = "true";
		} else if (++i < argc) {
			value = argv[i];
		} else {
			return fault_set(f, FAULT_INVALID, "--%s needs a value", row->flag);
		}
		bool is_config = text_equals(row->flag, "config");
		if (is_config == config_only && set_value(o, row, value, f) < 0) {
			return fault_wrap(f, "flag");
		}
	}
	return 0;
}

int options_parse(int argc, char **argv, const char *(*get_env)(const char *),
	struct options *ret_options, struct fault *ret_fault)
{
	struct options o = {0};
	const char *(*env)(const char *) = get_env != NULL ? get_env : system_env;
	options_preset(&o);
	/* Where the file is must be known before it is read; what it says yields to the rest. */
	if (read_environment(&o, env, ret_fault) < 0 ||
		read_flags(&o, argc, argv, true, ret_fault) < 0 ||
		(!text_empty(o.config) && read_config_file(&o, o.config, ret_fault) < 0) ||
		read_environment(&o, env, ret_fault) < 0 ||
		read_flags(&o, argc, argv, false, ret_fault) < 0) {
		options_finish(&o);
		return -1;
	}
	*ret_options = o;
	return 0;
}

int options_parse_file(const char *text, size_t n, const char *name, struct options *ret_options,
	struct fault *ret_fault)
{
	struct options o = {0};
	options_preset(&o);
	if (read_document(&o, text, n, name, ret_fault) < 0) {
		options_finish(&o);
		return -1;
	}
	*ret_options = o;
	return 0;
}

void options_finish(struct options *o)
{
	arena_finish(&o->arena);
}

void options_write_help(struct str *out)
{
	char name[64];
	str_append_text(out, "usage: aliquot controller [--option=value ...]\n\n");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct option_row *r = &rows[i];
		env_name(r, name, sizeof name);
		str_append_format(out, "  --%s\n      %s\n", r->flag, r->help);
		if (r->choices != NULL) {
			str_append_format(out, "      one of: %s\n", r->choices);
		}
		if (r->type == OPTION_NUMBER) {
			str_append_format(out, "      a number from %lld to %lld\n",
				(long long)r->min, (long long)r->max);
		}
		str_append_format(
			out, "      default \"%s\"; environment %s\n", r->otherwise, name);
	}
	str_append_text(out, "\nA flag beats the environment, which beats the file of --config.\n");
}

/* "|Always|Never" as "empty, Always or Never". */
static void write_choices(struct str *out, const char *choices)
{
	struct view rest = view_of(choices), part, next;
	bool more = view_next(&rest, '|', &part);
	for (bool first = true; more; first = false, part = next) {
		more = view_next(&rest, '|', &next);
		str_append_text(out, first ? "" : more ? ", " : " or ");
		str_append(out, part.n > 0 ? part.p : "empty", part.n > 0 ? part.n : 5);
	}
}

void options_write_document(struct str *out)
{
	char name[64];
	str_append_text(out,
		"# Configuration of the controller\n\n"
		"Made by `aliquot docs configuration` from the table in `src/app/options.c`; a "
		"test compares.\n\n"
		"A flag beats the environment, which beats the YAML file of `--config`; of a flag "
		"given twice the last counts.\n"
		"YAML keys are the flags' names. A key that is not in the table, a key twice or a "
		"value out of range stops the start.\n\n"
		"| flag | environment | default | meaning |\n|---|---|---|---|\n");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct option_row *r = &rows[i];
		env_name(r, name, sizeof name);
		str_append_format(out, "| `--%s` | `%s` | %s%s%s | %s", r->flag, name,
			r->otherwise[0] != '\0' ? "`" : "",
			r->otherwise[0] != '\0' ? r->otherwise : "empty",
			r->otherwise[0] != '\0' ? "`" : "", r->help);
		if (r->type == OPTION_NUMBER) {
			str_append_format(
				out, " (%lld to %lld)", (long long)r->min, (long long)r->max);
		} else if (r->choices != NULL) {
			str_append_text(out, " (");
			write_choices(out, r->choices);
			str_append_text(out, ")");
		}
		str_append_text(out, " |\n");
	}
}

char *options_identity(const struct options *o)
{
	char host[128] = "aliquot";
	char name[192];
	if (!text_empty(o->identity)) {
		return xstrdup(o->identity);
	}
	if (gethostname(host, sizeof host - 1) < 0) {
		memcpy(host, "aliquot", sizeof "aliquot");
	}
	snprintf(name, sizeof name, "%.127s_%08llx", host,
		(unsigned long long)(rng_system_seed() & 0xffffffff));
	return xstrdup(name);
}
