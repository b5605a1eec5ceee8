/* The command lines of what runs on a node: what means nothing is refused before anything begins.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/agent.h"
#include "agent/agent_main.h"
#include "agent/relay_main.h"
#include "base/cleanup.h"

#define WORDS_MAX 6

static int run(int (*command)(int argc, char **argv), const char *const words[WORDS_MAX])
{
	char text[WORDS_MAX][128] = {{0}};
	char *argv[WORDS_MAX + 1] = {NULL};
	int argc = 0;
	while (argc < WORDS_MAX && words[argc] != NULL) {
		(void)snprintf(text[argc], sizeof text[argc], "%s", words[argc]);
		argv[argc] = text[argc];
		argc++;
	}
	return command(argc, argv);
}

Test(relay_main, what_it_cannot_mean)
{
	static const char *const rows[][WORDS_MAX] = {
		{"relay"},
		{"relay", "--listen=/tmp/a"},
		{"relay", "--to=/tmp/a"},
		{"relay", "--listen=/tmp/a", "--to="},
		{"relay", "--listen=/tmp/a", "--to=/tmp/b", "more"},
		{"relay", "--nonsense"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(run(relay_main, rows[i]), 2, "row %zu", i);
	}
	cr_expect_eq(run(relay_main, (const char *const[WORDS_MAX]){"relay", "--help"}), 0);
	cr_expect_eq(run(relay_main, (const char *const[WORDS_MAX]){"relay",
					     "--listen=/nonexistent/a", "--to=/tmp/b"}),
		1);
}

Test(agent_main, what_it_cannot_mean)
{
	static const char *const rows[][WORDS_MAX] = {
		{"agent", "--node-name="},
		{"agent", "--node-name=n", "--interval-seconds=0"},
		{"agent", "--node-name=n", "--interval-seconds=301"},
		{"agent", "--node-name=n", "--log-level=loud"},
		{"agent", "--node-name=n", "--nonsense"},
		{"agent", "--node-name=n", "more"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(run(agent_main, rows[i]), 2, "row %zu", i);
	}
	cr_expect_eq(run(agent_main, (const char *const[WORDS_MAX]){"agent", "--help"}), 0);
	/* Before it asks anybody for anything. */
	cr_expect_eq(run(agent_main, (const char *const[WORDS_MAX]){"agent", "--node-name=n",
					     "--listen=nowhere"}),
		1);
}
