/* Rows of the report: agents that are not ready, pods that wait or started whole, and workloads. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include <stddef.h>

#include "model/change.h"

struct arena;
struct report;
struct row;
struct rows;

/* Agents that are not ready, by numbers from 0; NULL: there are no more. The texts are those of the
 * pod's name and namespace. */
const char *report_unready_agent(const struct report *r, size_t i, const char **ret_ns);
/* The words of that agent itself, at /readyz. */
void report_agent_says(struct report *r, size_t i, const char *text, size_t size);

/* For the other files of the report. A list of that kind begins, and ends: all are counted. */
void rows_begin(struct report *r, enum kind kind);
void rows_end(struct report *r, enum kind kind);
void report_agent(struct report *r, const struct pod *pod);
void report_pod(struct report *r, const struct pod *pod);
void report_work(struct report *r, const struct recommendation *of);
void rows_clear(struct rows *rows);
void rows_add(struct rows *rows, struct arena *a, const struct row *row);

#endif
