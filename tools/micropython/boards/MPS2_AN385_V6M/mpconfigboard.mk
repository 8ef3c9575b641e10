# The Cortex-M3 board with code for ARMv6-M only, as the RP2040 runs it: firmware and emitters.
QEMU_ARCH = arm
QEMU_MACHINE = mps2-an385

CORE = -mthumb -mcpu=cortex-m0 -mfloat-abi=soft
CFLAGS += $(CORE)
CFLAGS += -DQEMU_SOC_MPS2 -DMICROPY_HW_MCU_NAME='"ARMv6-M"'
CFLAGS += -DMICROPY_EMIT_THUMB_ARMV7M=0 -DMICROPY_EMIT_INLINE_THUMB_FLOAT=0
LDFLAGS += $(CORE)

LDSCRIPT = mcu/arm/mps2.ld
SRC_BOARD_O = shared/runtime/gchelper_native.o shared/runtime/gchelper_thumb1.o
MPY_CROSS_FLAGS += -march=armv6m
