/* Replies are a number, a word or a list of numbers; anything else is quoted in a fault. */
#include "mps/reply.h"

const char *mps_quote(struct view text, char buffer[MPS_QUOTE_MAX + 1])
{
	struct view rest = view_trim(text), line;
	size_t n = 0;

	if (view_next(&rest, '\n', &line)) {
		for (; n < line.n && n < MPS_QUOTE_MAX; n++) {
			buffer[n] = line.p[n] >= ' ' && line.p[n] <= '~' ? line.p[n] : '?';
		}
	}
	buffer[n] = '\0';
	return buffer;
}

static int reply_unexpected(struct fault *ret_fault, const char *wanted, struct view reply)
{
	char quote[MPS_QUOTE_MAX + 1];
	return fault_set(ret_fault, FAULT_INVALID, "the MPS daemon was to tell %s, but said \"%s\"",
		wanted, mps_quote(reply, quote));
}

int mps_reply_percentage(struct view reply, int64_t *ret_milli_percent, struct fault *ret_fault)
{
	struct view rest = view_trim(reply), whole, fraction = {0};
	int64_t percent = 0, milli = 0;
	static const int64_t scale[] = {0, 100, 10, 1};

	bool good = view_next(&rest, '.', &whole) && parse_i64(whole, 0, 100, &percent);
	if (good && whole.n < view_trim(reply).n) {
		fraction = rest;
		good = fraction.n >= 1 && fraction.n <= 3 && fraction.p[0] != '-' &&
		       parse_i64(fraction, 0, 999, &milli);
	}
	int64_t sum = percent * 1000 + milli * scale[good ? fraction.n : 0];
	if (!good || sum > 100000) {
		return reply_unexpected(ret_fault, "a percentage", reply);
	}
	*ret_milli_percent = sum;
	return 0;
}

bool mps_pids_contain(const struct mps_pids *pids, int64_t pid)
{
	for (uint32_t i = 0; i < pids->count; i++) {
		if (pids->items[i] == pid) {
			return true;
		}
	}
	return false;
}

int mps_reply_pids(struct view reply, struct mps_pids *ret_pids, struct fault *ret_fault)
{
	struct mps_pids pids = {.count = 0};
	struct view rest = view_trim(reply), line;

	while (rest.n > 0 && view_next(&rest, '\n', &line)) {
		int64_t pid;
		if (!parse_i64(view_trim(line), 1, MPS_PID_LARGEST, &pid)) {
			return reply_unexpected(ret_fault, "a PID a line", line);
		}
		if (mps_pids_contain(&pids, pid)) {
			continue;
		}
		if (pids.count == MPS_PIDS_MAX) {
			return fault_set(ret_fault, FAULT_LIMIT,
				"the MPS daemon lists more than %d processes", MPS_PIDS_MAX);
		}
		pids.items[pids.count++] = (int32_t)pid;
	}
	*ret_pids = pids;
	return 0;
}

int mps_reply_server_state(
	struct view reply, enum mps_server_state *ret_state, struct fault *ret_fault)
{
	static const char *const words[] = {[MPS_SERVER_INITIALIZING] = "INITIALIZING",
		[MPS_SERVER_ACTIVE] = "ACTIVE",
		[MPS_SERVER_FAULT] = "FAULT"};

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (view_equals(view_trim(reply), words[i])) {
			*ret_state = (enum mps_server_state)i;
			return 0;
		}
	}
	return reply_unexpected(ret_fault, "a server's state", reply);
}

int mps_reply_done(struct view reply, struct fault *ret_fault)
{
	return view_equals(view_trim(reply), "0") ? 0 : reply_unexpected(ret_fault, "0", reply);
}

bool mps_log_tells_failure(struct view line)
{
	static const char before[] = "Server ", between[] = " exited with status ";
	const char *at = line.n > 0 ? memmem(line.p, line.n, before, sizeof before - 1) : NULL;
	const char *end = line.p + line.n;
	int64_t number;

	if (at == NULL) {
		return false;
	}
	at += sizeof before - 1;
	const char *gap = memmem(at, (size_t)(end - at), between, sizeof between - 1);
	if (gap == NULL ||
		!parse_i64((struct view){at, (size_t)(gap - at)}, 1, MPS_PID_LARGEST, &number)) {
		return false;
	}
	gap += sizeof between - 1;
	struct view status = view_trim((struct view){gap, (size_t)(end - gap)});
	return parse_i64(status, INT32_MIN, INT32_MAX, &number) && number != 0;
}
