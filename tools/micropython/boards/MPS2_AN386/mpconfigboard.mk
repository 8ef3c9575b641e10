# A Cortex-M4 with a single-precision FPU.
QEMU_ARCH = arm
QEMU_MACHINE = mps2-an386

CORE = -mthumb -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard
CFLAGS += -DQEMU_SOC_MPS2 -DMICROPY_HW_MCU_NAME='"Cortex-M4F"'
SRC_BOARD_O = shared/runtime/gchelper_native.o shared/runtime/gchelper_thumb2.o
include $(BOARD_DIR)/../mps2/fpu.mk
