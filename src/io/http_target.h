/* Where requests go: a checked address, checked certificates, and the connections to it. */
#ifndef IO_HTTP_TARGET_H
#define IO_HTTP_TARGET_H

#include "http_internal.h"

void http_lane_init(struct http_lane *lane, struct http_target *t, bool multiplex);
void http_lane_finish(struct http_lane *lane);
/* Lets libcurl look at its clock, then collects what has ended. */
void http_lane_kick(struct http_lane *lane);
struct http_target *http_target_create(
	struct http_client *c, const struct http_client_config *config, struct fault *ret_fault);
/* A target for the same address, with fresh connections. */
struct http_target *http_target_renew(const struct http_target *old);
void http_target_destroy(struct http_target *t);

#endif
