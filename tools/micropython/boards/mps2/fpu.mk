# What the boards with an FPU share; they set CORE before.
CFLAGS += $(CORE)
LDFLAGS += $(CORE) -Wl,--wrap=main
LDSCRIPT = $(BOARD_DIR)/memory.ld
SRC_C += start_fpu.c
vpath start_fpu.c $(BOARD_DIR)/../mps2
MPY_CROSS_FLAGS += -march=armv7emsp
