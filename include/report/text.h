/* The report as text for a terminal. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdint.h>

struct report;
struct str;

/* Text is wrapped at REPORT_COLUMNS and free of control characters. */
void report_write_text(const struct report *r, int64_t now_ms, struct str *out);

#endif
