// Runs before MicroPython's main: the FPU is off after reset. And, where the board has its UART
// at another address than the port knows (BOARD_UART), a driver for it.
#include <stddef.h>
#include <stdint.h>

#define CPACR (*(volatile uint32_t *)0xE000ED88)

int __real_main(int argc, char **argv);

int __wrap_main(int argc, char **argv) {
    CPACR |= 0xFu << 20; // full access to coprocessors 10 and 11
    __asm volatile ("dsb\nisb");
    return __real_main(argc, argv);
}

#ifdef BOARD_UART
enum { DATA, STATE, CTRL, UNUSED, BAUDDIV }; // words of a CMSDK UART
enum { TX_FULL = 1, RX_FULL = 2, TX_ENABLE = 1, RX_ENABLE = 2, FASTEST = 16 };
static volatile uint32_t *const uart = (volatile uint32_t *)BOARD_UART;

void __wrap_uart_init(void) {
    uart[BAUDDIV] = FASTEST;
    uart[CTRL] = TX_ENABLE | RX_ENABLE;
}

int __wrap_uart_rx_chr(void) {
    return uart[STATE] & RX_FULL ? (int)uart[DATA] : -1;
}

void __wrap_uart_tx_strn(const char *text, size_t n) {
    for (; n; --n) {
        while (uart[STATE] & TX_FULL) {
        }
        uart[DATA] = *text++;
    }
}
#endif
