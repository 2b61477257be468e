# SPDX-License-Identifier: MIT OR GPL-2.0
# One place for flags.  Every target of ours links wic_flags; what is installed
# carries none of them.
include(CheckCCompilerFlag)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
	set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Assertions stay on in what ships, so no NDEBUG.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
# Programs lie at the top of the build folder (build/wic), test programs in test-programs/.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

set(WIC_SANITIZE "" CACHE STRING "address,undefined | thread | empty")
option(WIC_WERROR "warnings are errors" ON)
set(WIC_TEST_TIMEOUT_FACTOR 1 CACHE STRING "multiplies the time limit of each test program")

add_library(wic_flags INTERFACE)
target_include_directories(wic_flags INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR})
target_compile_options(wic_flags INTERFACE
	-Wall -Wextra -Wconversion -Wshadow -Wswitch-enum -Wstrict-prototypes
	-Wmissing-prototypes -Wvla -Wno-sign-conversion -fno-omit-frame-pointer)
target_compile_definitions(wic_flags INTERFACE _GNU_SOURCE)
if(WIC_WERROR)
	target_compile_options(wic_flags INTERFACE -Werror)
endif()
if(WIC_SANITIZE)
	# A finding of UBSan ends the program, as one of ASan does.
	target_compile_options(wic_flags INTERFACE
		-fsanitize=${WIC_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(wic_flags INTERFACE -fsanitize=${WIC_SANITIZE})
	# What gcc defines by itself; clang only has __has_feature().
	if(CMAKE_C_COMPILER_ID MATCHES Clang)
		foreach(sanitizer address thread)
			if(WIC_SANITIZE MATCHES ${sanitizer})
				string(TOUPPER ${sanitizer} upper)
				target_compile_definitions(wic_flags INTERFACE __SANITIZE_${upper}__=1)
			endif()
		endforeach()
	endif()
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
	target_compile_definitions(wic_flags INTERFACE WIC_DEBUG=1)
endif()
# The fiber switch does not switch a shadow stack, so nothing may claim to support one.
check_c_compiler_flag(-fcf-protection=none WIC_HAVE_CF_PROTECTION)
if(WIC_HAVE_CF_PROTECTION)
	target_compile_options(wic_flags INTERFACE -fcf-protection=none)
endif()
find_package(Threads REQUIRED)

# wic_test(NAME SOURCES f... [LIBS l...] [LABELS l...] [ARGS a...] [TIMEOUT s])
# A test program in ctest; exit 77 is a skip.  Label quick (the default): `./run
# check` runs it under each sanitizer; full: `./run check-full`.
function(wic_test name)
	cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LIBS;LABELS;ARGS" ${ARGN})
	add_executable(${name} ${T_SOURCES})
	target_link_libraries(${name} PRIVATE wic_flags ${T_LIBS})
	set_target_properties(${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test-programs)
	# CMAKE_CROSSCOMPILING_EMULATOR, where the preset sets it, starts the program.
	add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 120)
	endif()
	math(EXPR T_TIMEOUT "${T_TIMEOUT} * ${WIC_TEST_TIMEOUT_FACTOR}")
	if(NOT T_LABELS)
		set(T_LABELS quick)
	endif()
	set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${T_TIMEOUT}
		LABELS "${T_LABELS}")
endfunction()
