/* What may be asked, as a table. */
#include "mps/question.h"

#include "mps/reply.h"

static const struct {
	const char *word;
	uint32_t least, most; /* numbers */
} questions[] = {
	[MPS_ASK_SERVERS] = {"get_server_list", 0, 0},
	[MPS_ASK_STATUS] = {"get_server_status", 1, 1},
	[MPS_ASK_CLIENTS] = {"get_client_list", 1, 1},
	[MPS_ASK_END] = {"terminate_client", 2, 2},
	[MPS_ASK_LIMITS] = {"client_limits", 1, MPS_RELAY_NUMBERS_MAX},
};

static int question_unknown(struct view line, struct fault *ret_fault)
{
	char quote[MPS_QUOTE_MAX + 1];
	return fault_set(
		ret_fault, FAULT_INVALID, "\"%s\" is no question of ours", mps_quote(line, quote));
}

int mps_question_parse(struct view line, struct mps_question *ret_question, struct fault *ret_fault)
{
	struct mps_question q = {.kind = MPS_ASK_SERVERS};
	struct view rest = line, word, number;
	if (!view_next(&rest, ' ', &word)) {
		return question_unknown(line, ret_fault);
	}
	while (q.kind < COUNT_OF(questions) && !view_equals(word, questions[q.kind].word)) {
		q.kind++;
	}
	if (q.kind == COUNT_OF(questions)) {
		return question_unknown(line, ret_fault);
	}
	while (rest.n > 0 && view_next(&rest, ' ', &number)) {
		int64_t pid;
		if (q.count == questions[q.kind].most ||
			!parse_i64(number, 1, MPS_PID_LARGEST, &pid)) {
			return question_unknown(line, ret_fault);
		}
		q.numbers[q.count++] = (int32_t)pid;
	}
	if (q.count < questions[q.kind].least) {
		return question_unknown(line, ret_fault);
	}
	*ret_question = q;
	return 0;
}

void mps_question_write(const struct mps_question *question, struct str *text)
{
	(void)str_append_text(text, questions[question->kind].word);
	for (uint32_t i = 0; i < question->count; i++) {
		(void)str_append_format(text, " %d", question->numbers[i]);
	}
}
