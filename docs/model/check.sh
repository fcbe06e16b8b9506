#!/usr/bin/env bash
# Checks every variant of the models with Spin and compares the number of errors with what the model's head says.
# Needs spin and gcc. A variant that must lose an update and does not is a failure as well.
set -euo pipefail
cd "$(dirname "$0")"
models=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # model, expected errors, flags…
	local model=$1 expected=$2 errors
	shift 2
	(cd "$work" && cp "$models/$model" . && spin -a "$@" "$model" >/dev/null && gcc -O2 -w -DSAFETY -o pan pan.c)
	errors=$(cd "$work" && ./pan -m100000 2>/dev/null | sed -n 's/.*errors: \([0-9]*\).*/\1/p')
	if [ "$errors" = "$expected" ]; then
		printf 'ok      %-12s %-22s errors: %s\n' "$model" "$*" "$errors"
	else
		printf 'FAILED  %-12s %-22s errors: %s, expected %s\n' "$model" "$*" "$errors" "$expected"
		failed=1
	fi
}

check fencing.pml 1
check fencing.pml 0 -DRAISE
check fencing.pml 0 -DRAISE -DLOSS
check redis.pml 1
check redis.pml 0 -DEQUAL
check redis.pml 0 -DEQUAL -DFAILOVER
check sql.pml 0
check sql.pml 1 -DVANISH
check sql.pml 0 -DVANISH -DOWN
exit "$failed"
