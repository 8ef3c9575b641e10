GUARD_DIR := $(USERMOD_DIR)
SRC_USERMOD_C += $(GUARD_DIR)/guard.c
LDFLAGS_USERMOD += -Wl,--wrap=gc_alloc -Wl,--wrap=gc_realloc
# The source stays as it is: only the macros that this one file takes its items from are others.
$(BUILD)/py/objarray.o: private CFLAGS += -include $(GUARD_DIR)/items.h
