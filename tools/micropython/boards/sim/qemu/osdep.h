// Stands in for QEMU's header of this name where core.c compiles one of its instruction tables.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define ATTRIBUTE_UNUSED __attribute__((unused))
