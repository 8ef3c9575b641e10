// A plugin of QEMU that watches what code in a board's memory, no part of its firmware, reads and
// writes: viper's and the inline assembler's. The first access outside of what was allowed is
// written to a file, and ends QEMU. So does a fault of the board.
//
//   -plugin watch.so,report=FILE,box=ADDRESS,fault=ADDRESS,code=START:NBYTES,keep=START:NBYTES,
//           stack=START:NBYTES[,goes_on=1]      code, keep and fault may be repeated
//
// code   the firmware's own instructions, which are not watched
// keep   what loaded code may read at any time
// stack  where the board's stack can be
// goes_on  a stray access does not end QEMU, for tests
// box    64 KB of memory through which the board speaks: reads of it tell something by their
//        addresses, 12, 12 and 8 bits of a word at a time, then a command (see `Command`)
//
// Loads and stores before the command LOCK are those of the function that speaks: these
// instructions are never watched, and no others may touch the box.

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What is used of QEMU's interface for plugins (documented at qemu.org, "TCG Plugins"); Debian has
// no package with its header. PLUGIN_API: its version, from QEMU's.

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    int vcpus[2];
} qemu_info_t;

typedef void (*mem_cb_t)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data);
typedef void (*exec_cb_t)(unsigned vcpu, void *data);
typedef void (*trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, trans_cb_t cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb_t cb, int registers,
    int kind, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_cb_t cb,
    int registers, void *data);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
#if PLUGIN_API < 3
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#else
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *data, size_t n);
#endif

EXPORT int qemu_plugin_version = PLUGIN_API;

enum { STATUS = 70, BOX_NBYTES = 1 << 16, FIELD = 1 << 12, COMMANDS = 3 * FIELD };
enum { N_CODE = 64, N_KEPT = 4096, N_WORDS = 256, N_FRAMES = 16, N_FAULTS = 8, N_OWN = 256, N_NAMES = 4096 };
enum { TABLE_BRANCH = 0xE8DF };
enum { ABOVE_CALLER = 512 }; // bytes of stack above the speaker's frame that a callee may use

// What follows some words: pairs of an address and 2 * nbytes + (1 if it may be written).
typedef enum {
    LOCK, // none: from here on all is watched
    KEEP, // pairs that may be read at any time
    ENTER, // pairs of a call: nothing else may be touched until it is left, or until the next ENTER
    LEAVE, // none
    VIEW, // none: a view beyond its buffer was made, which ends QEMU
    NAME, // an address from which on code lies, and what it is called: 4 characters a word
} Command;

typedef struct {
    uint64_t start, nbytes;
    bool writable;
} Range;

typedef struct {
    uint64_t start;
    char text[4 * N_WORDS];
} Name;

typedef struct {
    Range ranges[N_WORDS / 2];
    size_t n;
    Range stack;
} Frame;

static Range code[N_CODE], kept[N_KEPT], stack;
static size_t n_code, n_kept, n_faults, n_words, n_own, n_frames, n_names;
static Frame frames[N_FRAMES];
static Name names[N_NAMES];
static uint64_t faults[N_FAULTS], own[N_OWN], box, speaker = 0;
static uint64_t own_first = UINT64_MAX, own_last;
static uint32_t words[N_WORDS], word;
static bool goes_on, locked, is_arm, is_xtensa;
static const char *report_path = "/dev/stderr";
static uint64_t last_pc, last_address;

static void write_ranges(FILE *report, const Frame *f) {
    for (size_t i = 0; i <= f->n; i++) {
        const Range *r = i < f->n ? &f->ranges[i] : &f->stack;
        fprintf(report, "the call may %s 0x%" PRIx64 " .. 0x%" PRIx64 "%s\n", r->writable ? "use" : "read",
            r->start, r->start + r->nbytes, i < f->n ? "" : ", the stack");
    }
}

static void write_report(const char *what) {
    FILE *report = fopen(report_path, "a");
    if (report) {
        if (n_frames && !goes_on) {
            write_ranges(report, &frames[n_frames - 1]);
        }
        fprintf(report, "%s\n", what);
        fclose(report);
    }
}

static __attribute__((noreturn)) void stop(const char *what) {
    write_report(what);
    _exit(STATUS);
}

static bool covers(const Range *r, uint64_t address, unsigned nbytes) {
    return address - r->start <= r->nbytes && nbytes <= r->nbytes - (address - r->start);
}

static bool any_covers(const Range *r, size_t n, uint64_t address, unsigned nbytes, bool store) {
    for (size_t i = 0; i < n; i++) {
        if ((!store || r[i].writable) && covers(&r[i], address, nbytes)) {
            return true;
        }
    }
    return false;
}

static bool is_own(uint64_t pc) {
    if (pc < own_first || pc > own_last) {
        return false;
    }
    for (size_t i = 0; i < n_own; i++) {
        if (own[i] == pc) {
            return true;
        }
    }
    return false;
}

static void add_pairs(Range *to, size_t *n, size_t limit) {
    for (size_t i = 0; i + 1 < n_words; i += 2) {
        if (*n == limit) {
            stop("broken: too many ranges");
        }
        to[(*n)++] = (Range){words[i], words[i + 1] >> 1, words[i + 1] & 1};
    }
}

static void enter(void) {
    if (n_frames == N_FRAMES) {
        stop("broken: too many calls in one another");
    }
    Frame *f = &frames[n_frames++];
    f->n = 0;
    add_pairs(f->ranges, &f->n, N_WORDS / 2);
    uint64_t end = speaker + ABOVE_CALLER, top = stack.start + stack.nbytes;
    f->stack = (Range){stack.start, (end < top ? end : top) - stack.start, true};
}

static void add_name(void) {
    if (n_names == N_NAMES || !n_words) {
        stop("broken: too many names");
    }
    Name *name = &names[n_names++];
    *name = (Name){.start = words[0]};
    memcpy(name->text, &words[1], 4 * (n_words - 1));
}

// Of the code there: what begins last before it, and how far.
static void describe(char *text, size_t n, uint64_t pc) {
    const Name *best = NULL;
    for (size_t i = 0; i < n_names; i++) {
        if (names[i].start <= pc && (!best || names[i].start >= best->start)) {
            best = &names[i];
        }
    }
    if (best) {
        snprintf(text, n, "%s + 0x%" PRIx64, best->text, pc - best->start);
    } else {
        snprintf(text, n, "the code at 0x%" PRIx64, pc);
    }
}

static void command(uint64_t which) {
    switch (which) {
    case LOCK:
        locked = true;
        break;
    case KEEP:
        add_pairs(kept, &n_kept, N_KEPT);
        break;
    case ENTER:
        enter();
        break;
    case LEAVE:
        if (!n_frames) {
            stop("broken: a call is left that was not entered");
        }
        n_frames--;
        break;
    case VIEW:
        stop("stray view beyond its buffer");
    case NAME:
        add_name();
        break;
    default:
        stop("broken: an unknown command");
    }
    n_words = 0;
    speaker = 0;
}

static void hear(uint64_t offset) {
    uint64_t field = offset / FIELD, value = offset % FIELD;
    if (offset >= COMMANDS) {
        command(offset - COMMANDS);
    } else if (field == 0) {
        word = value;
    } else if (field == 1) {
        word |= (uint32_t)value << 12;
    } else if (n_words == N_WORDS) {
        stop("broken: too many words");
    } else {
        words[n_words++] = word | (uint32_t)value << 24;
    }
}

// The function that speaks: what it reads of the box, and how far down the stack it goes.
static void own_access(uint64_t pc, uint64_t address) {
    if (!is_own(pc)) {
        if (n_own == N_OWN) {
            stop("broken: the function that speaks is too long");
        }
        own[n_own++] = pc;
        own_first = pc < own_first ? pc : own_first;
        own_last = pc > own_last ? pc : own_last;
    }
    if (address - box < BOX_NBYTES) {
        hear(address - box);
    } else if (address - stack.start < stack.nbytes ) {
        speaker = address;
    }
}

static bool allowed(uint64_t address, unsigned nbytes, bool store) {
    if (n_frames) {
        const Frame *f = &frames[n_frames - 1];
        if (any_covers(f->ranges, f->n, address, nbytes, store)
            || any_covers(&f->stack, 1, address, nbytes, store)) {
            return true;
        }
    }
    return any_covers(kept, n_kept, address, nbytes, store);
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    uint64_t pc = (uintptr_t)data;
    unsigned nbytes = 1u << qemu_plugin_mem_size_shift(info);
    bool store = qemu_plugin_mem_is_store(info);
    last_pc = pc;
    last_address = address;
    if (!locked || is_own(pc)) {
        own_access(pc, address);
        return;
    }
    if (allowed(address, nbytes, store)) {
        return;
    }
    char text[512], code[320];
    describe(code, sizeof code, pc);
    snprintf(text, sizeof text, "stray %s of %u bytes at 0x%" PRIx64 " by %s%s",
        store ? "write" : "read", nbytes, address, code, n_frames ? "" : ", outside of a call");
    if (!goes_on) {
        stop(text);
    }
    write_report(text);
}

// tbb, tbh: the table is behind the instruction, its longest 256 entries.
static void on_branch(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    unsigned nbytes = 1u << qemu_plugin_mem_size_shift(info);
    if (address - ((uintptr_t)data + 4) >= 256 * nbytes) {
        on_access(vcpu, info, address, data);
    }
}

static void on_fault(unsigned vcpu, void *data) {
    char text[512], code[320];
    describe(code, sizeof code, last_pc);
    snprintf(text, sizeof text, "fault, after an access of 0x%" PRIx64 " by %s", last_address, code);
    stop(text);
}

static bool is_firmware(uint64_t pc) {
    return any_covers(code, n_code, pc, 1, false);
}

static uint16_t first_half(struct qemu_plugin_insn *insn) {
    uint16_t first;
#if PLUGIN_API < 3
    memcpy(&first, qemu_plugin_insn_data(insn), sizeof first);
#else
    qemu_plugin_insn_data(insn, &first, sizeof first);
#endif
    return first;
}

// A load from a place that the instruction itself gives: it can only go where the emitter meant.
static bool is_literal(uint16_t first) {
    if (is_arm) { // ldr rt, [pc, n] of 16 and of 32 bits; vldr
        return (first & 0xF800) == 0x4800 || (first & 0xFF7F) == 0xF85F || (first & 0xFF3F) == 0xED1F;
    }
    return is_xtensa && (first & 15) == 1; // l32r
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t pc = qemu_plugin_insn_vaddr(insn);
        for (size_t k = 0; k < n_faults; k++) {
            if (pc == faults[k]) {
                qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fault, NO_REGISTERS, NULL);
            }
        }
        if (is_firmware(pc) || is_literal(first_half(insn))) {
            continue;
        }
        bool branches = is_arm && first_half(insn) == TABLE_BRANCH;
        qemu_plugin_register_vcpu_mem_cb(insn, branches ? on_branch : on_access, NO_REGISTERS,
            READS_AND_WRITES, (void *)(uintptr_t)pc);
    }
}

static Range pair(const char *text) {
    char *end;
    uint64_t start = strtoull(text, &end, 0);
    return (Range){start, *end == ':' ? strtoull(end + 1, NULL, 0) : 0, false};
}

static bool option(const char *name, const char *value) {
    if (!strcmp(name, "report")) {
        report_path = strdup(value);
    } else if (!strcmp(name, "goes_on")) {
        goes_on = true;
    } else if (!strcmp(name, "box")) {
        box = pair(value).start;
    } else if (!strcmp(name, "stack")) {
        stack = pair(value);
    } else if (!strcmp(name, "fault") && n_faults < N_FAULTS) {
        faults[n_faults++] = pair(value).start;
    } else if (!strcmp(name, "code") && n_code < N_CODE) {
        code[n_code++] = pair(value);
    } else if (!strcmp(name, "keep") && n_kept < N_KEPT) {
        kept[n_kept++] = pair(value);
    } else {
        return false;
    }
    return true;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    is_arm = !strcmp(info->target_name, "arm");
    is_xtensa = !strcmp(info->target_name, "xtensa");
    for (int i = 0; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) {
            return 1;
        }
        *value = 0;
        if (!option(argv[i], value + 1)) {
            fprintf(stderr, "watch: %s\n", argv[i]);
            return 1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
