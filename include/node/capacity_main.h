/* `aliquot capacity` on the command line. */
#ifndef NODE_CAPACITY_MAIN_H
#define NODE_CAPACITY_MAIN_H

/* `aliquot capacity identify|hold|ready|probe|pause`; argv[0] is "capacity". Returns the exit
 * status: 0, 1 for a fault, 2 for a command line that means nothing. */
int capacity_main(int argc, char **argv);

#endif
