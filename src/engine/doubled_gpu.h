/* One GPU that more than one capacity pod tells. Nothing here fails. */
#ifndef ENGINE_DOUBLED_GPU_H
#define ENGINE_DOUBLED_GPU_H

struct emitter;
struct picture;
struct plan;

/* Counts them, and warns about each capacity pod once. */
void report_doubled_gpus(const struct picture *picture, struct emitter *out);

#endif
