/* Replies of the MPS control program and questions of agents: numbers in their range, lists without
 * doubles that read back as they are written, and quotes of printable characters only. */
#include <stdint.h>

#include "base/alloc.h"
#include "mps/question.h"
#include "mps/relay.h"
#include "mps/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pids(struct view v)
{
	struct mps_pids pids, again;
	CLEANUP(str_finish) struct str text = STR_INIT(MPS_REPLY_BYTES_MAX);
	if (mps_reply_pids(v, &pids, NULL) != 0) {
		return;
	}
	ENSURE(pids.count <= MPS_PIDS_MAX);
	for (uint32_t i = 0; i < pids.count; i++) {
		ENSURE(pids.items[i] > 0 && pids.items[i] <= MPS_PID_LARGEST);
		for (uint32_t j = 0; j < i; j++) {
			ENSURE(pids.items[i] != pids.items[j]);
		}
		(void)str_append_format(&text, "%d\n", pids.items[i]);
	}
	ENSURE(mps_reply_pids((struct view){str_text(&text), text.len}, &again, NULL) == 0);
	ENSURE(again.count == pids.count);
	ENSURE(memcmp(again.items, pids.items, pids.count * sizeof *pids.items) == 0);
}

static void check_quote(struct view v)
{
	char buffer[MPS_QUOTE_MAX + 1];
	const char *quote = mps_quote(v, buffer);
	ENSURE(strlen(quote) <= MPS_QUOTE_MAX);
	for (; *quote != '\0'; quote++) {
		ENSURE(*quote >= ' ' && *quote <= '~');
	}
}

/* What is taken has no byte in it that we did not write. */
static void check_question(struct view v)
{
	CLEANUP(str_finish) struct str text = STR_INIT(MPS_RELAY_LINE_MAX);
	struct mps_question q, again;
	if (mps_question_parse(v, &q, NULL) != 0) {
		return;
	}
	ENSURE(q.count <= MPS_RELAY_NUMBERS_MAX);
	mps_question_write(&q, &text);
	ENSURE(strchr(str_text(&text), '\n') == NULL);
	ENSURE(mps_question_parse((struct view){text.p, text.len}, &again, NULL) == 0);
	ENSURE(again.kind == q.kind && again.count == q.count);
	ENSURE(memcmp(again.numbers, q.numbers, q.count * sizeof *q.numbers) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view v = {(const char *)data, size};
	enum mps_server_state state;
	int64_t milli;
	struct fault fault;

	if (mps_reply_percentage(v, &milli, &fault) == 0) {
		ENSURE(milli >= 0 && milli <= 100000);
	}
	if (mps_reply_server_state(v, &state, &fault) == 0) {
		ENSURE(state <= MPS_SERVER_FAULT && size >= 5);
	}
	if (mps_reply_done(v, &fault) == 0) {
		ENSURE(memchr(data, '0', size) != NULL);
	}
	if (mps_log_tells_failure(v)) {
		ENSURE(memmem(data, size, " exited with status ", 20) != NULL);
	}
	check_pids(v);
	check_quote(v);
	check_question(v);
	return 0;
}
