// A loop in a .mpy file is called like a function of viper: with the function object, the numbers
// of arguments and keywords, and their address. An entry converts the arguments (buffers or
// addresses) to pointers, calls the code behind it, and converts its result to an object.
//
// ARGUMENTS: number of the loop's arguments. `table` loads the address of the firmware's functions
// from the module's constants: its offset there is patched.

#include "../words.h"

#define SIGNATURE ((ARGUMENTS << 17) | (ARGUMENTS << 1))  // MP_OBJ_FUN_MAKE_SIG
#define IS_INT 2  // MP_NATIVE_TYPE_INT
#define IS_POINTER 4  // MP_NATIVE_TYPE_PTR

.set f_context, 4  // of mp_obj_fun_bc_t
.set m_obj_table, 12  // of mp_module_context_t
// Of mp_fun_table_t, of .mpy files of version 6.3.
.set t_native_from_obj, 12
.set t_native_to_obj, 16
.set t_arg_check_num_sig, 176
