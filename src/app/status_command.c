/* What a person asks, and what the shell is told. */
#include "status_command.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "io/loop.h"
#include "kube/path.h"
#include "link/link.h"
#include "report/json.h"
#include "report/text.h"
#include "lookup/survey.h"

#define EXIT_FAILED  1
#define EXIT_USAGE   2
#define SECONDS_MAX  600
#define SECONDS_MOST 60

static const char usage[] =
	"usage: aliquot status [OPTION...]\n"
	"\n"
	"  the state at a glance: who leads, the GPUs, the workloads, which pods wait or were "
	"left\n"
	"  whole and why, whose owners are not recognized. It reads, and writes nothing; what may\n"
	"  not be read is said\n"
	"\n"
	"  -n, --namespace=NAME    workloads and pods of this namespace alone\n"
	"  -o, --output=FORMAT     text or json (text)\n"
	"      --kubeconfig=FILE   empty: $KUBECONFIG, the pod's own account, ~/.kube/config\n"
	"      --context=NAME      in the kubeconfig; empty: its current-context\n"
	"      --timeout=SECONDS   then what was read so far is shown (60)\n"
	"  -h, --help              this text\n"
	"\n"
	"Exit status: 0 told, 1 nobody answers, or nothing may be read, 2 this is not how it is "
	"asked.\n";

struct status {
	const char *kubeconfig, *context, *only;
	int64_t seconds;
	bool json;
	struct loop *loop; /* owned, as all of these */
	struct link *link;
	struct report *report;
	struct survey *survey;
	struct loop_timer timer;
};

static int status_usage_fault(const char *what, const char *value)
{
	(void)fprintf(stderr, "aliquot status: %s %s\ntry `aliquot status --help`\n", what, value);
	return EXIT_USAGE;
}

static const struct option long_options[] = {
	{"namespace", required_argument, NULL, 'n'},
	{"output", required_argument, NULL, 'o'},
	{"kubeconfig", required_argument, NULL, 'k'},
	{"context", required_argument, NULL, 'c'},
	{"timeout", required_argument, NULL, 't'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Returns -1 to go on, or an exit status. */
static int take_status_option(struct status *s, int option)
{
	const char *wrong = NULL;
	switch (option) {
	case 'n':
		s->only = optarg;
		wrong = kube_is_label(optarg) ? NULL
					      : "--namespace wants a namespace's name, up to 63 of "
						"a-z, 0-9 and -, not";
		break;
	case 'o':
		s->json = text_equals(optarg, "json");
		wrong = s->json || text_equals(optarg, "text") ? NULL
							       : "--output wants text or json, not";
		break;
	case 'k':
		s->kubeconfig = optarg;
		break;
	case 'c':
		s->context = optarg;
		break;
	case 't':
		wrong = parse_i64(view_of(optarg), 1, SECONDS_MAX, &s->seconds)
				? NULL
				: "--timeout wants 1 to 600, not";
		break;
	case 'h':
		(void)fputs(usage, stdout);
		return 0;
	default:
		/* getopt_long has said what was wrong. */
		(void)fputs("try `aliquot status --help`\n", stderr);
		return EXIT_USAGE;
	}
	return wrong == NULL ? -1 : status_usage_fault(wrong, optarg);
}

static void on_status_turn(void *data)
{
	struct status *s = data;
	int64_t now = loop_now_ms();
	link_step(s->link, now);
	survey_step(s->survey, now);
	if (survey_end(s->survey) != SURVEY_GOES_ON) {
		loop_stop(s->loop);
	}
	loop_wake_at(s->loop, time_min(survey_deadline(s->survey), link_deadline(s->link)));
}

static void on_status_timeout(void *data)
{
	struct status *s = data;
	survey_give_up(s->survey);
}

static int print_status(const struct status *s)
{
	CLEANUP(str_finish)
	struct str text = STR_INIT(s->json ? REPORT_JSON_BYTES : REPORT_TEXT_BYTES);
	enum survey_end end = survey_end(s->survey);
	if (end == SURVEY_UNREACHED) {
		(void)fprintf(stderr, "aliquot status: cannot reach %s: %s\n", link_server(s->link),
			survey_fault(s->survey)->message);
		return EXIT_FAILED;
	}
	if (end == SURVEY_REFUSED) {
		(void)fprintf(stderr,
			"aliquot status: %s lets this account read nothing that is to be shown\n",
			link_server(s->link));
		return EXIT_FAILED;
	}
	(s->json ? report_write_json : report_write_text)(
		s->report, clock_wall(&clock_system), &text);
	if (text.overflow && s->json) {
		(void)fputs(
			"aliquot status: it is too much for JSON; ask for one namespace\n", stderr);
		return EXIT_FAILED;
	}
	if (fwrite(str_text(&text), 1, text.len, stdout) != text.len || fflush(stdout) != 0) {
		(void)fputs("aliquot status: standard output cannot be written\n", stderr);
		return EXIT_FAILED;
	}
	return 0;
}

static int status_run(struct status *s)
{
	struct fault f = {0};
	s->loop = loop_create();
	s->link = link_create(&(struct link_config){.loop = s->loop,
				      .clock = &clock_system,
				      .kubeconfig = s->kubeconfig,
				      .context = s->context,
				      .user_agent = "aliquot-status/" ALIQUOT_VERSION},
		&f);
	if (s->link == NULL) {
		(void)fprintf(stderr, "aliquot status: %s\n", f.message);
		return EXIT_FAILED;
	}
	s->report = report_create();
	s->survey = survey_create(&(struct survey_config){.kube = link_kube(s->link),
		.report = s->report,
		.only = s->only,
		.own = link_namespace(s->link)});
	loop_timer_init(&s->timer, s->loop, on_status_timeout, s);
	loop_timer_start_ms(&s->timer, s->seconds * 1000);
	loop_on_turn(s->loop, on_status_turn, s);
	loop_run(s->loop);
	loop_off_turn(s->loop, on_status_turn, s);
	loop_timer_stop(&s->timer);
	return print_status(s);
}

int status_main(int argc, char **argv)
{
	struct status s = {.seconds = SECONDS_MOST};
	optind = 0; /* getopt starts anew, whoever used it before */
	for (int option; (option = getopt_long(argc, argv, "n:o:h", long_options, NULL)) != -1;) {
		int status = take_status_option(&s, option);
		if (status >= 0) {
			return status;
		}
	}
	if (optind < argc) {
		return status_usage_fault("has no use for", argv[optind]);
	}
	log_setup(LOG_ERROR, STDERR_FILENO);
	int status = status_run(&s);
	survey_destroy(s.survey);
	report_destroy(s.report);
	link_destroy(s.link);
	loop_destroy(s.loop);
	return status;
}
