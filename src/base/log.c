/* JSON lines on a file descriptor, one write a line. */
#include "base/log.h"

#include <limits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

#define LINE_MAX_BYTES 8192

/* The process's logger: the one piece of state that every room shares, because a line on stderr is
 * not an input to anything. */
static struct {
	enum log_level least;
	int fd;
	struct log_site *silenced; /* has left lines out and not told yet */
} logger = {LOG_INFO, STDERR_FILENO, NULL};

/* Changes of state come in crowds and each is another one; a warning is told to make somebody look,
 * and who sends us nonsense must not be able to fill a disk with it. */
static const struct {
	int64_t period_ms;
	int lines;
} allowed[] = {
	[LOG_DEBUG] = {1000, 10},
	[LOG_INFO] = {1000, 10},
	[LOG_WARN] = {60000, 20},
	[LOG_ERROR] = {60000, 20},
};

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void log_setup(enum log_level least, int fd)
{
	logger.least = least;
	logger.fd = fd;
}

bool log_level_parse(const char *text, enum log_level *ret_level)
{
	for (int i = LOG_DEBUG; i <= LOG_ERROR; i++) {
		if (text_equals(text, level_names[i])) {
			*ret_level = (enum log_level)i;
			return true;
		}
	}
	return false;
}

bool log_enabled(enum log_level level)
{
	return level >= logger.least;
}

/* A clock that was set back begins a new period: better a line too many than none for an hour. */
static bool period_is_over(const struct log_site *site, int64_t now_ms)
{
	return now_ms < site->since_ms || now_ms - site->since_ms >= allowed[site->level].period_ms;
}

static void write_log_line(
	enum log_level level, const char *message, const struct log_pair *pairs, size_t count)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_MAX_BYTES);
	char at[TIME_TEXT_MAX];
	str_append_format(&line, "{\"ts\":\"%s\",\"level\":\"%s\",\"msg\":",
		time_format_micro(clock_wall(&clock_system), at), level_names[level]);
	str_append_json(&line, message, strlen(message));
	for (size_t i = 0; i < count; i++) {
		str_append_char(&line, ',');
		str_append_json(&line, pairs[i].key, strlen(pairs[i].key));
		str_append_char(&line, ':');
		if (pairs[i].text != NULL) {
			str_append_json(&line, pairs[i].text, strlen(pairs[i].text));
		} else {
			str_append_format(&line, "%lld", (long long)pairs[i].number);
		}
	}
	if (line.overflow) {
		str_reset(&line);
		str_append_text(&line, "{\"level\":\"warn\",\"msg\":\"a log line was too long\"");
	}
	str_append_text(&line, "}\n");
	/* A log that cannot be written is not worth dying for. */
	ssize_t ignored = write(logger.fd, str_text(&line), line.len);
	(void)ignored;
}

static bool site_pass(
	struct log_site *site, enum log_level level, const char *message, int64_t now_ms)
{
	if (site->count == 0 || period_is_over(site, now_ms)) {
		site->level = level;
		site->since_ms = now_ms;
		site->count = 0;
	}
	/* The count must not come round to where lines are written again. */
	site->count += site->count < INT_MAX ? 1 : 0;
	int left_out = site->count - allowed[level].lines;
	if (left_out == 1) {
		site->message = message;
		site->next = logger.silenced;
		logger.silenced = site;
	}
	return left_out <= 0;
}

void log_flush(int64_t now_wall_ms)
{
	struct log_site **at = &logger.silenced;
	while (*at != NULL) {
		struct log_site *site = *at;
		if (!period_is_over(site, now_wall_ms)) {
			at = &site->next;
			continue;
		}
		const struct log_pair pairs[] = {LOG_S("of", site->message),
			LOG_I("count", site->count - allowed[site->level].lines)};
		*at = site->next;
		site->next = NULL;
		site->count = 0;
		write_log_line(site->level, "left out repeated lines", pairs, COUNT_OF(pairs));
	}
}

void log_write(struct log_site *site, enum log_level level, const char *message,
	const struct log_pair *pairs, size_t count)
{
	int64_t now = clock_wall(&clock_system);
	log_flush(now);
	if (site_pass(site, level, message, now)) {
		write_log_line(level, message, pairs, count);
	}
}
