# A Cortex-M33 with a single-precision FPU. Its peripherals lie elsewhere than on the other boards.
QEMU_ARCH = arm
QEMU_MACHINE = mps2-an505

CORE = -mthumb -mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=softfp
CFLAGS += -DQEMU_SOC_MPS2 -DMICROPY_HW_MCU_NAME='"Cortex-M33"' -DBOARD_UART=0x50200000
LDFLAGS += -Wl,--wrap=uart_init -Wl,--wrap=uart_rx_chr -Wl,--wrap=uart_tx_strn
SRC_BOARD_O = shared/runtime/gchelper_generic.o
include $(BOARD_DIR)/../mps2/fpu.mk
