#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Which of the driver's own tests no table of builtin_*.c names.
#
#	builtin_list.sh FOLDER/uvm_test_ioctl.h
#
# Prints their names; returns 1 if there are any, 2 if the header has none at all.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
names=$(sed -n 's/^#define UVM_TEST_\([A-Z0-9_]*\) *UVM_TEST_IOCTL_BASE([0-9]*).*/\1/p' "$1")
[[ -n $names ]] || exit 2
rc=0
for name in $names; do
	grep -qE "(\"|\+|CALL\()$name(\"|\+|,)" "$here"/builtin_c*.c || { echo "$name" && rc=1; }
done
exit $rc
