// The program around a model on a bare ARM board of QEMU: reset, one run for warming up, one that
// is counted, and what it found, through semihosting.
#include <stdint.h>
#include <string.h>

#include "model.h"

extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;
int main(void);

static int semihost(int operation, const void *argument) {
    register int r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

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
    semihost(0x18, (void *)0x20026);
    for (;;) {
    }
}

const uint32_t vectors[] __attribute__((section(".isr_vector"))) = {
    (uint32_t)&_estack, (uint32_t)reset,
};

// What tools/bench/timing/blocks.c counts lies between two of these.
#define MARK __asm volatile("mov r11, r11" ::: "memory")

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
