# SPDX-License-Identifier: MIT OR GPL-2.0
# Toolchain file of preset aarch64: Debian's and Ubuntu's gcc-aarch64-linux-gnu with
# libc6-dev-arm64-cross; its programs are started by qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

# What lies in the host's own folders is for another machine.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Package qemu-user or qemu-user-static; a name that may come to be there later, for neither.
find_program(WIC_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(NOT WIC_QEMU_AARCH64)
	set(WIC_QEMU_AARCH64 qemu-aarch64)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR ${WIC_QEMU_AARCH64} -L /usr/aarch64-linux-gnu)
