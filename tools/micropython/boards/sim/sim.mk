# What the boards on QEMU's Xtensa machine share; they set CORE before.
QEMU_ARCH = xtensa
# The name it gives itself; of QEMU's options nothing is needed here.
QEMU_MACHINE = sim-$(CORE)
CROSS_COMPILE = xtensa-lx106-elf-

SIM = $(BOARD_DIR)/../sim
CFLAGS += -mlongcalls -mtext-section-literals -I$(SIM) -DMP_CONFIGFILE='<mpconfig.h>'
CFLAGS += -DMICROPY_HW_MCU_NAME='"$(CORE)"'
LDFLAGS += -nostdlib -Wl,--wrap=mp_hal_stdio_poll -Wl,--wrap=mp_stack_set_limit
LDSCRIPT = $(SIM)/memory.ld

SRC_C += board.c integers.c floats.c
SRC_BOARD_O += shared/runtime/gchelper_generic.o
vpath %.c $(SIM)
vpath %.S $(SIM)
# gcc must not see a helper in the helper's own code, and call it.
$(BUILD)/integers.o $(BUILD)/floats.o: CFLAGS += -fno-builtin -O2
