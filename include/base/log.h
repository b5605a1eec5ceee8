/* Logging: one JSON object a line on stderr. Verb first, a stable message, typed pairs:
 *
 *     log_info("granted", LOG_S("pod", key), LOG_I("milli", 250));
 *
 * error = someone must act; warn = degraded; info = a change of state; debug = reasoning. Never a
 * token, an environment value or a whole object. A call site writes at most twenty warnings or
 * errors a minute, ten other lines a second; how many were left out is told when the time is over.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_pair {
	const char *key;  /* borrowed */
	const char *text; /* borrowed; NULL: the number counts */
	int64_t number;
};
#define LOG_S(k, v) ((struct log_pair){.key = (k), .text = (v) != NULL ? (v) : ""})
#define LOG_I(k, v) ((struct log_pair){.key = (k), .number = (int64_t)(v)})
#define LOG_F(f)    LOG_S("fault", fault_kind_name((f)->kind)), LOG_S("error", (f)->message)

struct log_site {
	int64_t since_ms;
	int count; /* since then */
	enum log_level level;
	const char *message;   /* what was left out; counts while it is listed */
	struct log_site *next; /* of those that left something out */
};

/* The process's one logger, set up in main before anything else. Level below which nothing is
 * written; fd to write to. */
void log_setup(enum log_level least, int fd);
bool log_level_parse(const char *text, enum log_level *ret_level);
bool log_enabled(enum log_level level);
void log_write(struct log_site *site, enum log_level level, const char *message,
	const struct log_pair *pairs, size_t count);

/* Tells what was left out in periods that are over. Every line written does it too; a program that
 * may be silent for long calls it now and then. */
void log_flush(int64_t now_wall_ms);

#define LOG_AT(level, message, ...)                                                                \
	do {                                                                                       \
		static struct log_site log_site_;                                                  \
		if (log_enabled(level)) {                                                          \
			const struct log_pair log_pairs_[] = {{0}, ##__VA_ARGS__};                 \
			log_write(&log_site_, (level), (message), log_pairs_ + 1,                  \
				sizeof log_pairs_ / sizeof log_pairs_[0] - 1);                     \
		}                                                                                  \
	} while (0)
#define log_debug(...) LOG_AT(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  LOG_AT(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  LOG_AT(LOG_WARN, __VA_ARGS__)
#define log_error(...) LOG_AT(LOG_ERROR, __VA_ARGS__)

#endif
