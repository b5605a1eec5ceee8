/* What the test of the compute mode tells its stand-in, and what that was told. */
#ifndef COMPUTE_MODE_STUB_H
#define COMPUTE_MODE_STUB_H

struct compute_mode_stub {
	int init_code, set_code;
	int begun; /* inits less shutdowns */
	int mode;
};

extern struct compute_mode_stub compute_mode_stub;

#endif
