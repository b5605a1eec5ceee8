/* `aliquot agent` on the command line. */
#ifndef AGENT_AGENT_MAIN_H
#define AGENT_AGENT_MAIN_H

/* argv[0] is "agent". Returns the exit status: 0, 1 for a fault, 2 for a command
 * line that means nothing. */
int agent_main(int argc, char **argv);

#endif
