/* Names of sources and engines, as labels and pages show them. */
#include "meter/metered_names.h"

const char *metered_source_name(enum metered_source source)
{
	static const char *const names[] = {"agent", "exporter", "prometheus"};
	return source < METERED_SOURCES ? names[source] : "none";
}

const char *app_engine_name(enum app_engine engine)
{
	static const char *const names[] = {"none", "vllm", "sglang", "triton"};
	return engine <= APP_TRITON ? names[engine] : "none";
}
