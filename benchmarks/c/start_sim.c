// Program around a model on QEMU's Xtensa machine "sim"; start.c does the same on other boards.
// Start-up code and vectors are those of MicroPython's board (tools/micropython/boards/sim/window.S).
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "model.h"

enum { SYS_EXIT = 1, SYS_WRITE = 4, STDERR = 2, FAULT_STATUS = 99 };

static int simcall(int number, int a, int b, int c) {
    register int r2 __asm("a2") = number;
    register int r3 __asm("a3") = a;
    register int r4 __asm("a4") = b;
    register int r5 __asm("a5") = c;
    __asm volatile("simcall" : "+r"(r2), "+r"(r3) : "r"(r4), "r"(r5) : "memory");
    return r2;
}

static void print_hex(const uint8_t *bytes, unsigned n) {
    char text[2];
    for (unsigned i = 0; i < n; i++) {
        text[0] = "0123456789abcdef"[bytes[i] >> 4];
        text[1] = "0123456789abcdef"[bytes[i] & 15];
        simcall(SYS_WRITE, STDERR, (int)text, 2);
    }
    simcall(SYS_WRITE, STDERR, (int)"\n", 1);
}

static uint32_t now(void) {
    uint32_t count;
    __asm volatile("rsr.ccount %0" : "=a"(count));
    return count;
}

// Round to the nearest integer, halves to even.
float rintf(float x) {
    const float whole = 8388608.0f; // larger floats are integers
    if (!(x > -whole && x < whole)) {
        return x;
    }
    return x < 0.0f ? x - whole + whole : x + whole - whole;
}

uint8_t sim_fault_stack[4096] __attribute__((used, aligned(16)));

void sim_fault(void) {
    simcall(SYS_EXIT, FAULT_STATUS, 0, 0);
}

void sim_main(void) {
    run();
    uint32_t start = now();
    run();
    uint32_t ticks = now() - start;
    print_hex((const uint8_t *)&ticks, sizeof ticks);
    print_hex((const uint8_t *)OUTPUT, OUTPUT_NBYTES);
    simcall(SYS_EXIT, 0, 0, 0);
}
