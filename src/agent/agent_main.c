/* The command line of `aliquot agent`. */
#include "agent/agent_main.h"

#include <getopt.h>

#include "agent/agent.h"
#include "base/str.h"

#define EXIT_USAGE 2

static const char usage[] =
	"usage: aliquot agent [OPTION...]\n"
	"\n"
	"  meters the GPUs of one node, by pod; runs as a DaemonSet\n"
	"\n"
	"      --node-name=NAME        the Node that it runs on ($NODE_NAME)\n"
	"      --pod-uid=UID           its own pod, which must be among the cgroups ($POD_UID)\n"
	"      --listen=ADDRESS        /metrics, /health and /readyz, plain (:9400)\n"
	"      --state-listen=ADDRESS  /v1/state for the controller, TLS (:10251)\n"
	"      --own-key               asks for a certificate of its own for /v1/state\n"
	"      --tls-dir=DIRECTORY     has tls.crt and tls.key, instead; with neither there is\n"
	"                              no /v1/state\n"
	"      --interval-seconds=N    how often the devices are looked at (15)\n"
	"      --nvml-library=FILE     the driver's library (libnvidia-ml.so.1)\n"
	"      --proc-root=DIRECTORY   the host's processes (/proc)\n"
	"      --cgroup-root=DIRECTORY the host's cgroups (/sys/fs/cgroup)\n"
	"      --mps-root=DIRECTORY    steers the MPS daemons whose directories are there\n"
	"      --kubelet-socket=FILE   asks the kubelet which pod has which GPU (off)\n"
	"      --gpu-resources=NAMES   whose devices those are, with commas between them\n"
	"                              (nvidia.com/gpu,nvidia.com/gpu.shared)\n"
	"      --kubeconfig=FILE       empty: $KUBECONFIG, the pod's own account, ~/.kube/config\n"
	"      --context=NAME          in the kubeconfig; empty: its current-context\n"
	"      --small-hostname        the label is hostname, as in dcgm-exporter after 4.5.3\n"
	"      --pod-uid-label         one label more on the lines of pods: pod_uid\n"
	"      --log-level=LEVEL       debug, info, warn or error (info)\n"
	"  -h, --help                  this text\n";

static int agent_usage_fault(const char *what, const char *value)
{
	(void)fprintf(stderr, "aliquot agent: %s %s\ntry `aliquot agent --help`\n", what, value);
	return EXIT_USAGE;
}

/* From OPTION_TEXT on an option is a text, and its number says which of the options it is. */
enum {
	OPTION_OWN_KEY = 256,
	OPTION_INTERVAL,
	OPTION_SMALL,
	OPTION_UID_LABEL,
	OPTION_LEVEL,
	OPTION_TEXT
};
#define TEXT(member) OPTION_TEXT + (int)offsetof(struct agent_options, member)

static const struct option long_options[] = {
	{"node-name", required_argument, NULL, TEXT(node)},
	{"pod-uid", required_argument, NULL, TEXT(pod_uid)},
	{"listen", required_argument, NULL, TEXT(listen)},
	{"state-listen", required_argument, NULL, TEXT(state_listen)},
	{"tls-dir", required_argument, NULL, TEXT(tls_dir)},
	{"own-key", no_argument, NULL, OPTION_OWN_KEY},
	{"interval-seconds", required_argument, NULL, OPTION_INTERVAL},
	{"nvml-library", required_argument, NULL, TEXT(nvml_library)},
	{"proc-root", required_argument, NULL, TEXT(proc_root)},
	{"cgroup-root", required_argument, NULL, TEXT(cgroup_root)},
	{"mps-root", required_argument, NULL, TEXT(mps_root)},
	{"kubelet-socket", required_argument, NULL, TEXT(kubelet_socket)},
	{"gpu-resources", required_argument, NULL, TEXT(gpu_resources)},
	{"kubeconfig", required_argument, NULL, TEXT(kubeconfig)},
	{"context", required_argument, NULL, TEXT(context)},
	{"small-hostname", no_argument, NULL, OPTION_SMALL},
	{"pod-uid-label", no_argument, NULL, OPTION_UID_LABEL},
	{"log-level", required_argument, NULL, OPTION_LEVEL},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Returns -1 to go on, or an exit status. */
static int agent_option(struct agent_options *o, int option)
{
	int64_t seconds;
	if (option >= OPTION_TEXT) {
		*(const char **)(void *)((char *)o + (option - OPTION_TEXT)) = optarg;
		return -1;
	}
	switch (option) {
	case OPTION_INTERVAL:
		if (!parse_i64(view_of(optarg), 1, 300, &seconds)) {
			return agent_usage_fault("--interval-seconds wants 1 to 300, not", optarg);
		}
		o->interval_ms = seconds * 1000;
		return -1;
	case OPTION_OWN_KEY:
		o->own_key = true;
		return -1;
	case OPTION_SMALL:
		o->small_hostname = true;
		return -1;
	case OPTION_UID_LABEL:
		o->pod_uid_label = true;
		return -1;
	case OPTION_LEVEL:
		return log_level_parse(optarg, &o->log_level)
			       ? -1
			       : agent_usage_fault(
					 "--log-level wants debug, info, warn or error, not",
					 optarg);
	case 'h':
		(void)fputs(usage, stdout);
		return 0;
	default:
		/* getopt_long has said what was wrong. */
		(void)fputs("try `aliquot agent --help`\n", stderr);
		return EXIT_USAGE;
	}
}

int agent_main(int argc, char **argv)
{
	struct agent_options options;
	agent_options_init(&options);
	optind = 0; /* getopt starts anew, whoever used it before */
	for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
		int status = agent_option(&options, option);
		if (status >= 0) {
			return status;
		}
	}
	if (optind < argc) {
		return agent_usage_fault("has no use for", argv[optind]);
	}
	if (text_empty(options.node)) {
		return agent_usage_fault("wants", "--node-name=NAME or $NODE_NAME");
	}
	options.own_key = options.own_key && text_empty(options.tls_dir);
	options.pod_uid = text_empty(options.pod_uid) ? NULL : options.pod_uid;
	return agent_run(&options);
}
