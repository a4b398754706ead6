# SPDX-License-Identifier: Apache-2.0
"""Opens the page of a report in a headless Chromium and uses it as a person would.

    browser.py CHROMIUM PAGE FOLDER WORD | inspect

The page is that of a link, some functions of which have the WORD in their names, or that of
devlink-inspect (tests/scripts/inspect.sh says of which file).
Screenshots go to FOLDER. Exits with 1 and says what is wrong with the page.
"""

import base64
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import time
import urllib.request

CHROMIUM, PAGE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
WORD = sys.argv[4]
IS_LINK = WORD != "inspect"


class Page:
    """A page, by Chromium's DevTools protocol, which is JSON over a web socket."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        greeting = b""
        while not greeting.endswith(b"\r\n\r\n"):
            greeting += self._read(1)
        self.calls = 0
        self.events = []

    def _read(self, size):
        out = b""
        while len(out) < size:
            piece = self.socket.recv(size - len(out))
            if not piece:
                raise EOFError("the browser is gone")
            out += piece
        return out

    def _receive(self):
        out = b""
        while True:
            first, second = self._read(2)
            size = second & 127
            if size == 126:
                size = struct.unpack("!H", self._read(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self._read(8))[0]
            out += self._read(size)
            if first & 0x80:
                return json.loads(out)

    def call(self, method, **params):
        self.calls += 1
        data = json.dumps({"id": self.calls, "method": method, "params": params}).encode()
        mask = os.urandom(4)
        head = b"\x81"
        if len(data) < 126:
            head += struct.pack("!B", 0x80 | len(data))
        else:
            head += struct.pack("!BH", 0xFE, len(data))
        self.socket.sendall(head + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(data)))
        while True:
            answer = self._receive()
            if answer.get("id") == self.calls:
                return answer.get("result", {})
            self.events.append(answer)

    def eval(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            fail(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def press(self, key, text=None):
        shape = {"key": key}
        if text:
            shape["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **shape)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def shoot(self, name):
        picture = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        (FOLDER / name).write_bytes(picture)
        return picture


def fail(what):
    print(what)
    sys.exit(1)


def expect(holds, what):
    if not holds:
        fail(what)


def connect(profile):
    port_file = profile / "DevToolsActivePort"
    for _ in range(300):
        if port_file.exists() and port_file.read_text().count("\n"):
            port = port_file.read_text().split("\n")[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=20) as tabs:
                for tab in json.load(tabs):
                    if tab["type"] == "page":
                        return Page(tab["webSocketDebuggerUrl"])
        time.sleep(0.1)
    sys.exit(77)  # a browser that does not start says nothing of the page


def open_page(page, width, scheme):
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=width < 500,
    )
    page.call(
        "Emulation.setEmulatedMedia",
        features=[{"name": "prefers-color-scheme", "value": scheme}],
    )
    page.call("Page.navigate", url=PAGE.as_uri())
    for _ in range(100):
        if page.eval("document.readyState === 'complete' && document.querySelector('tbody tr') !== null"):
            return
        time.sleep(0.1)
    fail("no row appears in the table")


def use(page):
    """Tabs, search, rows, and what is told of them, all by keys."""
    expect(page.eval("document.querySelectorAll('[role=tab]').length") == 7, "there are seven parts")
    page.press("/", "/")
    expect(page.eval("document.activeElement.id") == "search", "/ goes to the search")
    page.eval(f"document.getElementById('search').value = '{WORD}'; document.getElementById('search').oninput()")
    page.eval("document.getElementById('tab1').click()")
    found, of = page.eval("document.getElementById('count').textContent").replace(",", "").split(" of ")
    expect(0 < int(found) < int(of), "the search finds some functions")
    expect(
        page.eval(f"[...document.querySelectorAll('tbody tr')].every((r) => r.textContent.includes('{WORD}'))"),
        "the search shows nothing else",
    )
    page.eval("document.getElementById('search').focus()")
    page.press("ArrowDown")
    page.press("Enter")
    expect(page.eval(f"document.querySelector('#detail h2').textContent.includes('{WORD}')"), "Enter opens a row")
    expect(page.eval("document.querySelector('#detail').textContent.includes('Why it is there')"), "it says why")
    page.press("Escape")
    expect(page.eval("document.getElementById('detail').childElementCount") == 0, "Escape closes it")
    page.eval("document.getElementById('search').value = ''; document.getElementById('tab0').focus()")
    for name in ("Functions", "Bytes", "Variables", "Inputs", "Sections", "Messages"):
        page.press("ArrowRight")
        expect(page.eval("document.querySelector('[aria-selected=true]').textContent") == name, f"an arrow leads to {name}")
        expect(page.eval("document.getElementById('panel').childElementCount") > 0, f"{name} is empty")
        if name == "Bytes":
            expect(page.eval("document.querySelectorAll('svg rect').length") > 2, "there is a picture of bytes")


def search(page, text):
    page.press("/", "/")
    expect(page.eval("document.activeElement.id") == "search", "/ goes to the search")
    page.eval(f"document.getElementById('search').value = {json.dumps(text)}; document.getElementById('search').oninput()")


def tab(page, name):
    page.eval(f"[...document.querySelectorAll('[role=tab]')].find((t) => t.textContent === {json.dumps(name)}).click()")


def use_inspection(page):
    """Files, every table, search, rows and calls, by keys."""
    expect(page.eval("window.harmed === undefined"), "a name became script")
    expect(page.eval("document.querySelector('b img, td img, h1 img, title img, script[src]')") is None, "a name became markup")
    expect("<img" in page.eval("document.title"), "the name of a file is shown as it is")
    search(page, "1.sm_80.cubin")
    page.press("ArrowDown")
    page.press("Enter")
    expect(page.eval("document.querySelector('#detail h2').textContent") == "1.sm_80.cubin", "Enter opens a member")
    page.eval("document.getElementById('search').value = ''; document.getElementById('tab0').focus()")
    names = page.eval("[...document.querySelectorAll('[role=tab]')].map((t) => t.textContent)")
    for name in ("Kernels", "Functions", "Variables", "Sections", "Symbols", "Relocations", "Attributes", "Call graph", "Tools"):
        expect(name in names, f"there is no part {name}")
    for name in names[1:]:
        page.press("ArrowRight")
        expect(page.eval("document.querySelector('[aria-selected=true]').textContent") == name, f"an arrow leads to {name}")
        expect(page.eval("document.getElementById('panel').textContent.length") > 10, f"{name} is empty")
        expect(page.eval("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} is wider than the screen")
    tab(page, "Sections")
    first = page.eval("document.querySelector('tbody tr').textContent")
    page.eval("[...document.querySelectorAll('th button')].find((b) => b.textContent === 'Size').click()")
    sizes = page.eval("[...document.querySelectorAll('tbody tr')].map((r) => Number(r.cells[5].textContent.replaceAll(',', '')))")
    expect(sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1], f"sections by size: {sizes}")
    expect(page.eval("document.querySelector('tbody tr').textContent") != first, "sections are in the file's order first")
    tab(page, "Kernels")
    search(page, "draw")
    expect(page.eval("document.querySelectorAll('tbody tr').length") == 1, "the search finds one kernel")
    page.press("ArrowDown")
    page.press("Enter")
    expect(page.eval("document.querySelector('#detail h2').textContent") == "draw", "Enter opens the kernel")
    expect("_Z4drawPi" in page.eval("document.querySelector('#detail').textContent"), "the mangled name is told")
    page.eval("[...document.querySelectorAll('#detail button.link')].find((b) => b.textContent.startsWith('helper')).click()")
    expect(page.eval("document.querySelector('#detail h2').textContent") == "helper", "a call leads to what is called")
    expect("Called by (1)" in page.eval("document.querySelector('#detail').textContent"), "it is told who calls")
    page.press("Escape")
    page.eval("document.getElementById('search').blur()")
    page.press("Escape")
    expect(page.eval("document.getElementById('detail').childElementCount") == 0, "Escape closes it")
    page.eval("document.getElementById('search').value = ''")


def main():
    profile = FOLDER / "profile"
    browser = subprocess.Popen(
        [
            CHROMIUM,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            f"--user-data-dir={profile}",
            "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        page = connect(profile)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        pictures = set()
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                open_page(page, width, scheme)
                pictures.add(page.shoot(f"{width}-{scheme}.png"))
                expect(
                    page.eval("document.documentElement.scrollWidth <= window.innerWidth"),
                    f"the page is wider than {width} pixels",
                )
                use(page) if IS_LINK else use_inspection(page)
        expect(len(pictures) == 4, "widths and colors look alike")
        begin = time.monotonic()
        page.eval("document.getElementById('tab1').click()")
        page.eval("document.getElementById('tab2').click()")
        print(f"two parts take {time.monotonic() - begin:.2f} s")
        for event in page.events:
            if event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                expect(url == PAGE.as_uri(), f"the page asks for {url}")
            expect(event.get("method") != "Runtime.exceptionThrown", f"an error: {event}")
            if event.get("method") == "Log.entryAdded":
                expect(event["params"]["entry"]["level"] != "error", f"an error: {event}")
    finally:
        browser.kill()
        browser.wait()


main()
