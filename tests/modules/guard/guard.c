// Module guard: sees stray accesses, and lets one case run in one process.
//
// The items of each array and bytearray lie by themselves between pages that fault. What is left
// of their own pages holds canaries. Memory is never given back: a pointer that outlives its buffer
// meets no other buffer, and the garbage collector, which does not look into these items, must not
// be needed for what they refer to (array('O') is not for here).
//
//     guard.align(left)     buffers begin (True) or end (False, as at first) at a page that faults
//     guard.check()         -> number of canary bytes that changed
//     guard.fork()          -> 0 in the child, its process id in the parent
//     guard.wait(pid)       -> its exit status, or -signal
//     guard.exit(status)    ends the process at once
//     guard.alarm(ms)       SIGPROF after so much of this process's processor time; 0: never
//     guard.count()         -> allocations so far
//     guard.fail_after(n)   the nth allocation from now fails; 0: none does
//     guard.fail_from(n)    the nth allocation from now fails, and so do all after it; 0: none
//     guard.interrupt(us)   a KeyboardInterrupt after so much time; 0: never
//     guard.address(buf)    -> of a buffer's first byte
//     guard.peek(a)         -> the byte there; guard.poke(a, value): writes it

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "py/gc.h"
#include "py/obj.h"
#include "py/runtime.h"

#define PAGE ((size_t)4096)
#define ITEM_ALIGNMENT ((size_t)8) // of the largest item
#define CANARY 0xA5
#define FRESH 0xC3 // what a buffer holds before anyone has written to it

#if UINTPTR_MAX > 0xffffffff
#define REGION ((size_t)1 << 40) // of addresses, not of memory
#define GAP ((size_t)1 << 20)    // between two buffers
#else
#define REGION ((size_t)1 << 30)
#define GAP ((size_t)1 << 15)
#endif
#define LARGEST ((size_t)64 << 20) // a buffer
#define TOTAL ((size_t)192 << 20)  // all of them

typedef struct {
    uint8_t *start, *items; // of its pages, of its items
    size_t nbytes, used;    // of its pages, of its items
} guarded_t;

static guarded_t *guarded;
static size_t n_guarded, room;
static uint8_t *next_page, *region_end;
static size_t total;
static bool at_left;
static size_t n_allocations, fail_at, fail_from; // 0: never

// ---- allocations are counted, and one of them fails, or all from one on

static bool fails(void) {
    n_allocations++;
    return n_allocations == fail_at || (fail_from && n_allocations >= fail_from);
}

void *__real_gc_alloc(size_t nbytes, unsigned int flags);
void *__real_gc_realloc(void *old, size_t nbytes, bool allow_move);

void *__wrap_gc_alloc(size_t nbytes, unsigned int flags) {
    return fails() ? NULL : __real_gc_alloc(nbytes, flags);
}

void *__wrap_gc_realloc(void *old, size_t nbytes, bool allow_move) {
    return nbytes && fails() ? NULL : __real_gc_realloc(old, nbytes, allow_move);
}

// ---- buffers

static void reserve(void) {
    next_page = mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (next_page == MAP_FAILED) {
        next_page = NULL;
        m_malloc_fail(REGION);
    }
    region_end = next_page + REGION;
}

static void note(guarded_t buffer) {
    if (n_guarded == room) {
        room = room ? 2 * room : 1024;
        guarded = realloc(guarded, room * sizeof *guarded);
        if (!guarded) {
            abort();
        }
    }
    guarded[n_guarded++] = buffer;
}

void *guard_new(size_t nbytes) {
    if (fails() || nbytes > LARGEST || total + nbytes > TOTAL) {
        m_malloc_fail(nbytes);
    }
    if (!next_page) {
        reserve();
    }
    size_t pages = (nbytes + PAGE - 1) / PAGE * PAGE;
    if (!pages) {
        pages = PAGE;
    }
    uint8_t *start = next_page + GAP;
    if ((size_t)(region_end - next_page) < 2 * GAP + pages ||
        mprotect(start, pages, PROT_READ | PROT_WRITE)) {
        m_malloc_fail(nbytes);
    }
    next_page = start + pages;
    total += nbytes;
    #if MICROPY_MEM_STATS
    MP_STATE_MEM(total_bytes_allocated) += nbytes;
    MP_STATE_MEM(current_bytes_allocated) += nbytes;
    MP_STATE_MEM(peak_bytes_allocated) =
        MAX(MP_STATE_MEM(peak_bytes_allocated), MP_STATE_MEM(current_bytes_allocated));
    #endif
    uint8_t *items = at_left ? start : start + ((pages - nbytes) & ~(ITEM_ALIGNMENT - 1));
    memset(start, CANARY, pages);
    memset(items, FRESH, nbytes);
    note((guarded_t){start, items, pages, nbytes});
    return items;
}

void *guard_renew(void *old, size_t old_nbytes, size_t nbytes) {
    void *items = guard_new(nbytes);
    memcpy(items, old, old_nbytes < nbytes ? old_nbytes : nbytes);
    return items;
}

static size_t damaged(const uint8_t *from, const uint8_t *to) {
    size_t n = 0;
    for (; from < to; from++) {
        n += *from != CANARY;
    }
    return n;
}

// ---- the module

static mp_obj_t guard_check(void) {
    size_t n = 0;
    for (size_t i = 0; i < n_guarded; i++) {
        guarded_t *b = &guarded[i];
        n += damaged(b->start, b->items) + damaged(b->items + b->used, b->start + b->nbytes);
    }
    return mp_obj_new_int_from_uint(n);
}
static MP_DEFINE_CONST_FUN_OBJ_0(guard_check_obj, guard_check);

static mp_obj_t guard_align(mp_obj_t left) {
    at_left = mp_obj_is_true(left);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_align_obj, guard_align);

static mp_obj_t guard_fork(void) {
    pid_t pid = fork();
    if (pid < 0) {
        mp_raise_OSError(errno);
    }
    return mp_obj_new_int(pid);
}
static MP_DEFINE_CONST_FUN_OBJ_0(guard_fork_obj, guard_fork);

static mp_obj_t guard_wait(mp_obj_t pid) {
    int status = 0;
    while (waitpid(mp_obj_get_int(pid), &status, 0) < 0) {
        if (errno != EINTR) {
            mp_raise_OSError(errno);
        }
    }
    return mp_obj_new_int(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_wait_obj, guard_wait);

static mp_obj_t guard_exit(mp_obj_t status) {
    _exit(mp_obj_get_int(status));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_exit_obj, guard_exit);

static mp_obj_t guard_alarm(mp_obj_t ms_in) {
    mp_int_t ms = mp_obj_get_int(ms_in);
    struct itimerval timer = {{0, 0}, {ms / 1000, ms % 1000 * 1000}};
    signal(SIGPROF, SIG_DFL);
    setitimer(ITIMER_PROF, &timer, NULL);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_alarm_obj, guard_alarm);

static mp_obj_t guard_count(void) {
    return mp_obj_new_int_from_uint(n_allocations);
}
static MP_DEFINE_CONST_FUN_OBJ_0(guard_count_obj, guard_count);

static mp_obj_t guard_fail_after(mp_obj_t n_in) {
    mp_int_t n = mp_obj_get_int(n_in);
    fail_at = n > 0 ? n_allocations + n : 0;
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_fail_after_obj, guard_fail_after);

static mp_obj_t guard_fail_from(mp_obj_t n_in) {
    mp_int_t n = mp_obj_get_int(n_in);
    fail_from = n > 0 ? n_allocations + n : 0;
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_fail_from_obj, guard_fail_from);

static void interrupted(int number) {
    (void)number;
    mp_sched_keyboard_interrupt();
}

static mp_obj_t guard_interrupt(mp_obj_t us_in) {
    mp_int_t us = mp_obj_get_int(us_in);
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 0}, {us / 1000000, us % 1000000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_interrupt_obj, guard_interrupt);

static mp_obj_t guard_address(mp_obj_t buffer) {
    mp_buffer_info_t info;
    mp_get_buffer_raise(buffer, &info, MP_BUFFER_READ);
    return mp_obj_new_int_from_uint((uintptr_t)info.buf);
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_address_obj, guard_address);

static volatile uint8_t *at(mp_obj_t address) {
    return (uint8_t *)(uintptr_t)mp_obj_get_int_truncated(address);
}

static mp_obj_t guard_peek(mp_obj_t address) {
    return MP_OBJ_NEW_SMALL_INT(*at(address));
}
static MP_DEFINE_CONST_FUN_OBJ_1(guard_peek_obj, guard_peek);

static mp_obj_t guard_poke(mp_obj_t address, mp_obj_t value) {
    *at(address) = mp_obj_get_int(value);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(guard_poke_obj, guard_poke);

static const mp_rom_map_elem_t guard_names[] = {
    { MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_guard) },
    { MP_ROM_QSTR(MP_QSTR_align), MP_ROM_PTR(&guard_align_obj) },
    { MP_ROM_QSTR(MP_QSTR_check), MP_ROM_PTR(&guard_check_obj) },
    { MP_ROM_QSTR(MP_QSTR_fork), MP_ROM_PTR(&guard_fork_obj) },
    { MP_ROM_QSTR(MP_QSTR_wait), MP_ROM_PTR(&guard_wait_obj) },
    { MP_ROM_QSTR(MP_QSTR_exit), MP_ROM_PTR(&guard_exit_obj) },
    { MP_ROM_QSTR(MP_QSTR_alarm), MP_ROM_PTR(&guard_alarm_obj) },
    { MP_ROM_QSTR(MP_QSTR_count), MP_ROM_PTR(&guard_count_obj) },
    { MP_ROM_QSTR(MP_QSTR_fail_after), MP_ROM_PTR(&guard_fail_after_obj) },
    { MP_ROM_QSTR(MP_QSTR_fail_from), MP_ROM_PTR(&guard_fail_from_obj) },
    { MP_ROM_QSTR(MP_QSTR_interrupt), MP_ROM_PTR(&guard_interrupt_obj) },
    { MP_ROM_QSTR(MP_QSTR_address), MP_ROM_PTR(&guard_address_obj) },
    { MP_ROM_QSTR(MP_QSTR_peek), MP_ROM_PTR(&guard_peek_obj) },
    { MP_ROM_QSTR(MP_QSTR_poke), MP_ROM_PTR(&guard_poke_obj) },
};
static MP_DEFINE_CONST_DICT(guard_globals, guard_names);

const mp_obj_module_t guard_module = {
    .base = { &mp_type_module },
    .globals = (mp_obj_dict_t *)&guard_globals,
};
MP_REGISTER_MODULE(MP_QSTR_guard, guard_module);
