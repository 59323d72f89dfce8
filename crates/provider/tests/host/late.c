/* A module that is loaded after Outboard: its destructor runs after Outboard's. */

#include <stddef.h>

static void (*at_end)(void *);
static void *argument;

void late(void (*function)(void *), void *with)
{
    at_end = function;
    argument = with;
}

__attribute__((destructor)) static void end(void)
{
    if (at_end != NULL)
        at_end(argument);
}
