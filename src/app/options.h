/* The configuration of the controller: one table yields the flags, the environment, the YAML file,
 * --help, the checks and docs/configuration.md. Precedence: flag, then environment, then file, then
 * default. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/str.h"

struct options {
	struct arena arena; /* of every text */
	/* What each is, and how it is written, its row in the table says. */
	const char *config, *kubeconfig, *context;
	const char *webhook_listen, *webhook_names, *webhook_client_ca, *metrics_listen;
	const char *log_level, *identity;
	const char *image, *image_pull_policy, *runtime_class, *injection, *schedulers;
	const char *journal, *zoneinfo;
	const char *agent_identity, *agent_namespace;
	const char *usage_exporter, *usage_gauges;
	const char *usage_prometheus, *usage_prometheus_matcher;
	const char *usage_prometheus_ca, *usage_prometheus_token;
	const char *gpu_prices, *gpu_price_label, *currency, *team_label, *model_label;
	int64_t idle_grace_s, linger_s, open_timeout_s, reacquire_s, patience_s, recycle_s;
	int64_t preempt_s, scale_up_s, serve_s, usage_s, rightsizing_s, checkpoint_s;
	int64_t evictions_per_minute, context_memory_mib, warm_gpus;
	int64_t journal_files, journal_memory_mib;
	bool usage_agents, debug, never_lead, mps_unlabelled;
	bool help; /* a flag only */
};

/* `get_env` NULL: the process's. FAULT_INVALID says which option, where it came from, what is wrong
 * and what to write. */
MUST_CHECK int options_parse(int argc, char **argv, const char *(*get_env)(const char *),
	struct options *ret_options, struct fault *ret_fault);
void options_finish(struct options *o);
/* The file alone, for the fuzzer and for `validate`. */
MUST_CHECK int options_parse_file(const char *text, size_t n, const char *name,
	struct options *ret_options, struct fault *ret_fault);

void options_write_help(struct str *out);
void options_write_document(struct str *out); /* Markdown */

/* The name by which a process is told from others that run: as configured, or the host's name and a
 * random number. Owned by the caller. */
char *options_identity(const struct options *o);

#endif
