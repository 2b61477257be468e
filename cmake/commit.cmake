# SPDX-License-Identifier: MIT OR GPL-2.0
# cmake -DSOURCE=dir -DOUT=file -P commit.cmake: write the commit that is built.
# Runs at each build; the file is touched only when the text changes.
set(commit "unknown")
find_program(GIT git)
if(GIT)
	execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD
		OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE
		RESULT_VARIABLE failed ERROR_QUIET)
	if(NOT failed)
		set(commit ${head})
		# Recorded results are no part of what is measured.
		execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain
			-- . ":(exclude)bench/results"
			OUTPUT_VARIABLE changes RESULT_VARIABLE failed ERROR_QUIET)
		if(failed OR NOT changes STREQUAL "")
			string(APPEND commit "-dirty")
		endif()
	endif()
endif()
set(text "#define WIC_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUT})
	file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
	file(WRITE ${OUT} "${text}")
endif()
