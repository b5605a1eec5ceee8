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
	const char *config;
	const char *kubeconfig;
	const char *context;
	const char *webhook_listen;
	const char *webhook_names;     /* comma separated */
	const char *webhook_client_ca; /* a file */
	const char *metrics_listen;
	const char *log_level;
	const char *image;
	const char *image_pull_policy;
	const char *identity;
	const char *runtime_class;   /* auto, none or a name */
	const char *injection;	     /* rules of model/injection.h */
	const char *schedulers;	     /* comma separated */
	const char *journal;	     /* directory */
	const char *zoneinfo;	     /* directory */
	const char *agent_identity;  /* auto or node */
	const char *agent_namespace; /* one of the two that may be theirs */
	const char *usage_exporter;
	const char *usage_prometheus; /* a URL */
	const char *usage_prometheus_matcher;
	const char *usage_prometheus_ca;    /* a file */
	const char *usage_prometheus_token; /* a file */
	const char *usage_gauges;	    /* off, pods or prometheus */
	const char *gpu_prices;		    /* as model/price.h says */
	const char *gpu_price_label, *currency, *team_label, *model_label;
	int64_t idle_grace_s;
	int64_t linger_s;
	int64_t open_timeout_s;
	int64_t evictions_per_minute;
	int64_t reacquire_s;
	int64_t patience_s;
	int64_t recycle_s;
	int64_t preempt_s;
	int64_t scale_up_s, serve_s;
	int64_t context_memory_mib;
	int64_t warm_gpus;
	int64_t journal_files;
	int64_t journal_memory_mib;
	int64_t usage_s;
	int64_t rightsizing_s;
	int64_t checkpoint_s;
	bool usage_agents;
	bool debug;
	bool never_lead;
	bool mps_unlabelled;
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

/* By which it is told from others that run: as configured, or the host's name and a random number.
 * Owned by the caller. */
char *options_identity(const struct options *o);

#endif
