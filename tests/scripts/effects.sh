#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a run leaves behind: files, folders and processes, whatever ends it and wherever its standard
# streams lead.
set -euo pipefail

golden="$DEVLINK_SOURCE/tests/golden"
inputs=("$golden"/constants.sm_80.1.cubin "$golden"/constants.sm_80.2.cubin)
failures=0

complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

# --- Standard streams --------------------------------------------------------------------------------

"$DEVLINK" -arch=sm_80 -o plain.cubin "${inputs[@]}"

# Closed ones: the first files that the program opens would get their numbers.
recursive=("$golden"/recursion.sm_80.*.cubin)
"$DEVLINK" -arch=sm_80 -o r.cubin "${recursive[@]}" 2>/dev/null
"$DEVLINK" -arch=sm_80 -o closed.cubin --report=closed.json "${recursive[@]}" <&- >&- 2>&- ||
  complain "with closed streams: status $?"
cmp r.cubin closed.cubin || complain "with closed streams the output is another"
python3 -m json.tool closed.json >/dev/null || complain "with closed streams the report is damaged"

# Full ones, and one whose reader has left. What was printed is lost, and that shows in the status.
if [[ -c /dev/full ]]; then
  status=0
  "$DEVLINK" --help >/dev/full 2>message.txt || status=$?
  [[ $status -eq 1 ]] || complain "--help >/dev/full: status $status"
  grep -q "Could not write to standard output" message.txt || complain "no message: $(<message.txt)"
  "$DEVLINK" -arch=sm_80 -o full.cubin "${recursive[@]}" 2>/dev/full ||
    complain "2>/dev/full: status $?"
  cmp r.cubin full.cubin || complain "with a full stderr the output is another"
fi
status=0
("$DEVLINK" --help; echo $? >status.txt) 2>/dev/null | true || true
sleep 0.1
[[ $(<status.txt) -le 1 ]] || complain "--help | true: status $(<status.txt)"

# --- Signals -----------------------------------------------------------------------------------------

# An assembler that says where it is, and takes its time.
mkdir tools temporary
cat >tools/ptxas <<'SH'
#!/bin/sh
if [ "$1" = --version ]; then echo 'release 13.0, V13.0.88'; exit 0; fi
echo $$ >"$TMPDIR/pid.new"
mv "$TMPDIR/pid.new" "$TMPDIR/pid"
exec sleep 600
SH
cp tools/ptxas tools/nvlink
chmod +x tools/ptxas tools/nvlink
printf '.version 8.0\n.target sm_80\n.address_size 64\n' >a.ptx

alive() { [[ -d /proc/$1 ]] && ! grep -q 'State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

# interrupt SIGNAL WORD...: sends it to a link that waits for its assembler or finalizer.
interrupt() {
  local signal="$1" linker child status=0
  shift
  rm -rf temporary/*
  # Whoever runs this may ignore SIGHUP.
  env --default-signal PATH="$PWD/tools:/usr/bin:/bin" TMPDIR="$PWD/temporary" "$DEVLINK" \
    -o killed.cubin --report=killed.json "$@" 2>killed.txt &
  linker=$!
  for _ in {1..600}; do
    child="$(cat temporary/*/pid 2>/dev/null)" && break
    sleep 0.1
  done
  kill "-$signal" "$linker"
  wait "$linker" || status=$?
  [[ $status -eq $((128 + $(kill -l "$signal"))) ]] || complain "$signal: status $status"
  for _ in {1..100}; do
    alive "$child" || break
    sleep 0.1
  done
  if alive "$child"; then
    complain "$signal, $*: the child is still there"
    kill -KILL "$child"
  fi
  [[ ! -e killed.cubin && ! -e killed.json ]] || complain "$signal: left an output"
}

# In a script, what runs behind is deaf to SIGINT.
assembling=(-arch=sm_80 --ptx-backend ptxas a.ptx)
finalizing=(-arch=sm_100 --nvlink-path="$PWD/tools/nvlink" "$DEVLINK_SOURCE"/tests/golden/mercury/{first,second}.cubin)
for signal in TERM HUP; do
  interrupt "$signal" "${assembling[@]}"
  [[ -z $(ls temporary) ]] || complain "$signal: left $(find temporary)"
  interrupt "$signal" "${finalizing[@]}"
  [[ -z $(ls temporary) ]] || complain "$signal, finalizing: left $(find temporary)"
done
interrupt KILL "${assembling[@]}"
interrupt KILL "${finalizing[@]}"

# --- Tools -------------------------------------------------------------------------------------------

# Those of the folder in which the linker happens to run are not its own, whatever PATH says.
printf '#!/bin/sh\necho ran >here.txt\n' >ptxas
chmod +x ptxas
for path in "" . .:/usr/bin ./; do
  status=0
  env PATH="$path" "$DEVLINK" -arch=sm_80 --ptx-backend ptxas -o x.cubin a.ptx 2>/dev/null ||
    status=$?
  [[ $status -eq 1 && ! -e here.txt ]] || complain "PATH='$path': status $status, $(ls here.txt)"
done

[[ $failures -eq 0 ]]
