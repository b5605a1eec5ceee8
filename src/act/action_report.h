/* What is told of actions: how they ended, as metrics and logs; and events, through the recorder,
 * which aggregates and sheds them. */
#ifndef ACT_ACTION_REPORT_H
#define ACT_ACTION_REPORT_H

#include "draft.h"

void action_count(struct metric_registry *metrics, const struct action *x, const struct fault *f);
/* An eviction was done: logs and counts it. */
void evict_note(struct metric_registry *metrics, const struct action *x);
/* False: the recorder dropped it. */
bool event_hand_over(struct events *recorder, const struct action *x);

#endif
