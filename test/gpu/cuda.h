/* CUDA's driver interface by dlopen, as little of it as a load needs: nothing of a toolkit is
 * wanted to build, and a machine without a GPU is told so by a sentence.
 *
 * Every call that fails ends the program: one line of JSON with the call and CUDA's name of the
 * error, exit status 1; 2 where there is no CUDA at all. What may fail on purpose has `try`. */
#ifndef GPU_CUDA_H
#define GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

struct cuda;

/* The first device that is visible. */
struct cuda *cuda_open(void);
void cuda_close(struct cuda *c);

int cuda_multiprocessors(const struct cuda *c); /* as this client is shown them */
void cuda_memory(const struct cuda *c, uint64_t *ret_free, uint64_t *ret_total);
/* NULL and the error's name where there is not enough. */
const char *cuda_try_alloc(const struct cuda *c, size_t bytes);

/* Runs the kernel on the whole device, waits for it. */
void cuda_spin(const struct cuda *c, uint64_t ns);	     /* busy, one block a multiprocessor */
const char *cuda_try_work(const struct cuda *c, int rounds); /* arithmetic in many blocks; NULL */
const char *cuda_try_fault(const struct cuda *c);	     /* an illegal address; its error */

#endif
