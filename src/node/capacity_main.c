/* The command line of `aliquot capacity`. */
#include "node/capacity_main.h"

#include <getopt.h>

#include "base/str.h"
#include "node/capacity.h"

#define EXIT_FAULT 1
#define EXIT_USAGE 2
#define WAIT_MAX_S 3600

static const char usage[] =
	"usage: aliquot capacity identify|hold|ready|probe|pause --identity-file=FILE [OPTION...]\n"
	"\n"
	"  identify   finds the one GPU of this container and writes down which it is\n"
	"  hold       wants to see the same GPU and holds it until SIGTERM\n"
	"  ready      tells by its status whether the MPS daemon of hold is healthy\n"
	"  probe      tells which GPUs are visible in this container; wants no file\n"
	"  pause      does nothing until SIGTERM; wants no file\n"
	"\n"
	"      --identity-file=FILE    carries the identity from identify to hold\n"
	"      --told-dir=DIR          says whether tenants are there, for whom hold outlives "
	"SIGTERM (none)\n"
	"      --termination-log=FILE  where the kubelet looks for the last word "
	"(/dev/termination-log)\n"
	"      --nvml-library=FILE     the driver's library (libnvidia-ml.so.1)\n"
	"      --wait-seconds=N        how long the driver may take to appear (20; probe: 0)\n"
	"      --check-seconds=N       how often hold looks at the GPU (30)\n"
	"      --mps                   the GPU is shared under MPS: hold keeps its daemon and "
	"needs root\n"
	"      --mps-root=DIR          where its directories are (/run/aliquot/mps)\n"
	"      --mps-control=PROGRAM   what starts and asks it (nvidia-cuda-mps-control)\n"
	"      --mps-sweep=DIR         shared memory of all tenants under MPS, emptied by the last "
	"hold\n"
	"                              of the node (none)\n"
	"  -h, --help                  this text\n";

static int capacity_usage_fault(const char *format, const char *what)
{
	(void)fprintf(
		stderr, "aliquot capacity: %s %s\ntry `aliquot capacity --help`\n", format, what);
	return EXIT_USAGE;
}

static bool parse_seconds(const char *text, int64_t least_s, int64_t *ret_ms)
{
	int64_t seconds;
	if (!parse_i64(view_of(text), least_s, WAIT_MAX_S, &seconds)) {
		return false;
	}
	*ret_ms = seconds * 1000;
	return true;
}

/* From OPTION_TEXT on an option is a text, and its number says which of the options it is. */
enum { OPTION_WAIT = 256, OPTION_CHECK, OPTION_MPS, OPTION_TEXT };
#define TEXT(member) OPTION_TEXT + (int)offsetof(struct capacity_options, member)

static const struct option long_options[] = {
	{"identity-file", required_argument, NULL, TEXT(identity_file)},
	{"told-dir", required_argument, NULL, TEXT(told_dir)},
	{"termination-log", required_argument, NULL, TEXT(termination_log)},
	{"nvml-library", required_argument, NULL, TEXT(nvml_library)},
	{"wait-seconds", required_argument, NULL, OPTION_WAIT},
	{"check-seconds", required_argument, NULL, OPTION_CHECK},
	{"mps", no_argument, NULL, OPTION_MPS},
	{"mps-root", required_argument, NULL, TEXT(mps_root)},
	{"mps-control", required_argument, NULL, TEXT(mps_control)},
	{"mps-sweep", required_argument, NULL, TEXT(mps_sweep)},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Returns -1 to go on, or an exit status. */
static int capacity_option(struct capacity_options *o, int option)
{
	if (option >= OPTION_TEXT) {
		*(const char **)(void *)((char *)o + (option - OPTION_TEXT)) = optarg;
		return -1;
	}
	switch (option) {
	case OPTION_WAIT:
		return parse_seconds(optarg, 0, &o->wait_ms)
			       ? -1
			       : capacity_usage_fault(
					 "--wait-seconds wants 0 to 3600, not", optarg);
	case OPTION_CHECK:
		return parse_seconds(optarg, 1, &o->check_ms)
			       ? -1
			       : capacity_usage_fault(
					 "--check-seconds wants 1 to 3600, not", optarg);
	case OPTION_MPS:
		o->mps = true;
		return -1;
	case 'h':
		(void)fputs(usage, stdout);
		return 0;
	default:
		/* getopt_long has said what was wrong. */
		(void)fputs("try `aliquot capacity --help`\n", stderr);
		return EXIT_USAGE;
	}
}

static const struct action {
	const char *verb;
	int (*run)(const struct capacity_options *options, struct fault *ret_fault);
} actions[] = {
	{"identify", capacity_identify},
	{"hold", capacity_hold},
	{"ready", capacity_ready},
};

int capacity_main(int argc, char **argv)
{
	struct capacity_options options;
	capacity_options_init(&options);
	optind = 0; /* getopt starts anew, whoever used it before */
	for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
		int status = capacity_option(&options, option);
		if (status >= 0) {
			return status;
		}
	}
	const char *verb = optind < argc ? argv[optind] : "";
	if (text_equals(verb, "pause") && optind + 1 == argc) {
		capacity_pause();
		return 0;
	}
	if (text_equals(verb, "probe") && optind + 1 == argc) {
		bool waits = options.wait_ms != CAPACITY_WAIT_MS;
		options.wait_ms = waits ? options.wait_ms : CAPACITY_PROBE_MS;
		return capacity_probe(&options, NULL) == 0 ? 0 : EXIT_FAULT;
	}
	const struct action *action = NULL;
	for (size_t i = 0; i < COUNT_OF(actions); i++) {
		action = text_equals(verb, actions[i].verb) ? &actions[i] : action;
	}
	if (action == NULL) {
		return capacity_usage_fault("wants identify, hold, ready, probe or pause, not",
			*verb != '\0' ? verb : "nothing");
	}
	if (optind + 1 < argc) {
		return capacity_usage_fault("has no use for", argv[optind + 1]);
	}
	if (text_empty(options.identity_file)) {
		return capacity_usage_fault("wants", "--identity-file=FILE");
	}
	return action->run(&options, NULL) == 0 ? 0 : EXIT_FAULT;
}
