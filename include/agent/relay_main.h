/* `aliquot relay` on the command line. */
#ifndef AGENT_RELAY_MAIN_H
#define AGENT_RELAY_MAIN_H

/* Passes bytes from one socket of this machine to another. argv[0] is "relay". Returns the exit
 * status: 0, 1 for a fault, 2 for a command line that means nothing. */
int relay_main(int argc, char **argv);

#endif
