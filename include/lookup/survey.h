/* One look at a cluster with whatever rights a person has: a few objects by name, then one list
 * after the other, then owners of owners for a few seconds. What may not be read becomes a gap of
 * the report, and what may not be listed everywhere is listed in the person's own namespace. */
#ifndef LOOKUP_SURVEY_H
#define LOOKUP_SURVEY_H

#include "kube/client.h"
#include "report/report.h"

#define SURVEY_OWNERS_MS 10000 /* for so long owners are asked for */

struct survey_config {
	struct kube *kube;     /* borrowed, as all of these */
	struct report *report; /* told what is found */
	const char *only;      /* this namespace alone; NULL: all */
	const char *own;       /* where somebody looks who may not look everywhere */
};

enum survey_end {
	SURVEY_GOES_ON,
	SURVEY_DONE,
	SURVEY_UNREACHED, /* nobody answered the first question, or none with what was asked for */
	SURVEY_REFUSED,	  /* all of them were refused */
};

struct survey;

struct survey *survey_create(const struct survey_config *config);
void survey_destroy(struct survey *s); /* cancels what is under way; NULL is fine */
void survey_step(struct survey *s, int64_t now_mono_ms);
int64_t survey_deadline(const struct survey *s);
enum survey_end survey_end(const struct survey *s);
/* Why nobody was reached. */
const struct fault *survey_fault(const struct survey *s);
/* There is no more time: what was read so far is all there is. */
void survey_give_up(struct survey *s);

#endif
