/* What the daemon writes into control.log: read for servers that fail, cut where it grows. */
#ifndef MPS_DAEMON_LOG_H
#define MPS_DAEMON_LOG_H

#include <stdint.h>

#define DAEMON_LOG_FAILURES  3 /* within a minute: it goes on like this */
#define DAEMON_LOG_MINUTE_MS 60000

struct daemon_log {
	int64_t at;				/* bytes read */
	int64_t failed_ms[DAEMON_LOG_FAILURES]; /* monotonic, the last ones; a ring */
	uint32_t failures;			/* ever */
};

/* From the log's end on; what was before is another daemon's story. */
void daemon_log_begin(struct daemon_log *log, const char *folder);
/* Reads what is new; how many servers failed within the last minute, at most DAEMON_LOG_FAILURES.
 */
int daemon_log_poll(struct daemon_log *log, const char *folder, int64_t now_ms);
/* What is large is begun anew; polling does it too. */
void daemon_log_trim(const char *folder);

#endif
