/* Requests and answers, as those who send them and those who carry them see them. */
#include "model/wire.h"

const char *wire_method_name(enum wire_method method)
{
	static const char *const names[] = {[WIRE_GET] = "GET",
		[WIRE_POST] = "POST",
		[WIRE_PUT] = "PUT",
		[WIRE_PATCH] = "PATCH",
		[WIRE_DELETE] = "DELETE"};
	return names[method];
}
