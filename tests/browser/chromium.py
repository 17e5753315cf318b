# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium, driven over two pipes by its DevTools protocol: no port is opened,
and nothing but Python's own library is needed."""

import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def program():
    """The browser there is, or None."""
    return next((shutil.which(p) for p in PROGRAMS if shutil.which(p)), None)


class Chromium:
    """One page. problems and requests are what it has complained of and asked for so far."""

    def __init__(self, width=1400, height=1000):
        self.profile = tempfile.TemporaryDirectory(prefix="ravel-chromium.", ignore_cleanup_errors=True)
        to_child, self.writer = os.pipe()
        self.reader, from_child = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        high = [os.dup2(fd, 100 + i) for i, fd in enumerate((to_child, from_child))]

        def hand_over():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
             f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=hand_over, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (to_child, from_child, *high):
            os.close(fd)
        self.buffer, self.number, self.session = b"", 0, None
        self.problems, self.requests, self.events = [], [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.size(width, height)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        self.profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.reader, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(str([a.get("value") for a in params["args"]]))
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"a dialog: {params['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        if method:
            self.events.append(method)
        return message

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path, fragment=""):
        """Opens a file and waits until it is loaded."""
        self.call("Page.navigate", url="about:blank")
        self.requests, self.events = [], []
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{fragment}")
        while "Page.loadEventFired" not in self.events:
            self.receive()
        self.frame()

    def run(self, expression):
        """What an expression comes to, as JSON."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:200]}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def frame(self):
        """Waits until what was changed is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done), 0)))")

    def click(self, selector):
        """A real click in the middle of the first element that selector finds."""
        at = self.run(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: 'center'}});
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)
        self.frame()

    def key(self, name, text=None):
        code = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Tab": 9, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
        params = {"key": name, "windowsVirtualKeyCode": code.get(name, ord(name[0].upper()) if name.isalnum() else 0)}
        if len(name) == 1:
            params["text"] = text or name
        elif name == "Enter":
            params["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **params)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)
        self.frame()

    def type(self, text):
        for letter in text:
            self.key(letter)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, kind="", dark=False):
        self.call("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path, whole=True):
        import base64
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def wait(self, expression, seconds=5):
        """Until an expression is true; whether it came to be."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(expression):
                return True
            time.sleep(0.02)
        return False
