/* The use of every pod with a GPU: who is wanted, as the world says, and the readers of meter with
 * the HTTP clients they need.
 *
 * Agents, exporters and applications are read over plain HTTP, a Prometheus over what its URL says.
 * Its authorities and its token are files, read again every minute. */
#ifndef APP_USAGES_H
#define APP_USAGES_H

#include "base/metric.h"
#include "base/part.h"
#include "io/loop.h"
#include "meter/latest.h"
#include "model/change.h"
#include "options.h"
#include "world/world.h"

struct usages;
struct usages_config {
	struct loop *loop; /* all borrowed */
	const struct clock *clock;
	struct metric_registry *metrics;
	const struct world *world;
	const struct options *options;
};

/* NULL with FAULT_INVALID for an option that cannot be meant, or FAULT_NOT_FOUND for a file that is
 * not there. */
struct usages *usages_create(const struct usages_config *config, struct fault *ret_fault);
/* A change of a pod: where it answers. */
void usages_observe(struct usages *u, const struct change *c);
/* Only a leader asks. */
extern const struct part usages_part;
/* There are more pods, or more to read them from, than are kept. */
bool usages_crowded(const struct usages *u);
const struct latest *usages_latest(const struct usages *u);
struct prometheus *usages_prometheus(const struct usages *u); /* NULL: none is read */

/* What is known of each pod, and how old it is, as JSON. */
void usages_write(const struct usages *u, struct str *out);

#endif
