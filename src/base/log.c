/* JSON lines on a file descriptor, one write a line. */
#include "base/log.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

#define LINE_MAX_BYTES	   8192
#define REPEATS_PER_SECOND 10

/* The process's logger: the one piece of state that every room shares, because a line on stderr is
 * not an input to anything. */
static struct {
	enum log_level least;
	int fd;
} logger = {LOG_INFO, STDERR_FILENO};

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

/* How many lines this site swallowed in the second before; -1: swallow this one too. */
static int site_pass(struct log_site *site, int64_t second)
{
	if (site->second != second) {
		int swallowed =
			site->count > REPEATS_PER_SECOND ? site->count - REPEATS_PER_SECOND : 0;
		site->second = second;
		site->count = 1;
		return swallowed;
	}
	site->count++;
	return site->count > REPEATS_PER_SECOND ? -1 : 0;
}

void log_write(struct log_site *site, enum log_level level, const char *message,
	const struct log_pair *pairs, size_t count)
{
	int64_t now = clock_wall(&clock_system);
	int swallowed = site_pass(site, now / 1000);
	if (swallowed < 0) {
		return;
	}
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_MAX_BYTES);
	char at[TIME_TEXT_MAX];
	str_append_format(&line,
		"{\"ts\":\"%s\",\"level\":\"%s\",\"msg\":", time_format_micro(now, at),
		level_names[level]);
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
	if (swallowed > 0) {
		str_append_format(&line, ",\"suppressed\":%d", swallowed);
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
