# SPDX-License-Identifier: MIT OR GPL-2.0
# GPU code, where nvcc is found: images that programs carry in themselves.  The CUDA language of
# CMake is not enabled: the host's half is plain C, and everything builds without nvcc.
#
# WIC_CUDA_ARCHS: what is compiled for, the last one as PTX too.  Some 5 s an image with all
# three; -DWIC_CUDA_ARCHS=90 for daily work, "" for no GPU code.
set(WIC_CUDA_ARCHS "75;80;90" CACHE STRING "compute capabilities of GPU code, without a dot")
find_program(WIC_NVCC NAMES nvcc HINTS /usr/local/cuda/bin $ENV{CUDA_HOME}/bin)

# The same in each build, so not again under each sanitizer.
set(WIC_HAS_CUDA OFF)
if(WIC_NVCC AND WIC_CUDA_ARCHS AND NOT WIC_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
	set(WIC_HAS_CUDA ON)
elseif(NOT WIC_NVCC)
	message(STATUS "nvcc not found: programs have no GPU code")
endif()

set(WIC_CUDA_CODE)
foreach(arch ${WIC_CUDA_ARCHS})
	list(APPEND WIC_CUDA_CODE -gencode arch=compute_${arch},code=sm_${arch})
endforeach()
if(WIC_CUDA_ARCHS)
	list(GET WIC_CUDA_ARCHS -1 arch)
	list(APPEND WIC_CUDA_CODE -gencode arch=compute_${arch},code=compute_${arch})
endif()
# No float is contracted, as in the C build: results agree to the bit.  -lineinfo: profilers.
set(WIC_CUDA_FLAGS -std=c++17 -O3 -fmad=false -lineinfo -I${CMAKE_SOURCE_DIR}/include
	-I${CMAKE_SOURCE_DIR} -Werror all-warnings)

# wic_fatbin(OUT source [option...]): compile the kernels of a source to the file OUT.
function(wic_fatbin out source)
	wic_fatbin_of("${WIC_CUDA_CODE}" ${out} ${source} ${ARGN})
endfunction()

# The same for WIC_PARK=sleep: PTX of compute_80, which any later GPU compiles for itself.
function(wic_fatbin_sleep out source)
	wic_fatbin_of("-gencode;arch=compute_80,code=compute_80" ${out} ${source} ${ARGN})
endfunction()

function(wic_fatbin_of code out source)
	add_custom_command(OUTPUT ${out}
		COMMAND ${WIC_NVCC} ${WIC_CUDA_FLAGS} ${code} ${ARGN} -fatbin
			-MD -MF ${out}.d -MT ${out} -x cu ${source} -o ${out}
		DEPENDS ${source} DEPFILE ${out}.d VERBATIM
		COMMENT "GPU code ${out}")
endfunction()
