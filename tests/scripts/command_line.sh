#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the command says about its command line, and how it ends. The texts are nvlink's. Writes into
# the folder that it is started in; scripts/test gives every script one of its own.
set -euo pipefail

golden="$DEVLINK_SOURCE/tests/golden"
input="$golden/constants.sm_80.1.cubin"
second="$golden/constants.sm_80.2.cubin"
recursive="$golden/recursion.sm_80"
failures=0

complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

# expect STATUS TEXT ARGUMENT...: runs devlink; TEXT must be in its output.
expect() {
  local wanted="$1" text="$2" status=0
  shift 2
  "$DEVLINK" "$@" >out.txt 2>&1 || status=$?
  [[ $status -eq $wanted ]] || complain "devlink $*: status $status, expected $wanted: $(<out.txt)"
  [[ -z $text ]] || grep -qF -- "$text" out.txt || complain "devlink $*: no '$text' in: $(<out.txt)"
}

fatal() {
  local text="$1"
  shift
  expect 1 "devlink fatal   : $text" "$@"
  [[ ! -e a.out && ! -e x.cubin ]] || complain "devlink $*: left a file"
}

fatal "Unknown arch name '(null)'" -o x.cubin "$input"
fatal "Unknown arch name '(null)'"
fatal "Must specify output file with -o option" -arch=sm_80 "$input"
fatal "No input files specified; use option --help for more information" -arch=sm_80 -o x.cubin
fatal "Unknown option 'nonsense'" -arch=sm_80 -nonsense -o x.cubin "$input"
fatal "Unknown option '-nonsense'" -arch=sm_80 --nonsense -o x.cubin "$input"
fatal "Value '32' is not defined for option 'machine'" -arch=sm_80 -m32 -o x.cubin "$input"
fatal "Value '32' is not defined for option 'machine'" -arch=sm_80 -m 32 -o x.cubin "$input"
fatal "Value 'sm_1' is not defined for option 'arch'" -arch=sm_1 -o x.cubin "$input"
fatal "Value '12.9' is not defined for option 'toolkit'" -arch=sm_80 --toolkit 12.9 -o x "$input"
fatal "argument expected after '-o'" -arch=sm_80 "$input" -o
fatal "argument expected after '-arch'" -arch
fatal "no argument expected after '-g'" -g=1 -arch=sm_80 -o x.cubin "$input"
fatal "Could not open input file 'nowhere.cubin'" -arch=sm_80 -o x.cubin nowhere.cubin

expect 0 "usage: devlink" -h
expect 0 "--output-file" --help
expect 0 "release 13.0" -V
expect 0 "devlink" --version

# Options in each of their forms give one file.
inputs=("$input")
[[ ! -e $second ]] || inputs+=("$second")
expect 0 "" -arch=sm_80 -o plain.cubin "${inputs[@]}"
expect 0 "" --arch sm_80 --output-file=long.cubin "${inputs[@]}"
cmp plain.cubin long.cubin || complain "--arch sm_80 --output-file=... gives other bytes"

# Options files: words in the place of the option, quoted as for a shell, files within files.
printf -- '-o\tfile.cubin\n"%s"' "${inputs[0]}" >one.txt
printf -- '-arch "sm"_80 --options-file=one.txt -w' >two.txt
expect 0 "" -optf two.txt "${inputs[@]:1}"
expect 0 "" -w -arch=sm_80 -o plain_w.cubin "${inputs[@]}"
cmp plain_w.cubin file.cubin || complain "-optf gives other bytes"
expect 0 "incompatible redefinition for option 'arch'" -arch=sm_75 -optf two.txt "${inputs[@]:1}"
rm -f file.cubin
printf -- '-optf self.txt' >self.txt
fatal "Could not open options file 'nowhere.txt'" -arch=sm_80 -optf one.txt,nowhere.txt
fatal "Too many options file opened 'self.txt'" -optf self.txt
fatal "argument expected after '-optf'" -arch=sm_80 -optf

expect 0 "incompatible redefinition for option 'arch', the last value of this option was used" \
  -arch=sm_90 -arch=sm_80 -o x.cubin "${inputs[@]}"
rm -f x.cubin

# An output that cannot be written.
mkdir directory
expect 1 "Could not open output file 'directory'" -arch=sm_80 -o directory "${inputs[@]}"
expect 1 "Could not open output file 'none/x.cubin'" -arch=sm_80 -o none/x.cubin "${inputs[@]}"
if [[ -c /dev/full ]]; then
  expect 1 "Could not write output file '/dev/full'" -arch=sm_80 -o /dev/full "${inputs[@]}"
fi
status=0
(ulimit -f 1 && exec "$DEVLINK" -arch=sm_80 -o large.cubin "${inputs[@]}") 2>message.txt || status=$?
[[ $status -eq 1 && ! -e large.cubin && $(<message.txt) == *"output file 'large.cubin'"*"too large"* ]] ||
  complain "a file that may not be larger: status $status, $(<message.txt)"
[[ -z $(ls directory) ]] || complain "a file was left in directory/"
expect 0 "" -arch=sm_80 -o /dev/null "${inputs[@]}"
[[ -c /dev/null ]] || complain "/dev/null is not a device any more"

# Warnings.
warning="cannot be statically determined"
recursive_inputs=("$recursive".*.cubin)
expect 0 "devlink warning : Stack size for entry function" -arch=sm_80 -o r.cubin \
  "${recursive_inputs[@]}"
grep -q "$warning" out.txt || complain "no stack warning"
for silent in -suppress-stack-size-warning -disable-infos; do
  expect 0 "" -arch=sm_80 "$silent" -o r.cubin "${recursive_inputs[@]}"
  [[ ! -s out.txt ]] || complain "$silent: $(<out.txt)"
done
rm -f r.cubin
expect 255 "devlink error   : Stack size for entry function" -arch=sm_80 -Werror -o r.cubin \
  "${recursive_inputs[@]}"
[[ ! -e r.cubin ]] || complain "-Werror left a file"
expect 0 "(target: sm_80)" -arch=sm_80 -report-arch -o r.cubin "${recursive_inputs[@]}"

# @file, and the program in nvlink's place under its name.
printf -- '-o at.cubin\n"%s"' "${inputs[0]}" >at.txt
expect 0 "" -arch=sm_80 @at.txt "${inputs[@]:1}"
cmp plain.cubin at.cubin || complain "@file gives other bytes"
ln -s "$DEVLINK" nvlink
status=0
./nvlink -arch=sm80 >out.txt 2>&1 || status=$?
[[ $status -eq 1 && $(head -1 out.txt) == "nvlink fatal   : Value 'sm80' is not "* ]] ||
  complain "called nvlink: $(<out.txt)"
grep -q "^devlink note    : did you mean 'sm_80'?" out.txt || complain "no hint: $(<out.txt)"
[[ $(./nvlink --version | sed -n 4p) == "Cuda compilation tools, release 13.0, V13.0.88" ]] ||
  complain "called nvlink, the version has another shape: $(./nvlink --version)"

# Documents and completions.
for form in markdown man bash zsh fish; do
  "$DEVLINK" --help-as=$form >help.$form || complain "no help as $form"
done
bash -n help.bash
complete_word() {
  bash -c '. ./help.bash; COMP_WORDS=(devlink "$@"); COMP_CWORD=$#; _devlink
    printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
[[ $(complete_word --outp) == --output-file ]] || complain "bash does not complete --outp"
[[ $(complete_word -o plain.c) == plain.cubin ]] || complain "bash does not complete files"
if command -v groff >/dev/null; then
  warnings="$(groff -man -Tascii -ww help.man 2>&1 >/dev/null)"
  [[ -z $warnings ]] || complain "the manual page: $warnings"
fi

# The report.
expect 0 "" -arch=sm_80 --report report.json -o p.cubin "${inputs[@]}"
python3 -c 'import json; r = json.load(open("report.json")); assert r["kernels"], r' ||
  complain "the report is not a JSON object with kernels"

# No temporary file is left anywhere.
leftover="$(find . -name '*.tmp')"
[[ -z $leftover ]] || complain "left behind: $leftover"

[[ $failures -eq 0 ]]
