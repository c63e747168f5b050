"""Leaves out of PoCL's library of built-in functions, which is LLVM's bitcode, all that no kernel calls: every process that compiles
a kernel reads it all. LLVM is the one that PoCL brings along.

    pocl.py LIBPOCL FROM TO NAME...
"""

import ctypes
import re
import sys

LIBPOCL, FROM, TO, *NAMES = sys.argv[1:]
INTERNAL = 8


def llvm(name, *arguments, result=ctypes.c_void_p):
    """Calls a function of LLVM's, whose arguments are numbers, texts and handles."""
    function = getattr(LIBRARY, name)
    function.restype = result
    return function(*(ctypes.c_void_p(each) if isinstance(each, int) else each for each in arguments))


def is_kept(name):
    """Whether a kernel calls that function, or PoCL itself. A mangled name says how long the plain one is; macros put _cl_ before some."""
    mangled = re.match(r"_Z(\d+)", name)
    plain = name[mangled.end():][:int(mangled[1])].removeprefix("_cl_") if mangled else name
    return plain in NAMES or name == "printf" or name.startswith(("_pocl_", "__pocl_"))


LIBRARY = ctypes.CDLL(LIBPOCL)
buffer, module, message = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
if llvm("LLVMCreateMemoryBufferWithContentsOfFile", FROM.encode(), ctypes.byref(buffer), ctypes.byref(message), result=ctypes.c_int):
    sys.exit(f"{FROM} cannot be read")
if llvm("LLVMParseBitcode2", buffer, ctypes.byref(module), result=ctypes.c_int):
    sys.exit(f"{FROM} is no bitcode")
function = llvm("LLVMGetFirstFunction", module)
while function:
    if not llvm("LLVMIsDeclaration", function) and not is_kept(llvm("LLVMGetValueName", function, result=ctypes.c_char_p).decode()):
        llvm("LLVMSetLinkage", function, INTERNAL)
    function = llvm("LLVMGetNextFunction", function)
if llvm("LLVMRunPasses", module, b"globaldce", None, llvm("LLVMCreatePassBuilderOptions")):
    sys.exit("globaldce fails")
sys.exit(llvm("LLVMWriteBitcodeToFile", module, TO.encode(), result=ctypes.c_int))
