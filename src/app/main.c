/* Where the process begins: a table of commands. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "agent/agent_main.h"
#include "agent/relay_main.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/str.h"
#include "controller.h"
#include "json/decode.h"
#include "node/capacity_main.h"
#include "node/probe_main.h"
#include "options.h"
#include "replay.h"
#include "status_command.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help; /* NULL: the program's own, for nobody to type */
};

static int version_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("aliquot " ALIQUOT_VERSION);
	return 0;
}

static int docs_main(int argc, char **argv)
{
	CLEANUP(str_finish) struct str text = STR_INIT(256 * 1024);
	if (argc != 2 || strcmp(argv[1], "configuration") != 0) {
		fputs("usage: aliquot docs configuration\n", stderr);
		return 2;
	}
	options_write_document(&text);
	fputs(str_text(&text), stdout);
	return 0;
}

static const struct command commands[] = {
	{"controller", controller_main,
		"places tenants, serves the admission webhook; runs as a Deployment"},
	{"capacity", capacity_main, "holds one GPU; runs in capacity pods (identify, hold)"},
	{"agent", agent_main, "meters the GPUs of a node by pod; runs as a DaemonSet"},
	{"relay", relay_main, "passes bytes to the kubelet's socket; runs beside the agent"},
	{"status", status_main,
		"tells the state at a glance, and why pods wait or were left whole"},
	{"replay", replay_main, "decides again what a journal recorded, and compares"},
	{"agent-probe", agent_probe_main, NULL},
	{"docs", docs_main, "writes reference documents (configuration)"},
	{"version", version_main, "says which version this is"},
};

static void print_usage(FILE *to)
{
	fputs("usage: aliquot COMMAND [options]\n\n", to);
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (commands[i].help != NULL) {
			fprintf(to, "  %-12s %s\n", commands[i].name, commands[i].help);
		}
	}
	fputs("\naliquot COMMAND --help tells the options of a command.\n", to);
}

/* Keys and tokens are in our memory: a crash leaves none of it in a file, and another process of
 * our user, a debugging container among them, can read neither it nor our environment. What the
 * sanitizer looks for at the end it looks for as a debugger does. */
static void keep_to_ourselves(void)
{
	static const struct rlimit no_core = {0, 0};
	(void)setrlimit(RLIMIT_CORE, &no_core);
#ifndef ALIQUOT_SANITIZED
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

int main(int argc, char **argv)
{
	keep_to_ourselves();
	decode_setup();
	map_key_draw(rng_system_seed(), rng_system_seed());
	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return 0;
	}
	const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (strcmp(name, commands[i].name) == 0) {
			return commands[i].run(argc - 1, argv + 1);
		}
	}
	fprintf(stderr, "aliquot: there is no command \"%.60s\"\n\n", argv[1]);
	print_usage(stderr);
	return 2;
}
