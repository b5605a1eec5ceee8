/* The path and the query of a request, taken apart again. */
#ifndef SIM_REQUEST_PATH_H
#define SIM_REQUEST_PATH_H
#include "sim_parts.h"

bool api_path_parse(const char *path, struct api_path *ret_path);
bool api_query(const char *query, const char *key, char *value, size_t room);
bool api_resource(const struct api_path *p, enum resource *ret_resource);

#endif
