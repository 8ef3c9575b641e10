// A plugin of QEMU that counts how often each block of Thumb instructions ran between two marks, and
// how often the branch at its end was taken.
//
//   -plugin blocks.so,report=FILE
//
// A mark is `mov r11, r11`, which no compiler writes: the first one starts, the second one ends
// the count and writes the file, a line for each block: address, runs, taken, bytes.

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is used of QEMU's interface for plugins (documented at qemu.org, "TCG Plugins"); Debian has
// no package with its header. PLUGIN_API: its version, from QEMU's.

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef void (*exec_cb_t)(unsigned vcpu, void *data);
typedef void (*trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
enum { NO_REGISTERS = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, trans_cb_t cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_cb_t cb, int registers,
    void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_cb_t cb,
    int registers, void *data);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
#if PLUGIN_API < 3
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#else
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *data, size_t n);
#endif

EXPORT int qemu_plugin_version = PLUGIN_API;

enum { MARK = 0x46DB, WIDE = 0xE800 };

typedef struct Block {
    struct Block *next;
    uint64_t start, end, runs, taken;
    uint8_t code[];
} Block;

static Block *blocks, *last;
static bool counting;
static const char *report_path = "/dev/stderr";

static void write_report(void) {
    FILE *report = fopen(report_path, "w");
    if (!report) {
        perror(report_path);
        exit(1);
    }
    for (const Block *b = blocks; b; b = b->next) {
        if (!b->runs) {
            continue;
        }
        fprintf(report, "%" PRIx64 " %" PRIu64 " %" PRIu64 " ", b->start, b->runs, b->taken);
        for (uint64_t i = 0; i < b->end - b->start; i++) {
            fprintf(report, "%02x", b->code[i]);
        }
        fputc('\n', report);
    }
    fclose(report);
}

static void on_mark(unsigned vcpu, void *data) {
    counting = !counting;
    last = NULL;
    if (!counting) {
        write_report();
    }
}

static void on_block(unsigned vcpu, void *data) {
    if (!counting) {
        return;
    }
    Block *b = data;
    if (last && last->end != b->start) {
        last->taken++;
    }
    b->runs++;
    last = b;
}

// QEMU's own size of an instruction is too large where it looked at the one behind it.
static size_t copy_of(const struct qemu_plugin_insn *insn, uint8_t *to) {
    uint16_t first = 0;
#if PLUGIN_API < 3
    const uint8_t *data = qemu_plugin_insn_data(insn);
#else
    uint8_t data[4] = {0};
    qemu_plugin_insn_data(insn, data, sizeof data);
#endif
    memcpy(&first, data, sizeof first);
    size_t n = first < WIDE ? 2 : 4;
    memcpy(to, data, n);
    return n;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    size_t n = qemu_plugin_tb_n_insns(tb), nbytes = 0;
    Block *b = calloc(1, sizeof *b + 4 * n);
    b->start = qemu_plugin_tb_vaddr(tb);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        size_t size = copy_of(insn, b->code + nbytes);
        if (size == 2 && (b->code[nbytes] | b->code[nbytes + 1] << 8) == MARK) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, NO_REGISTERS, NULL);
        }
        nbytes += size;
    }
    b->end = b->start + nbytes;
    b->next = blocks;
    blocks = b;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGISTERS, b);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "report=", 7)) {
            fprintf(stderr, "blocks: %s\n", argv[i]);
            return 1;
        }
        report_path = strdup(argv[i] + 7);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
