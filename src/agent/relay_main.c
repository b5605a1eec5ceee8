/* `aliquot relay`: the way to a socket of this machine for who may not go there itself. */
#include "agent/relay_main.h"

#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/str.h"
#include "kubelet_relay.h"

#define EXIT_USAGE 2

static const char usage[] =
	"usage: aliquot relay --listen=FILE --to=FILE\n"
	"\n"
	"  passes bytes from one socket of this machine to another; runs beside the agent, so "
	"that\n"
	"  only this small process is root, as the kubelet's socket wants it\n"
	"\n"
	"      --listen=FILE           the socket that it makes, for its user and its group\n"
	"      --to=FILE               the socket that is there, or will be\n"
	"  -h, --help                  this text\n";

enum { OPTION_LISTEN = 256, OPTION_TO };

static const struct option long_options[] = {
	{"listen", required_argument, NULL, OPTION_LISTEN},
	{"to", required_argument, NULL, OPTION_TO},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void relay_on_signal(void *data, int signo)
{
	if (signo != SIGHUP) {
		loop_stop(data);
	}
}

static int relay_run(const char *listen, const char *to)
{
	struct fault f = {0};
	struct loop *loop = loop_create();
	log_setup(LOG_INFO, STDERR_FILENO);
	struct relay *r =
		relay_create(&(struct relay_config){.loop = loop, .listen = listen, .to = to}, &f);
	if (r == NULL) {
		log_error("cannot start", LOG_F(&f));
		loop_destroy(loop);
		return 1;
	}
	loop_on_signal(loop, SIGTERM, relay_on_signal, loop);
	loop_on_signal(loop, SIGINT, relay_on_signal, loop);
	loop_on_signal(loop, SIGHUP, relay_on_signal, loop);
	log_info("relaying", LOG_S("listen", listen), LOG_S("to", to));
	loop_run(loop);
	relay_destroy(r);
	loop_destroy(loop);
	return 0;
}

int relay_main(int argc, char **argv)
{
	const char *listen = NULL, *to = NULL;
	int option;
	optind = 0; /* getopt starts anew, whoever used it before */
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (option == 'h') {
			(void)fputs(usage, stdout);
			return 0;
		}
		if (option == OPTION_LISTEN) {
			listen = optarg;
		} else if (option == OPTION_TO) {
			to = optarg;
		} else {
			(void)fputs("try `aliquot relay --help`\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (text_empty(listen) || text_empty(to) || optind < argc) {
		(void)fputs("aliquot relay: wants --listen=FILE and --to=FILE and nothing else\n"
			    "try `aliquot relay --help`\n",
			stderr);
		return EXIT_USAGE;
	}
	return relay_run(listen, to);
}
