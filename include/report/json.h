/* The report as JSON. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stdint.h>

struct report;
struct str;

void report_write_json(const struct report *r, int64_t now_ms, struct str *out);

#endif
