/* The child that asks the driver, on the command line. */
#ifndef NODE_PROBE_MAIN_H
#define NODE_PROBE_MAIN_H

/* The child, `aliquot agent-probe --nvml-library=FILE`: answers on descriptor 0, a socket, until
 * that ends. Returns the exit status. */
int agent_probe_main(int argc, char **argv);

#endif
