// The port's configuration, and what this machine has besides.
#include "mpconfigport.h"
#define MICROPY_GCREGS_SETJMP (1)
#undef MICROPY_PY_TIME
#define MICROPY_PY_TIME (1)
#undef MICROPY_PY_SELECT
#define MICROPY_PY_SELECT (1)
#define MICROPY_TIME_EPOCH_IS_1970 (1)
#undef MICROPY_PY_SYS_STDIO_BUFFER
#define MICROPY_PY_SYS_STDIO_BUFFER (1)
