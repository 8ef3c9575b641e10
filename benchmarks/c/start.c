// Program around a model on a bare ARM or RISC-V board in QEMU: resets the core, runs the model once
// to warm up and once to count, and prints count and output by semihosting.
#include <stdint.h>
#include <string.h>

#include "model.h"

extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;
int main(void);

#if defined(__arm__)
// tools/bench/timing/blocks.c counts what runs between two of these.
#define MARK __asm volatile("mov r11, r11" ::: "memory")

static int semihost(int operation, const void *argument) {
    register int r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
#else
#define MARK

static int semihost(int operation, const void *argument) {
    register int a0 __asm("a0") = operation;
    register const void *a1 __asm("a1") = argument;
    __asm volatile(
        ".option push\n.option norvc\n.balign 16\n"
        "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
        : "+r"(a0) : "r"(a1) : "memory");
    return a0;
}
#endif

static void print_hex(const uint8_t *bytes, unsigned n) {
    char text[3] = {0};
    for (unsigned i = 0; i < n; i++) {
        text[0] = "0123456789abcdef"[bytes[i] >> 4];
        text[1] = "0123456789abcdef"[bytes[i] & 15];
        semihost(4, text);
    }
    semihost(4, "\n");
}

void reset(void) {
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;
    __asm volatile("dsb\nisb");
#endif
    memcpy(&_sdata, &_sidata, (char *)&_edata - (char *)&_sdata);
    memset(&_sbss, 0, (char *)&_ebss - (char *)&_sbss);
    main();
#if defined(__arm__)
    semihost(0x18, (void *)0x20026);
#else
    semihost(0x18, (uint32_t[]){0x20026, 0});
#endif
    for (;;) {
    }
}

#if defined(__arm__)
const uint32_t vectors[] __attribute__((section(".isr_vector"))) = {
    (uint32_t)&_estack, (uint32_t)reset,
};
#else
__asm(".section .isr_vector, \"ax\"\n.globl _start\n_start: la sp, _estack\nj reset\n.previous");
#endif

int main(void) {
    volatile uint32_t *counter = (volatile uint32_t *)COUNTER;
    run();
    uint32_t start = *counter;
    MARK;
    run();
    MARK;
    uint32_t ticks = *counter - start;
    print_hex((const uint8_t *)&ticks, sizeof ticks);
    print_hex((const uint8_t *)OUTPUT, OUTPUT_NBYTES);
}
