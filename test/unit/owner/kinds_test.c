/* What is known of kinds of owners: which are read live. */
#include <criterion/criterion.h>

#include "owner/kinds.h"

Test(kinds, kinds_that_are_read_have_an_api)
{
	cr_expect_str_eq(standing_api_version(view_of("apps"), "StatefulSet"), "apps/v1");
	cr_expect_str_eq(
		standing_api_version(view_of("argoproj.io"), "Rollout"), "argoproj.io/v1alpha1");
	cr_expect_str_eq(standing_api_version(view_of("apps.openshift.io"), "DeploymentConfig"),
		"apps.openshift.io/v1");
	cr_expect_null(standing_api_version(view_of("argoproj.io"), "Deployment"));
	cr_expect_null(standing_api_version(view_of(""), "Deployment"));
	cr_expect_null(standing_api_version(view_of("apps"), NULL));
}
