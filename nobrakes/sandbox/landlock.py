"""Removes a program's right to write elsewhere, and its children's: Landlock, Linux 5.13 on.

1. Landlock grants by folder: the run's own places, temporary folders and devices. If a path inside a temporary folder
   must stay protected, its siblings are granted one by one, and no new names can be made in the folders above it.
2. Reading and executing stay. What an older kernel does not know is not enforced (`lacks`).
3. Signals and abstract sockets reach only runs behind the same wall. A filter of calls lets a process change limits,
   priority, processors and memory nodes only of itself. Root loses the powers to get round it.
4. Standard library only, no import of nobrakes: sandbox.walled loads it alone.
"""

import ctypes
import os
import stat
import struct
import sys

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES, _DROP_FROM_BOUNDING = 38, 24

_WRITE_FILE, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 13, 1 << 14, 1 << 15
_DEVICES = 1 << 6 | 1 << 11
"""Device files are never allowed: they lead to the disk below."""
_FIRST = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
_KNOWN_FROM = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
_FILE_RIGHTS = _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_SCOPES = 1 << 0 | 1 << 1  # abstract sockets, signals

_ROUND_IT = (16, 17, 19, 21, 22, 25, 27, 32, 33, 34, 38, 39, 40)
"""Capabilities: modules, raw input and output, ptrace, administration, boot, time, device files, security, bpf."""
_SET_SECCOMP, _FILTER, _REFUSED, _ALLOWED = 22, 2, 0x00050001, 0x7FFF0000
_OTHERS = {
    0xC000003E: {"limits": (302,), "first": (142, 144, 203, 256, 279, 314), "priority": (141,), "disk": (251,)},
    0x40000003: {"limits": (340,), "first": (154, 156, 241, 294, 317, 351), "priority": (97,), "disk": (289,)},
    0xC00000B7: {"limits": (261,), "first": (118, 119, 122, 238, 239, 274), "priority": (140,), "disk": (30,)},
}
"""Calls that affect other processes of the account, by architecture (x86-64, i386, arm64) and argument: prlimit64;
sched_setparam, _setscheduler, _setaffinity, migrate_pages, move_pages, sched_setattr; setpriority; ioprio_set. Landlock
does not cover them, and a limit of 0 ends a process."""
TEMPORARY = ("/tmp", "/var/tmp")
_DEVICES_AND_PROCESSES = ("/dev", "/proc", "/sys")
_RAW = frozenset(("/dev/mem", "/dev/kmem", "/dev/port", "/dev/nvram"))


def _kernel() -> "ctypes.CDLL":
    return ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """0: none, or switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_kernel().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def lacks(abi: int) -> "tuple[str, ...]":
    """What this version does not enforce."""
    found = []
    if abi < 3:
        found.append("this kernel cannot stop a program from truncating files (Linux 6.2 can)")
    if abi < 6:
        found.append("this kernel cannot stop signals to other processes (Linux 6.12 can)")
    return tuple(found)


def tops(paths: "list[str]") -> "set[str]":
    """The real paths with all their mounts, without nested ones."""
    real: set[str] = set()
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        words = [line.split(" ")[2:5] for line in file]
    mounts = tuple((device, _plain(root), _plain(place)) for device, root, place in words)
    for path in paths:
        # a link is kept as well as what it leads to
        folder, name = os.path.realpath(os.path.dirname(path)), os.path.basename(os.path.normpath(path))
        for found in (os.path.realpath(path), os.path.join(folder, name)):
            real |= {found, *aliases(found, mounts)}
    return {path for path in real if not any(above in real for above in _above(path))}


def _above(path: str) -> "list[str]":
    found = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        found.append(path)
    return found


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _plain(text: str) -> str:
    for written, meant in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(written, meant)
    return text


def aliases(path: str, mounts: "tuple[tuple[str, str, str], ...]") -> "list[str]":
    """Other mounts of the same files."""
    around = [mount for mount in mounts if _lies_in(path, mount[2])]
    if not around:
        return []
    device, root, place = max(around, key=lambda mount: len(mount[2]))
    inner = os.path.normpath(os.path.join(root, os.path.relpath(path, place)))
    found = []
    for other, top, seen in mounts:
        if other == device and _lies_in(inner, top):
            found.append(os.path.normpath(os.path.join(seen, os.path.relpath(inner, top))))
        elif other == device and _lies_in(top, inner):
            found.append(seen)
    return [other for other in found if other != path]


def beside(kept: "set[str]", also: "tuple[str, ...]" = ()) -> "list[str]":
    """Writable entries beside the way to each kept path, or in `also`."""
    way = {*also, *(above for path in (*kept, *also) for above in _above(path))}
    found = []
    for folder in way - kept:
        try:
            with os.scandir(folder) as entries:
                found += [e.path for e in entries if e.path not in way and e.path not in kept and not e.is_symlink()]
        except OSError:
            continue  # who cannot list it grants nothing there
    return found


def granted(kept: "set[str]", temporary: "tuple[str, ...]") -> "list[str]":
    """Writable paths beside a run's own: temporary folders except kept ones, and devices."""
    roots = [os.path.realpath(path) for path in temporary]
    free = [root for root in roots if not any(_lies_in(path, root) or _lies_in(root, path) for path in kept)]
    inside = (*roots, *_DEVICES_AND_PROCESSES)
    near = beside(kept, ("/dev",))
    return [*free, *(path for path in near if path not in free and any(_lies_in(path, root) for root in inside))]


class Wall:
    """A ruleset under construction."""

    def __init__(self) -> None:
        self.kernel = _kernel()
        abi = version()
        if not abi:
            raise OSError("Landlock does not work on this machine")
        self.rights = _FIRST | sum(right for since, right in _KNOWN_FROM if abi >= since)
        words = (self.rights, 0, _SCOPES)[: 3 if abi >= 6 else 2 if abi >= 4 else 1]
        attributes = struct.pack(f"={len(words)}Q", *words)
        self.rules = self._call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))

    def _call(self, number: int, *arguments: object) -> int:
        answer = int(self.kernel.syscall(number, *arguments))
        if answer < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return answer

    def grant(self, path: str, follow: bool = False) -> None:
        """Allow writing to the path and below. Raises OSError."""
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISBLK(mode) or path in _RAW:
                return
            rights = self.rights & ~_DEVICES if stat.S_ISDIR(mode) else self.rights & _FILE_RIGHTS
            rule = struct.pack("=Qi", rights, descriptor)
            self._call(_ADD, ctypes.c_int(self.rules), ctypes.c_int(1), rule, ctypes.c_uint32(0))
        finally:
            os.close(descriptor)

    def restrict(self) -> None:
        """Forbid all other writing for this process and its children. Raises OSError."""
        if os.geteuid() == 0:
            for capability in _ROUND_IT:
                self.kernel.prctl(_DROP_FROM_BOUNDING, capability, 0, 0, 0)
        self.kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        # kernels without it (or containers that forbid it) have the wall all the same
        rows = limits_filter()
        program = ctypes.create_string_buffer(rows)
        self.kernel.prctl(_SET_SECCOMP, _FILTER, struct.pack("@HP", len(rows) // 8, ctypes.addressof(program)), 0, 0)
        self._call(_RESTRICT, ctypes.c_int(self.rules), ctypes.c_uint32(0))
        os.close(self.rules)


def limits_filter() -> bytes:
    """The filter that refuses changing limits, priority, processors and memory of a named process. 0 is oneself; one's
    own id is refused too, since a filter cannot tell."""
    load, equal, keep_bits, answer = 0x20, 0x15, 0x54, 0x06
    rows: list[tuple[int, str, str, int]] = [(load, "", "", 4)]  # the architecture
    for arch, calls in _OTHERS.items():
        rows += [(equal, "", f"after {arch}", arch), (load, "", "", 0)]
        rows.append((keep_bits, "", "", 0x3FFFFFFF))  # x32 marks its calls with a bit
        rows += [(equal, where, "", number) for where, numbers in calls.items() for number in numbers]
        rows += [(answer, "", "", _ALLOWED), (0, f"after {arch}", "", 0)]
    rows += [(answer, "", "", _ALLOWED)]
    # where the call names whom it means; 0 (or, for both priorities, this very process and 0) is oneself
    rows += [(0, "limits", "", 0), (load, "", "", 16), (equal, "allowed", "", 0)]
    rows += [(load, "", "", 32), (equal, "", "refused", 0), (load, "", "", 36), (equal, "allowed", "refused", 0)]
    rows += [(0, "first", "", 0), (load, "", "", 16), (equal, "allowed", "refused", 0)]
    for where, process in (("priority", 0), ("disk", 1)):
        rows += [(0, where, "", 0), (load, "", "", 16), (equal, "", "refused", process)]
        rows += [(load, "", "", 24), (equal, "allowed", "refused", 0)]
    rows += [(0, "refused", "", 0), (answer, "", "", _REFUSED), (0, "allowed", "", 0), (answer, "", "", _ALLOWED)]
    places: dict[str, int] = {}
    program = []
    for code, yes, no, value in rows:
        if code:
            program.append((code, yes, no, value))
        else:
            places[yes] = len(program)
    packed = []
    for at, (code, yes, no, value) in enumerate(program):
        jumps = [places[name] - at - 1 if name else 0 for name in (yes, no)]
        packed.append(struct.pack("=HBBI", code, *jumps, value))
    return b"".join(packed)


def close_in(kept: "list[str]", own: "list[str]", temporary: str) -> None:
    """Allow writing to `own`, and to temporary paths outside `kept`; adds a temporary folder if needed."""
    wall = Wall()
    tree = tops([*kept, "/proc", "/sys"] if os.geteuid() == 0 else kept)
    usual = os.path.realpath(os.environ.get("TMPDIR") or "/tmp")
    if temporary and any(_lies_in(path, usual) or _lies_in(usual, path) for path in tree):
        os.makedirs(temporary, mode=0o700, exist_ok=True)
        own = [*own, temporary]
        os.environ.update(dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary))
    for path in granted(tree, (*TEMPORARY, usual)):
        try:
            wall.grant(path)
        except OSError:
            continue  # it has gone, or is of a kind that Landlock knows nothing of
    for path in own:
        wall.grant(path)
    for stream in (1, 2):
        # what a program writes to /dev/stderr is opened by its name
        if stat.S_ISREG(os.fstat(stream).st_mode):
            wall.grant(f"/proc/self/fd/{stream}", follow=True)
    wall.restrict()
