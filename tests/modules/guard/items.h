// Compiled into py/objarray.c before its own text: items of array and bytearray come from guard.c.
#include "py/obj.h"

void *guard_new(size_t nbytes);
void *guard_renew(void *old, size_t old_nbytes, size_t nbytes);

#undef m_new
#undef m_new_obj
#undef m_renew
#define m_new(type, n) ((type *)guard_new(sizeof(type) * (n)))
#define m_new_obj(type) ((type *)m_malloc(sizeof(type)))
#define m_renew(type, old, old_n, n) \
    ((type *)guard_renew((old), sizeof(type) * (old_n), sizeof(type) * (n)))
