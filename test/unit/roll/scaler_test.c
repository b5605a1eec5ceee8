/* Who else changes the number of replicas. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "roll/scaler.h"

Test(scaler, U14_one_that_scales_on_the_gpu_is_found_by_its_metric)
{
	static const struct {
		const char *metric;
		bool gpu;
	} rows[] = {{"DCGM_FI_DEV_GPU_UTIL", true}, {"gpu_utilization", true},
		{"avg(sm_active)", true}, {"nvidia_Gpu", true}, {"queue_length", false},
		{"http_requests_per_second", false}, {"", false}, {"sm", false}, {NULL, false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *metrics[] = {"cpu", rows[i].metric};
		struct scaler s = {.metrics = metrics, .metric_count = 2};
		cr_expect_eq(scaler_gpu_metric(&s) != NULL, rows[i].gpu, "row %zu", i);
	}
	cr_expect_null(scaler_gpu_metric(NULL));
}

Test(scaler, U14_it_freezes_while_it_scales_and_ten_minutes_after)
{
	struct scaler s = {.current = 2, .desired = 3};
	cr_expect_eq(scaler_frozen_until(&s, 5000), INT64_MAX);
	s.current = 3;
	cr_expect_eq(scaler_frozen_until(&s, 5000), 0);
	s.scaled_ms = 5000;
	cr_expect_eq(scaler_frozen_until(&s, 604999), 605000);
	cr_expect_eq(scaler_frozen_until(&s, 605000), 0);
	cr_expect_eq(scaler_frozen_until(NULL, 5000), 0);
}
