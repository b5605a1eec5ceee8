/* The kernels are PTX text that the driver compiles: the only machine code here is the driver's. */
#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY		"libcuda.so.1"
#define MULTIPROCESSORS 16 /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
/* So many whatever it sees of the device, so that a run is the same work under any limit. */
#define WORK_BLOCKS  528
#define WORK_THREADS 256
#define SPIN_THREADS 32

struct cuda {
	void *library;
	void *context, *module, *spin, *work, *fault;
	uint64_t out; /* device memory that no kernel ever writes, so that nothing is left out */
	int device, multiprocessors;
	int (*init)(unsigned flags);
	int (*error_name)(int code, const char **name);
	int (*device_get)(int *device, int ordinal);
	int (*attribute)(int *value, int attribute, int device);
	int (*context_create)(void **context, unsigned flags, int device);
	int (*context_destroy)(void *context);
	int (*synchronize)(void);
	int (*module_load)(void **module, const void *text);
	int (*function)(void **function, void *module, const char *name);
	int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
		unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments,
		void **extra);
	int (*alloc)(uint64_t *address, size_t bytes);
	int (*memory)(size_t *free, size_t *total);
};

static const struct {
	size_t offset;
	const char *name;
} calls[] = {
	{offsetof(struct cuda, init), "cuInit"},
	{offsetof(struct cuda, error_name), "cuGetErrorName"},
	{offsetof(struct cuda, device_get), "cuDeviceGet"},
	{offsetof(struct cuda, attribute), "cuDeviceGetAttribute"},
	{offsetof(struct cuda, context_create), "cuCtxCreate_v2"},
	{offsetof(struct cuda, context_destroy), "cuCtxDestroy_v2"},
	{offsetof(struct cuda, synchronize), "cuCtxSynchronize"},
	{offsetof(struct cuda, module_load), "cuModuleLoadData"},
	{offsetof(struct cuda, function), "cuModuleGetFunction"},
	{offsetof(struct cuda, launch), "cuLaunchKernel"},
	{offsetof(struct cuda, alloc), "cuMemAlloc_v2"},
	{offsetof(struct cuda, memory), "cuMemGetInfo_v2"},
};

/* spin waits on the nanosecond timer, so that a duty cycle means time and not clocks; work adds and
 * multiplies and writes nothing unless the sum is what it cannot be; fault writes to address 16. */
static const char kernels[] = ".version 6.0\n"
			      ".target sm_60\n"
			      ".address_size 64\n"
			      ".visible .entry spin(.param .u64 ns, .param .u64 out)\n"
			      "{\n"
			      "  .reg .u64 %start, %now, %for;\n"
			      "  .reg .pred %more;\n"
			      "  ld.param.u64 %for, [ns];\n"
			      "  mov.u64 %start, %globaltimer;\n"
			      "again:\n"
			      "  mov.u64 %now, %globaltimer;\n"
			      "  sub.u64 %now, %now, %start;\n"
			      "  setp.lt.u64 %more, %now, %for;\n"
			      "  @%more bra again;\n"
			      "  ret;\n"
			      "}\n"
			      ".visible .entry work(.param .u64 rounds, .param .u64 out)\n"
			      "{\n"
			      "  .reg .u64 %left, %to;\n"
			      "  .reg .f32 %sum, %by;\n"
			      "  .reg .pred %more, %never;\n"
			      "  ld.param.u64 %left, [rounds];\n"
			      "  ld.param.u64 %to, [out];\n"
			      "  mov.f32 %sum, 0f3F800000;\n"
			      "  mov.f32 %by, 0f3F000000;\n"
			      "again:\n"
			      "  fma.rn.f32 %sum, %sum, %by, %by;\n"
			      "  fma.rn.f32 %sum, %sum, %by, %by;\n"
			      "  fma.rn.f32 %sum, %sum, %by, %by;\n"
			      "  fma.rn.f32 %sum, %sum, %by, %by;\n"
			      "  sub.u64 %left, %left, 1;\n"
			      "  setp.ne.u64 %more, %left, 0;\n"
			      "  @%more bra again;\n"
			      "  setp.lt.f32 %never, %sum, 0f00000000;\n"
			      "  @!%never ret;\n"
			      "  st.global.f32 [%to], %sum;\n"
			      "  ret;\n"
			      "}\n"
			      ".visible .entry fault(.param .u64 ns, .param .u64 out)\n"
			      "{\n"
			      "  .reg .u64 %to;\n"
			      "  .reg .u32 %zero;\n"
			      "  mov.u64 %to, 16;\n"
			      "  mov.u32 %zero, 0;\n"
			      "  st.global.u32 [%to], %zero;\n"
			      "  ret;\n"
			      "}\n";

static _Noreturn void no_cuda(const char *why)
{
	printf("{\"event\": \"no-cuda\", \"why\": \"%s\"}\n", why);
	exit(2);
}

static const char *name_of(const struct cuda *c, int code)
{
	const char *name = NULL;
	return c->error_name(code, &name) == 0 && name != NULL ? name : "an error without a name";
}

static void must(const struct cuda *c, int code, const char *call)
{
	if (code != 0) {
		printf("{\"event\": \"failed\", \"call\": \"%s\", \"error\": \"%s\", \"code\": "
		       "%d}\n",
			call, name_of(c, code), code);
		fflush(stdout);
		exit(1);
	}
}

static void load_calls(struct cuda *c)
{
	c->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (c->library == NULL) {
		no_cuda("there is no " LIBRARY ": no NVIDIA driver here, or not in this container");
	}
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		void *found = dlsym(c->library, calls[i].name);
		if (found == NULL) {
			no_cuda(LIBRARY " lacks a call that every driver since 2012 has");
		}
		memcpy((char *)c + calls[i].offset, &found, sizeof found);
	}
}

struct cuda *cuda_open(void)
{
	struct cuda *c = calloc(1, sizeof *c);
	if (c == NULL) {
		no_cuda("out of memory");
	}
	load_calls(c);
	must(c, c->init(0), "cuInit");
	must(c, c->device_get(&c->device, 0), "cuDeviceGet");
	must(c, c->context_create(&c->context, 0, c->device), "cuCtxCreate");
	must(c, c->attribute(&c->multiprocessors, MULTIPROCESSORS, c->device),
		"cuDeviceGetAttribute");
	must(c, c->module_load(&c->module, kernels), "cuModuleLoadData");
	must(c, c->function(&c->spin, c->module, "spin"), "cuModuleGetFunction");
	must(c, c->function(&c->work, c->module, "work"), "cuModuleGetFunction");
	must(c, c->function(&c->fault, c->module, "fault"), "cuModuleGetFunction");
	must(c, c->alloc(&c->out, 256), "cuMemAlloc");
	return c;
}

void cuda_close(struct cuda *c)
{
	(void)c->context_destroy(c->context);
	(void)dlclose(c->library);
	free(c);
}

int cuda_multiprocessors(const struct cuda *c)
{
	return c->multiprocessors;
}

void cuda_memory(const struct cuda *c, uint64_t *ret_free, uint64_t *ret_total)
{
	size_t unused = 0, total = 0;
	must(c, c->memory(&unused, &total), "cuMemGetInfo");
	*ret_free = unused;
	*ret_total = total;
}

const char *cuda_try_alloc(const struct cuda *c, size_t bytes)
{
	uint64_t address = 0;
	int code = c->alloc(&address, bytes);
	return code != 0 ? name_of(c, code) : NULL;
}

static int run(const struct cuda *c, void *kernel, uint64_t argument, unsigned threads)
{
	uint64_t out = c->out;
	void *arguments[] = {&argument, &out};
	unsigned blocks = kernel == c->work ? WORK_BLOCKS : (unsigned)c->multiprocessors;
	int code = c->launch(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL);
	return code != 0 ? code : c->synchronize();
}

void cuda_spin(const struct cuda *c, uint64_t ns)
{
	must(c, run(c, c->spin, ns, SPIN_THREADS), "spin");
}

const char *cuda_try_work(const struct cuda *c, int rounds)
{
	int code = run(c, c->work, (uint64_t)rounds, WORK_THREADS);
	return code != 0 ? name_of(c, code) : NULL;
}

const char *cuda_try_fault(const struct cuda *c)
{
	int code = run(c, c->fault, 0, SPIN_THREADS);
	return code != 0 ? name_of(c, code) : NULL;
}
