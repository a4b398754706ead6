# SPDX-License-Identifier: Apache-2.0
"""Callbacks and what they raise, threads, signals, and processes that end or fork."""

import concurrent.futures
import contextvars
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import weakref
from unittest import mock

import devlink
from devlink import Cancelled, File, Link, LinkError, Stop
from support import A, B, FIRST, PAIR, SECOND, folder


class Boom(Exception):
    pass


def boom(*_):
    raise Boom


def interrupt(*_):
    raise KeyboardInterrupt


def leave(*_):
    raise SystemExit(3)


def linked():
    return bytes(devlink.link(PAIR, "sm_90"))


class Callbacks(unittest.TestCase):
    def test_log_and_progress(self):
        lines, events = [], []
        outcome = devlink.link(
            PAIR,
            "sm_90",
            log=lambda level, line: lines.append((level, line)),
            log_level=devlink.LogLevel.DEBUG,
            progress=events.append,
        )
        self.assertEqual(bytes(outcome), linked())
        self.assertTrue(any("merged 2 inputs" in line for _, line in lines))
        self.assertIn(devlink.LogLevel.DEBUG, [level for level, _ in lines])
        self.assertIn(devlink.Phase.LINKING, [event.phase for event in events])

    def test_undefined(self):
        asked = []

        def find(symbols):
            asked.extend((symbol.name, symbol.kind, symbol.inputs) for symbol in symbols)
            return {"a.cubin": memoryview(A)}

        outcome = devlink.link([PAIR[1]], "sm_90", undefined=find)
        self.assertEqual(outcome.report.input_count, 2)
        self.assertIn(("table", devlink.SymbolKind.VARIABLE, ("b.cubin",)), asked)
        with self.assertRaises(LinkError):
            devlink.link([PAIR[1]], "sm_90", undefined=lambda symbols: None)

    def test_files(self):
        store = {"/store/a": A, "/store/b": File(B, 1, 2)}
        asked = []

        def read(path):
            asked.append((path, threading.get_ident()))
            return store.get(path)

        outcome = devlink.link(["/store/a", "/store/b"], "sm_90", files=read)
        self.assertEqual(outcome.report.input_count, 2)
        self.assertEqual({path for path, _ in asked}, set(store))
        with self.assertRaises(LinkError) as caught:
            devlink.link(["/store/c"], "sm_90", files=read)
        self.assertEqual(caught.exception.diagnostics[0].input, "/store/c")

    def test_every_exception_comes_back(self):
        for callback, expected in (
            (boom, Boom),
            (interrupt, KeyboardInterrupt),
            (leave, SystemExit),
        ):
            for name in ("log", "progress", "undefined"):
                with self.subTest(name, expected=expected):
                    link = Link("sm_90", log_level=devlink.LogLevel.DEBUG, **{name: callback})
                    with self.assertRaises(expected):
                        link.add_all([PAIR[1]])
                        link.link()
            with self.subTest("files", expected=expected), self.assertRaises(expected):
                devlink.link(["/a"], "sm_90", files=callback)
            with self.subTest("link_to", expected=expected), Link("sm_90") as link:
                with self.assertRaises(expected):
                    link.link_to(callback)

    def test_on_other_threads_too(self):
        def work():
            for name in ("progress", "undefined", "log"):
                link = Link("sm_90", log_level=devlink.LogLevel.DEBUG, **{name: boom})
                with self.assertRaises(Boom):
                    link.add_all([PAIR[1]])
                    link.link()
            return True

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertTrue(all(pool.map(lambda _: work(), range(8))))

    def test_several_exceptions(self):
        """The first is raised; the others are its causes, also while another one is handled."""
        numbers = iter(range(100))

        def fail(path):
            raise ValueError(next(numbers))

        told = set()
        try:
            raise KeyError
        except KeyError:
            try:
                devlink.link([f"/file{index}" for index in range(8)], "sm_90", files=fail)
            except ValueError as error:
                while error is not None:
                    told.add(str(error))
                    error = error.__cause__
        self.assertGreaterEqual(told, {str(index) for index in range(next(numbers))})

    def test_an_exception_ends_what_is_running(self):
        """Of many files that are slow to read, few are read."""
        asked = []

        def read(path):
            asked.append(path)
            time.sleep(0.02)
            return A

        with self.assertRaises(Boom):
            link = Link("sm_90", files=read, progress=boom)
            link.add_all([f"/file{index}" for index in range(200)])
        self.assertLess(len(asked), 150)

    def test_a_link_after_an_exception(self):
        answers = iter([boom, lambda symbols: {"a.cubin": A}])
        link = Link("sm_90", undefined=lambda symbols: next(answers)(symbols))
        link.add(B, name="b.cubin")
        with self.assertRaises(Boom):
            link.link()
        self.assertTrue(link.link().ok)
        stopped = Link("sm_90", progress=boom)
        other = Link("sm_90")
        with self.assertRaises(Boom):
            stopped.add(A)
            stopped.link()
        with self.assertRaises((Cancelled, Boom)):
            stopped.link()
        self.assertTrue(other.link().ok)

    def test_exceptions_keep_nothing(self):
        class Big:
            pass

        def work():
            big = Big()

            def fail(symbols, big=big):
                raise Boom

            with Link("sm_90", undefined=fail) as link:
                link.add(B)
                with self.assertRaises(Boom):
                    link.link()
            return weakref.ref(big), weakref.ref(link)

        references = work()
        gc.collect()
        self.assertEqual([reference() for reference in references], [None, None])

    def test_a_link_is_not_for_its_callbacks(self):
        for use in (
            lambda link: link.add(A),
            lambda link: link.link(),
            lambda link: link.close(),
            lambda link: link.copy(),
            lambda link: link.diagnostics,
        ):
            link = Link("sm_90", undefined=lambda symbols: use(link))
            link.add(B)
            with self.assertRaises(RuntimeError):
                link.link()
            link.close()

    def test_a_link_within_a_link(self):
        def find(symbols):
            return [("a.cubin", devlink.link([("a.cubin", A)], "sm_90", options=["-r"]).cubin)]

        self.assertTrue(devlink.link([PAIR[1]], "sm_90", undefined=find).ok)

    def test_context_variables(self):
        variable = contextvars.ContextVar("variable")
        variable.set("here")
        seen = []
        devlink.link(PAIR, "sm_90", progress=lambda event: seen.append(variable.get()))
        self.assertEqual(set(seen), {"here"})

    def test_callables_that_look_empty(self):
        class Files(dict):
            def __call__(self, path):
                return A

        self.assertTrue(devlink.link(["/a"], "sm_90", files=Files()).ok)

    def test_wrong_answers(self):
        for answer in (5, "a", ["a"], [(1, A)], [("a", None)], [("a\0", A)]):
            with self.subTest(str(answer)[:20]), self.assertRaises((TypeError, ValueError)):
                devlink.link([PAIR[1]], "sm_90", undefined=lambda symbols: answer)
        for answer in (5, "text", File(None)):
            with self.subTest(str(answer)[:20]), self.assertRaises(TypeError):
                devlink.link(["/a"], "sm_90", files=lambda path: answer)
        with self.assertRaises(ValueError):
            File(A, device=-1)


class Stops(unittest.TestCase):
    def test_before_and_behind(self):
        stop = Stop()
        link = Link("sm_90", stop=stop)
        link.add(A)
        stop.request()
        self.assertTrue(stop.requested)
        with self.assertRaises(Cancelled) as caught:
            link.link()
        self.assertEqual(caught.exception.status, devlink.Status.CANCELLED)
        with self.assertRaises(Cancelled):
            devlink.link(PAIR, "sm_90", stop=stop)

    def test_from_another_thread(self):
        stop = Stop()

        def find(symbols):
            thread = threading.Thread(target=stop.request)
            thread.start()
            thread.join()
            return {"a.cubin": A}

        with self.assertRaises(Cancelled):
            devlink.link([PAIR[1]], "sm_90", stop=stop, undefined=find)

    def test_of_many_links(self):
        stop = Stop()
        links = [Link("sm_90", stop=stop) for _ in range(4)]
        del links[0]
        stop.request()
        for link in links:
            with self.assertRaises(Cancelled):
                link.link()


class Threads(unittest.TestCase):
    def test_eight_threads_make_the_same_bytes(self):
        expected = linked()
        pool = devlink.Pool()
        start = threading.Barrier(8)

        def work(index):
            start.wait()
            out = set()
            for _ in range(25):
                with Link("sm_90", pool=pool if index % 2 else None) as link:
                    link.add_all(PAIR)
                    out.add(bytes(link.link()))
            return out

        with concurrent.futures.ThreadPoolExecutor(8) as workers:
            self.assertEqual(set().union(*workers.map(work, range(8))), {expected})

    def test_others_run_during_a_link(self):
        """One link waits for what another thread does: with Python's lock kept it would hang."""
        ready, done = threading.Event(), threading.Event()

        def other():
            ready.wait(30)
            self.assertEqual(bytes(devlink.link(PAIR, "sm_90")), linked())
            done.set()

        thread = threading.Thread(target=other)
        thread.start()

        def wait(event):
            ready.set()
            self.assertTrue(done.wait(30))

        devlink.link(PAIR, "sm_90", progress=wait)
        thread.join()

    def test_the_lock_is_not_held(self):
        """Python counts while C links, though nobody is made to hand the lock over."""
        link = Link("sm_90")
        link.add_all(PAIR)
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)

        thread = threading.Thread(target=count)
        before = sys.getswitchinterval()
        sys.setswitchinterval(60)
        try:
            thread.start()
            deadline = time.monotonic() + 20
            while counted[0] < 5 and time.monotonic() < deadline:
                link.link()
        finally:
            sys.setswitchinterval(before)
            stop.set()
            thread.join()
        self.assertGreaterEqual(counted[0], 5)

    def test_where_no_thread_can_be_started(self):
        events = []
        link = Link("sm_90", progress=events.append)
        with mock.patch("_thread.start_new_thread", side_effect=RuntimeError("can't start new")):
            with self.assertRaises(LinkError):
                link.add("/nowhere")
            link.add_all(PAIR)
            self.assertEqual(bytes(link.link()), linked())
        self.assertTrue(events)

    def test_one_at_a_time(self):
        inside, leave = threading.Event(), threading.Event()

        def wait(event):
            inside.set()
            leave.wait(30)

        link = Link("sm_90", progress=wait)
        link.add(A)
        thread = threading.Thread(target=link.link)
        thread.start()
        inside.wait(30)
        for use in (link.link, link.close, link.copy, lambda: link.add(A)):
            with self.assertRaises(RuntimeError):
                use()
        leave.set()
        thread.join()
        self.assertTrue(link.link().ok)


class Signals(unittest.TestCase):
    def send(self, number):
        def wait(event):
            os.kill(os.getpid(), number)
            time.sleep(0.02)

        link = Link("sm_90", progress=wait)
        link.add_all(PAIR)
        return link

    def test_ctrl_c(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with self.assertRaises(KeyboardInterrupt):
                self.send(signal.SIGINT).link()
        finally:
            signal.signal(signal.SIGINT, before)

    def test_a_signal_ends_what_is_running(self):
        asked = []

        def read(path):
            if not asked:
                os.kill(os.getpid(), signal.SIGUSR1)
            asked.append(path)
            time.sleep(0.02)
            return A

        before = signal.signal(signal.SIGUSR1, boom)
        try:
            with self.assertRaises(Boom):
                link = Link("sm_90", files=read)
                link.add_all([f"/file{index}" for index in range(200)])
        finally:
            signal.signal(signal.SIGUSR1, before)
        self.assertLess(len(asked), 150)

    def test_a_second_ctrl_c_does_not_wait(self):
        leave = threading.Event()
        entered = []

        def hang(path):
            entered.append(path)
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGUSR1)
                time.sleep(0.2)
            leave.wait(30)
            return A

        before = signal.signal(signal.SIGUSR1, boom)
        link = Link("sm_90", files=hang)
        try:
            with self.assertRaises(Boom) as caught:
                link.add("/a")
            self.assertIsInstance(caught.exception.__cause__, Boom)
            self.assertEqual(entered, ["/a"])
            with self.assertRaises(RuntimeError):  # it is still at it
                link.close()
        finally:
            signal.signal(signal.SIGUSR1, before)
            leave.set()
        deadline = time.monotonic() + 30
        while link._lock.locked() and time.monotonic() < deadline:
            time.sleep(0.01)
        link.close()

    def test_a_handler_that_links(self):
        seen = []

        def handle(*_):
            seen.append(bytes(devlink.link(PAIR, "sm_90")))

        before = signal.signal(signal.SIGUSR1, handle)
        try:
            self.assertTrue(self.send(signal.SIGUSR1).link().ok)
        finally:
            signal.signal(signal.SIGUSR1, before)
        self.assertEqual(set(seen), {linked()})

    def test_a_handler_that_raises_and_one_that_does_not(self):
        seen = []
        before = signal.signal(signal.SIGUSR1, boom)
        try:
            with self.assertRaises(Boom):
                self.send(signal.SIGUSR1).link()
            signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
            self.assertEqual(bytes(self.send(signal.SIGUSR1).link()), linked())
            self.assertTrue(seen)
        finally:
            signal.signal(signal.SIGUSR1, before)


def link_in_child(_):
    return linked()


class Processes(unittest.TestCase):
    def python(self, code, status=0):
        text = f"import devlink\nA = open({str(FIRST)!r}, 'rb').read()\n"
        text += f"B = open({str(SECOND)!r}, 'rb').read()\n" + textwrap.dedent(code)
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "ignore::ResourceWarning", "-c", text],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return done.stdout

    def test_the_end_of_the_interpreter(self):
        self.python("""
            link = devlink.Link("sm_90"); link.add(A)
            outcome = devlink.link([], "sm_90"); view = outcome.cubin
            pool = devlink.Pool(); module = pool.add(A); stop = devlink.Stop()
            devlink.kept = [link, devlink.Link("sm_90", progress=print)]
            """)
        self.assertIn(
            "OK",
            self.python("import atexit; atexit.register(lambda: print(devlink.link([], 'sm_90')))"),
        )
        self.assertIn(
            "OK",
            self.python("""
            class Late:
                def __del__(self):
                    print(devlink.link([("a", A), ("b", B)], "sm_90", progress=lambda event: None))
            late = Late()
            """),
        )
        self.python(
            "link = devlink.Link('sm_90', undefined=lambda s: exit(3)); link.add(B); link.link()", 3
        )
        self.python("""
            import threading, time
            def work():
                while True:
                    devlink.link([("a", A), ("b", B)], "sm_90")
            threading.Thread(target=work, daemon=True).start()
            time.sleep(0.1)
            """)

    def test_fork(self):
        with Link("sm_90") as link:
            link.add_all(PAIR)
            expected = linked()
            child = os.fork()
            if child == 0:
                try:
                    good = bytes(link.link()) == expected == linked()
                    link.close()
                    os._exit(0 if good else 1)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertEqual(bytes(link.link()), expected)

    def test_fork_beside_a_link(self):
        """What another thread was doing is not there in the child; to drop it is no harm."""
        inside, leave = threading.Event(), threading.Event()
        held = [Link("sm_90", progress=lambda event: (inside.set(), leave.wait(30)))]
        held[0].add(A)
        thread = threading.Thread(target=held[0].link)
        thread.start()
        inside.wait(30)
        child = os.fork()
        if child == 0:
            try:
                try:
                    held[0].link()
                except RuntimeError:
                    held.clear()
                    gc.collect()
                    os._exit(0)
            finally:
                os._exit(2)
        leave.set()
        thread.join()
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_a_child_destroys_nothing_of_its_parent(self):
        destroyed = []
        handles = [devlink._handle.Handle(1, destroyed.append) for _ in range(2)]
        child = os.fork()
        if child == 0:
            handles.clear()
            os._exit(len(destroyed))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        handles.clear()
        self.assertEqual(destroyed, [1, 1])

    def test_processes_of_a_pool(self):
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            self.assertEqual(set(pool.map(link_in_child, range(4))), {linked()})
            failure = pool.submit(devlink.link, [PAIR[1]], "sm_90").exception()
        self.assertIsInstance(failure, LinkError)
        self.assertIn("Undefined reference", str(failure))

    def test_memory_comes_back(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def work(times):
            for _ in range(times):
                bytes(devlink.link(PAIR, "sm_90", progress=lambda event: None))
                try:
                    devlink.link([PAIR[1], ("bad", b"bad")], "sm_90")
                except LinkError:
                    pass
            gc.collect()

        work(100)
        grown = []
        while len(grown) < 5 and (not grown or grown[-1] > 512 << 10):
            before = resident()
            work(150)  # 150 outcomes are more than a megabyte
            grown.append(resident() - before)
        # Allocators may need a round or two; what is lost is lost in each of them.
        self.assertLess(grown[-1], 512 << 10, grown)


class Files(unittest.TestCase):
    def test_real_files_are_read_without_callbacks(self):
        with folder() as place:
            (place / "a.cubin").write_bytes(A)
            self.assertTrue(devlink.link(["a.cubin", SECOND], "sm_90").ok)


if __name__ == "__main__":
    unittest.main()
