/* Kinds of work: by owner, by label, by program, by image. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "owner/owner.h"
#include "owner/work.h"

static enum workload_type work(
	const char *api, const char *kind, struct container c, struct pair label)
{
	struct pod pod = {.owner = {api, kind, "x", "u"},
		.labels = {&label, label.key != NULL ? 1 : 0},
		.containers = &c,
		.container_count = 1,
		.gpu_container = c.name,
		.gpu_image = c.image,
		.gpus = c.gpus};
	struct owner_top top = owner_top_of(&pod, NULL);
	return owner_work_of(&pod, &top);
}

static const struct pair none;

Test(work, o7_a_pytorch_job_trains)
{
	struct container c = {.name = "main", .gpus = 1, .image = "registry/pytorch:2"};
	cr_assert_eq(work("kubeflow.org/v1", "PyTorchJob", c, none), WORKLOAD_TRAINING);
}

Test(work, the_owner_tells)
{
	struct container c = {.name = "main", .gpus = 1};
	cr_assert_eq(work("batch/v1", "Job", c, none), WORKLOAD_BATCH);
	cr_assert_eq(work("kubeflow.org/v1", "Notebook", c, none), WORKLOAD_NOTEBOOK);
	cr_assert_eq(work("tekton.dev/v1", "TaskRun", c, none), WORKLOAD_BUILD);
	cr_assert_eq(work("apps/v1", "Deployment", c, none), WORKLOAD_UNKNOWN);
	cr_assert_eq(work("example.com/v1", "Gadget", c, none), WORKLOAD_UNKNOWN);
	c.gpus = 2;
	cr_assert_eq(work("batch/v1", "Job", c, none), WORKLOAD_TRAINING);
	cr_assert_eq(work("apps/v1", "Deployment", c, none), WORKLOAD_UNKNOWN);
}

Test(work, labels_tell)
{
	struct container c = {.name = "main", .gpus = 1};
	struct pair kserve = {"serving.kserve.io/inferenceservice", "llm"};
	struct pair hub = {"component", "singleuser-server"}, other = {"component", "web"};
	cr_assert_eq(work("apps/v1", "Deployment", c, kserve), WORKLOAD_INFERENCE_REAL_TIME);
	cr_assert_eq(work("apps/v1", "Deployment", c, hub), WORKLOAD_NOTEBOOK);
	cr_assert_eq(work("apps/v1", "Deployment", c, other), WORKLOAD_UNKNOWN);
}

static enum workload_type run(const char *kind, const char *image, const char *a, const char *b)
{
	const char *args[] = {a, b};
	struct container c = {.name = "main",
		.gpus = 1,
		.image = image,
		.args = args,
		.arg_count = b != NULL	 ? 2
			     : a != NULL ? 1
					 : 0};
	return work(text_equals(kind, "Job") ? "batch/v1" : "apps/v1", kind, c, none);
}

Test(work, programs_and_images_tell)
{
	cr_assert_eq(run("Deployment", "vllm/vllm-openai:v0.10", NULL, NULL),
		WORKLOAD_INFERENCE_REAL_TIME);
	cr_assert_eq(run("Deployment", "nvcr.io/nvidia/tritonserver:25", NULL, NULL),
		WORKLOAD_INFERENCE_REAL_TIME);
	cr_assert_eq(
		run("StatefulSet", "quay.io/jupyter/base-notebook", NULL, NULL), WORKLOAD_NOTEBOOK);
	cr_assert_eq(run("Deployment", "python:3", "vllm", "serve"), WORKLOAD_INFERENCE_REAL_TIME);
	cr_assert_eq(
		run("Deployment", "python:3", "/usr/bin/accelerate", "launch"), WORKLOAD_TRAINING);
	cr_assert_eq(run("Deployment", "python:3", "exec torchrun --nproc 1 t.py", NULL),
		WORKLOAD_TRAINING);
	cr_assert_eq(run("Deployment", "python:3", "my_torchruns", NULL), WORKLOAD_UNKNOWN);
	cr_assert_eq(run("Deployment", "python:3", "vllm", "bench"), WORKLOAD_UNKNOWN);
}

/* A label is meant for others to read, a program is what runs, an image only has a name. */
Test(work, what_says_more_is_believed_first)
{
	const char *args[] = {"torchrun", "t.py"};
	struct container c = {.name = "main",
		.gpus = 1,
		.image = "vllm/vllm-openai",
		.args = args,
		.arg_count = 2};
	struct pair hub = {"component", "singleuser-server"};
	cr_assert_eq(work("apps/v1", "Deployment", c, hub), WORKLOAD_NOTEBOOK);
	cr_assert_eq(work("apps/v1", "Deployment", c, none), WORKLOAD_TRAINING);
	c.arg_count = 0;
	cr_assert_eq(work("apps/v1", "Deployment", c, none), WORKLOAD_INFERENCE_REAL_TIME);
}

/* A Job that trains trains; a Job with an inference image is a batch of inference. */
Test(work, a_job_may_train)
{
	cr_assert_eq(run("Job", "python:3", "torchrun", "t.py"), WORKLOAD_TRAINING);
	cr_assert_eq(run("Job", "vllm/vllm-openai", NULL, NULL), WORKLOAD_BATCH);
	cr_assert_eq(run("Job", NULL, NULL, NULL), WORKLOAD_BATCH);
}
