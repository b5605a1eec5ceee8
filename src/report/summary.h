/* The figures and words that the text and the JSON have in common. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "parts.h"

struct gpus report_gpus(const struct report *r);
void sum_add(int64_t *sum, int64_t more);	 /* INT64_MAX at most */
int64_t gpus_used_percent(const struct gpus *g); /* of all, 0 of none */
int64_t gpus_idle(const struct gpus *g);
/* "Kind.group", as those of a row of strange pods are told apart, each cut. */
const char *report_kind(struct arena *a, const char *kind, const char *group);
/* Is its holder the leader still? After 20 s without a word nobody leads (C2). */
bool report_leads(const struct report_parts *p, int64_t now_ms);
/* What the leader says of its canary; of who leads no more it is not known. */
const char *report_refused_by(const struct report_parts *p, int64_t now_ms);
/* "webhook ok", and what else there is to say of it. */
const char *report_webhook_text(const struct report_parts *p);

#endif
