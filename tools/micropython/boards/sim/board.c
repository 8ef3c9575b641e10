// QEMU's Xtensa machine "sim" as a board of MicroPython's qemu port: console, clock, start, faults.
#include <stdint.h>
#include <stdlib.h>
#include "py/mpconfig.h"
#include "py/mphal.h"
#include "py/stream.h"
#include "uart.h"

enum { SYS_EXIT = 1, SYS_READ = 3, SYS_WRITE = 4, SYS_SELECT_ONE = 29 };
enum { STDIN = 0, STDOUT = 1, POLL_INPUT = 1 };
enum { FAULT_STATUS = 99, STACK_NBYTES = 256 * 1024 };

static int simcall(int number, int a, int b, int c) {
    register int r2 __asm("a2") = number;
    register int r3 __asm("a3") = a;
    register int r4 __asm("a4") = b;
    register int r5 __asm("a5") = c;
    __asm volatile ("simcall" : "+r" (r2), "+r" (r3) : "r" (r4), "r" (r5) : "memory");
    return r2;
}

void uart_init(void) {
}

// Waits for QEMU's own stdin; its end is the machine's.
int uart_rx_chr(void) {
    uint8_t c;
    int n = simcall(SYS_READ, STDIN, (int)&c, 1);
    if (n == 0) {
        exit(0);
    }
    return n == 1 ? c : UART_RX_NO_CHAR;
}

void uart_tx_strn(const char *text, size_t n) {
    while (n) {
        int written = simcall(SYS_WRITE, STDOUT, (int)text, n);
        if (written > 0) {
            text += written;
            n -= written;
        }
    }
}

void exit(int status) {
    for (;;) {
        simcall(SYS_EXIT, status, 0, 0);
    }
}

uintptr_t __wrap_mp_hal_stdio_poll(uintptr_t flags) {
    static uint32_t no_time[2];
    uintptr_t ready = flags & MP_STREAM_POLL_WR;
    if ((flags & MP_STREAM_POLL_RD)
        && simcall(SYS_SELECT_ONE, STDIN, POLL_INPUT, (int)no_time) > 0) {
        ready |= MP_STREAM_POLL_RD;
    }
    return ready;
}

// The core's cycle counter goes with the machine's time, at this rate.
#define MHZ 40

static uint64_t now(void) {
    static uint32_t last, wraps;
    uint32_t count;
    __asm volatile ("rsr.ccount %0" : "=a" (count));
    wraps += count < last;
    last = count;
    return (uint64_t)wraps << 32 | count;
}

// In units of 64 ns, which is what an instruction takes where instructions are counted.
mp_uint_t mp_hal_ticks_cpu(void) {
    return now() * 25 / 64;
}

mp_uint_t mp_hal_ticks_us(void) {
    return now() / MHZ;
}

mp_uint_t mp_hal_ticks_ms(void) {
    return now() / (1000 * MHZ);
}

uint64_t mp_hal_time_ns(void) {
    return now() * (1000 / MHZ);
}

void mp_hal_delay_us(mp_uint_t us) {
    uint64_t end = now() + (uint64_t)MHZ * us;
    while (now() < end) {
    }
}

void mp_hal_delay_ms(mp_uint_t ms) {
    mp_hal_delay_us(ms * 1000);
}

void __real_mp_stack_set_limit(mp_uint_t limit);

void __wrap_mp_stack_set_limit(mp_uint_t limit) {
    __real_mp_stack_set_limit(STACK_NBYTES);
}

int main(int argc, char **argv);

void sim_main(void) {
    exit(main(0, NULL));
}

// A misaligned access or an instruction that the core lacks: code that was generated wrong.
uint8_t sim_fault_stack[4096] __attribute__((used, aligned(16)));

void sim_fault(uint32_t cause, uint32_t pc, uint32_t address, uint32_t link, uint32_t sp) {
    mp_printf(&mp_plat_print, "\r\nfault: exccause %u pc 0x%08x excvaddr 0x%08x a0 0x%08x sp 0x%08x\r\n",
        (unsigned)cause, (unsigned)pc, (unsigned)address, (unsigned)link, (unsigned)sp);
    exit(FAULT_STATUS);
}
