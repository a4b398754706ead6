#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The line that tells of a long link: on a terminal alone, after a moment, gone at the end. A program in ptxas's place
# takes its time, so no toolkit is needed.
set -euo pipefail

if ! command -v python3 >/dev/null; then
  echo "no python3"
  exit 77
fi
for speed in slow fast; do
  mkdir "$speed"
  cat >"$speed/ptxas" <<SH
#!/bin/sh
[ "\$1" != --version ] || { echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0; }
[ $speed = fast ] || /bin/sleep 2
echo 'ptxas fatal   : it was no good' >&2
exit 1
SH
  chmod +x "$speed/ptxas"
done
for name in a b; do
  printf '.version 9.0\n.target sm_80\n.address_size 64\n.func %s() { ret; }\n' "$name" >"$name.ptx"
done
cat >terminal.py <<'PYTHON'
import os
import pty
import signal
import subprocess
import sys
import time

failures = 0


def link(speed, *options, term="xterm", interrupt_at=None, stderr_is_pipe=False):
    """What a terminal of 60 columns receives, when its first byte came, how the link ended, and how long it took."""
    master, slave = pty.openpty()
    import fcntl, struct, termios
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    environment = {"PATH": f"{os.getcwd()}/{speed}", "TERM": term}
    if term is None:
        del environment["TERM"]
    begin = time.monotonic()
    process = subprocess.Popen(
        [os.environ["DEVLINK"], "-arch=sm_80", "--ptx-backend=ptxas", "a.ptx", "b.ptx", "-o", "x.cubin", *options],
        stdin=slave, stdout=slave, stderr=subprocess.PIPE if stderr_is_pipe else slave, env=environment,
        # Whoever runs the tests in the background may have them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.close(slave)
    text, first = b"", None
    source = process.stderr.fileno() if stderr_is_pipe else master
    while True:
        try:
            piece = os.read(source, 4096)
        except OSError:  # the terminal is closed
            break
        if not piece:
            break
        first = first or time.monotonic() - begin
        text += piece
        if interrupt_at is not None and interrupt_at in text:
            process.send_signal(signal.SIGINT)
            interrupt_at = None
    os.close(master)
    return text.decode(), first, process.wait(), time.monotonic() - begin


def visible(text):
    """The lines that stay, of a terminal that knows the end of a line, its beginning and how it is erased."""
    lines = [""]
    for part in text.replace("\r\n", "\n").split("\r\x1b[K"):
        head, *rest = part.split("\n")
        lines[-1] = head if part is not text else lines[-1] + head
        lines += rest
    return [line for line in lines if line]


def check(what, holds, *told):
    global failures
    if not holds:
        failures += 1
        print(what, *[repr(t) for t in told])


FATAL = ["ptxas fatal   : it was no good"]
for options in ([], ["--color=never"]):
    text, first, status, _ = link("slow", *options)
    check("a slow link tells of it", "\r\x1b[Kassembling 0 of 2: a.ptx" in text, text)
    check("after a moment", first is not None and first > 0.4, first)
    check("and leaves nothing of that", not any("assembling" in line for line in visible(text)), text)
    check("but its messages", any("it was no good" in line for line in visible(text)), text)
    check("and its status", status == 1, status)
    check("in lines that fit", max(map(len, text.split("\r\x1b[K")[1].splitlines() or [""])) < 60, text)
text, first, status, _ = link("slow", "--color=never")
check("without colours", "m" not in [p[-1:] for p in text.split("\x1b[")[1:]] and "\x1b[1" not in text, text)
# On a busy machine it may be slow.
text, first, status, took = link("fast")
check("a fast link tells nothing", took > 0.5 or ("assembling" not in text and "\x1b[K" not in text), text)
check("but its messages", any("it was no good" in line for line in visible(text)), text)
for term in ("dumb", None):
    text, first, status, _ = link("slow", term=term)
    check("nothing where no line can be erased", "assembling" not in text and "\x1b" not in text, text)
text, first, status, _ = link("slow", stderr_is_pipe=True)
check("nothing in a pipe", "assembling" not in text and "\x1b" not in text, text)
text, first, status, _ = link("slow", "--log")
check("nothing among lines of the log", "\r\x1b[K" not in text, text)
text, first, status, _ = link("slow", interrupt_at=b"assembling")
check("an interrupted link leaves nothing", "assembling" in text and text.endswith("\r\x1b[K"), text)
check("and ends by the signal", status == -signal.SIGINT, status)
print(failures, "failures")
sys.exit(failures != 0)
PYTHON
python3 terminal.py
