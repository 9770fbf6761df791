"""Arrays on a device, as far as they can be told apart without one: what owners say, what is refused, which array is which
slot of a run."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import tilewright
from tilewright import _arguments, _device_plan, _tilewright
from tilewright._device_arrays import OnDevice, described

try:
    _tilewright.device_of(4096)
    HAS_DRIVER = True
except tilewright.Infeasible:
    HAS_DRIVER = False


class Fake:
    """What says to be an array on a device."""

    def __init__(self, shape=(20, 30), typestr="<f4", address=1 << 20, read_only=False, **more):
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (address, read_only),
            "version": 3,
            **more,
        }


class Tensor(ctypes.Structure):
    """`DLTensor`."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    """`DLManagedTensorVersioned`."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Packed:
    """What exports by DLPack alone; `wrapped` is the structure of its capsules."""

    def __init__(self, wrapped, name, kind=2):
        self.wrapped, self.name, self.kind, self.streams = wrapped, name, kind, []

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.wrapped), self.name, None)


def tensor(shape=(20, 30), strides=None, code=2, bits=32, lanes=1, kind=2, offset=0):
    def entries(values):
        return None if values is None else (ctypes.c_int64 * len(values))(*values)

    return Tensor(1 << 20, kind, 0, len(shape), code, bits, lanes, entries(shape), entries(strides), offset)


def versioned(major=1, flags=0, **more):
    return Versioned(major, 0, None, None, flags, tensor(**more))


class Telling(unittest.TestCase):
    def test_what_owners_say_is_checked(self):
        heat, wrong = tilewright.stencil("heat2d"), tilewright.WrongInput
        for message, given in [
            ("is no dict", type("T", (), {"__cuda_array_interface__": 7})()),
            ("version 1", Fake(version=1)),
            ("version None", Fake(version=None)),
            ("cannot be read", Fake(data=5)),
            ("cannot be read", Fake(typestr="nonsense")),
            ("cannot be read", Fake(shape=("a", 3))),
            ("shape", Fake(shape=(-1, 3))),
            ("strides", Fake(strides=(4,))),
            ("mask", Fake(mask=Fake())),
            ("stream 0", Fake(stream=0)),
            ("stream", Fake(stream="main")),
            ("address 0", Fake(address=0)),
            ("address 1048578", Fake(address=(1 << 20) + 2)),
            ("order of another", Fake(typestr=">f4")),
            ("float64, and heat2d computes in float32", Fake(typestr="<f8")),
            ("int32", Fake(typestr="<i4")),
            ("3 dimension", Fake(shape=(2, 20, 30))),
            ("version 2 of DLPack", Packed(versioned(major=2), b"dltensor_versioned")),
            ("does not say by DLPack", Packed(versioned(), b"something")),
            ("code 4, 16 bits", Packed(tensor(code=4, bits=16), b"dltensor")),
            ("no stencil knows", Packed(tensor(lanes=4), b"dltensor")),
            ("that it does not", Packed(tensor(kind=1), b"dltensor")),
            (r"from_dlpack\(u\)", Packed(tensor(), b"dltensor", kind=1)),
        ]:
            with self.subTest(message), self.assertRaisesRegex(wrong, message):
                heat.run(given, steps=1)
        with self.assertRaisesRegex(tilewright.Infeasible, "not NVIDIA's"):
            heat.run(Packed(tensor(), b"dltensor", kind=10), steps=1)

        class Raising:
            @property
            def __cuda_array_interface__(self):
                raise RuntimeError("use detach()")

        with self.assertRaisesRegex(wrong, r"use detach\(\)"):
            heat.run(Raising(), steps=1)

    def test_two_protocols_tell_the_same(self):
        rows = Fake(strides=(160, 4), stream=2, read_only=True)
        for array in (
            described(rows, "u"),
            described(Packed(tensor(strides=(40, 1)), b"dltensor"), "u"),
            described(Packed(versioned(strides=(40, 1), flags=1), b"dltensor_versioned"), "u"),
        ):
            self.assertEqual((array.address, array.shape, array.strides), (1 << 20, (20, 30), (160, 4)))
            self.assertEqual((array.dtype, array.outer_strides(), array.is_plain()), (np.float32, (40,), False))
        self.assertEqual((described(rows, "u").stream, described(rows, "u").writeable), (2, False))
        packed = Packed(versioned(offset=64, flags=1), b"dltensor_versioned")
        found = described(packed, "u")
        self.assertEqual((found.address, found.writeable, packed.streams), ((1 << 20) + 64, False, [1]))
        self.assertTrue(found.is_plain())
        # NumPy's own capsules, which lie in the host's memory.
        own = np.arange(6, dtype=np.float64).reshape(2, 3)
        told = _tilewright.dlpack(own.__dlpack__())
        self.assertEqual((told[0], told[1], told[3:6]), (own.ctypes.data, 1, (2, 64, [2, 3])))

    def test_places_of_arrays(self):
        def at(address, shape, strides=None):
            return described(Fake(shape=shape, strides=strides, address=address), "u")

        for strides, outer in [(None, (30,)), ((120, 4), (30,)), ((160, 4), (40,)), ((4, 80), None), ((0, 4), None),
                               ((-120, 4), None), ((120, 8), None), ((122, 4), None), ((60, 4), None)]:  # fmt: skip
            self.assertEqual(at(4096, (20, 30), strides).outer_strides(), outer, strides)
        self.assertEqual(at(4096, (1, 30), (7, 4)).outer_strides(), (30,))
        self.assertEqual(at(4096, (20, 1), (4, 999)).outer_strides(), (1,))
        self.assertFalse(at(4100, (20, 30)).is_plain())
        whole = at(4096, (3, 5, 8))
        self.assertEqual((whole[1].address, whole[1].shape), (4096 + 160, (5, 8)))
        self.assertFalse(whole[0].overlaps(whole[1]))
        self.assertTrue(whole.overlaps(whole[2]))
        self.assertTrue(at(4096, (20, 30), (-120, 4)).overlaps(at(4096 - 64, (4,))))


class Refusing(unittest.TestCase):
    def test_what_cannot_be_computed_is_refused(self):
        heat, wave = tilewright.stencil("heat2d"), tilewright.stencil("wave2d")
        u = np.zeros((20, 30), np.float32)
        far = 1 << 30
        for kind, message, call in [
            ("WrongInput", "backend openmp computes in the host", lambda: heat.run(Fake(), steps=1, backend="openmp")),
            ("WrongInput", "backend emulator", lambda: heat.run(Fake(), steps=1, backend="emulator")),
            ("WrongInput", "all lie on one side", lambda: heat.run(Fake(), steps=1, out=u)),
            ("WrongInput", "all lie on one side", lambda: heat.run(u, steps=1, out=Fake())),
            ("WrongInput", "all lie on one side", lambda: wave.run((Fake(), u), steps=1)),
            ("WrongInput", "read-only", lambda: heat.run(Fake(), steps=1, out=Fake(address=far, read_only=True))),
            ("WrongInput", "out has shape", lambda: heat.run(Fake(), steps=1, out=Fake((21, 30), address=far))),
            ("WrongInput", "lie upon each other", lambda: heat.run(Fake(), steps=1, out=Fake(strides=(0, 4)))),
            ("WrongInput", "out overlap", lambda: wave.run((Fake(), Fake()), steps=1, out=(Fake(), Fake()))),
            ("Infeasible", "do not lie in one piece", lambda: heat.run(Fake(strides=(4, 80)), steps=1, out=Fake(address=far))),
            ("Infeasible", "how to make a new test_devices.Fake", lambda: heat.run(Fake(), steps=1)),
        ]:
            with self.subTest(message), self.assertRaisesRegex(getattr(tilewright, kind), message):
                call()
        ring = tilewright.stencil(
            text="stencil ring(t, i) { field u: f32; boundary periodic; u[t+1, i] = u[t, i-1] - u[t, i+1]; }"
        )
        with self.assertRaisesRegex(tilewright.Infeasible, "periodic(.|\n)*asnumpy"):
            ring.run(Fake((30,)), steps=1, out=Fake((30,), address=far))
        empty = Fake(shape=(0, 30), address=0)
        self.assertIs(heat.run(empty, steps=3), empty)

    def test_who_has_no_device_is_told_so(self):
        heat = tilewright.stencil("heat2d")
        out = Fake(address=1 << 30)
        if HAS_DRIVER:
            with self.assertRaisesRegex(tilewright.WrongInput, "no device's memory"):
                heat.run(Fake(), steps=1, out=out)
            return
        for call in (
            lambda: heat.run(Fake(), steps=1, out=out),
            lambda: heat.run(np.zeros((20, 30), np.float32), steps=1, backend="cuda"),
        ):
            with self.assertRaises(tilewright.Infeasible) as caught:
                call()
            self.assertIn("no CUDA device can be used", caught.exception.message)
            self.assertEqual(caught.exception.message.count("\n"), 0)
            self.assertIn("openmp", caught.exception.hints[0])

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_fork_after_other_back_ends_ends_well(self):
        text = (
            "import os, numpy as np, tilewright\n"
            "heat = tilewright.stencil('heat2d')\n"
            "u = np.zeros((40, 40), np.float32)\n"
            "heat.run(u, steps=2, backend='reference')\n"
            "if os.fork() == 0:\n"
            "    try:\n"
            "        heat.run(u, steps=2, backend='reference')\n"
            "    except tilewright.Infeasible:\n"
            "        os._exit(3)\n"
            "    os._exit(0)\n"
            "print(os.waitstatus_to_exitcode(os.wait()[1]))\n"
        )
        output = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
        self.assertEqual(output.stdout, "3\n", output.stderr)


class Simulating(unittest.TestCase):
    def test_runs_on_a_simulated_gpu(self):
        compiler = shutil.which(os.environ.get("CXX") or "c++")
        if compiler is None or sys.platform != "linux":
            self.skipTest("no C++ compiler, or not Linux")
        tests = Path(__file__).resolve().parent
        own = tests / "simulated_gpu"
        with tempfile.TemporaryDirectory() as folder:
            driver = Path(folder) / "libcuda.so"
            options = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
            header = f'-DSIMULATED_HEADER="{own / "kernels.h"}"'
            command = [compiler, *options, header, "-o", driver, own / "driver.cpp", "-ldl"]
            subprocess.run(command, check=True)
            paths = [str(own), str(tests), os.environ.get("PYTHONPATH", "")]
            environment = os.environ | {
                "LD_LIBRARY_PATH": folder,
                "PYTHONPATH": os.pathsep.join(paths),
                # Machine code of this driver is none of another one's.
                "TILEWRIGHT_CACHE": str(Path(folder) / "cache"),
                "TILEWRIGHT_NVRTC": str(driver),
            }
            command = [sys.executable, "-m", "unittest", "on_simulated_gpu"]
            said = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)


class Placing(unittest.TestCase):
    """Which array is which slot, on a device that has addresses only."""

    def plan(self, name, starts, steps, out=None, **series):
        stencil = tilewright.stencil(name)
        self.next = 1 << 40

        def scratch(memory, shape, dtype):
            self.next += 1 << 30
            return self.next

        def array(memory, shape, dtype):
            return described(Fake(shape, dtype.str, scratch(memory, shape, dtype), stream=5), "new")

        given = _arguments.given(stencil._signature, tuple(starts), series, steps, out)
        with (
            mock.patch.object(_device_plan, "_device_of", lambda arrays: 0),
            mock.patch.object(_device_plan._Memory, "scratch", scratch),
            mock.patch.object(_device_plan._Memory, "array", lambda *all: all[0].used(array(*all))),
            mock.patch.object(_device_plan, "LIBRARIES", ("test_devices",)),
        ):
            return _device_plan.device_plan(stencil._signature, given, False)[1]

    def test_the_newest_level_lies_in_the_result(self):
        u, v = Fake(stream=7), Fake(address=1 << 30)
        for steps in (0, 1, 2, 5):
            [(starts, slots, results)] = self.plan("heat2d", [u], steps).fields
            self.assertEqual((starts, results[0][0]), ([(1 << 20, (30,))], slots[steps % 2]))
            self.assertNotIn(1 << 20, slots)
            plan = self.plan("heat2d", [u], steps, out=v)
            [(_, slots, results)] = plan.fields
            self.assertEqual((slots[steps % 2], results), (1 << 30, [(1 << 30, (30,))]))
            self.assertEqual((plan.copied, plan.memory.streams), ([], {7}))
            plan = self.plan("heat2d", [u], steps, out=u)
            self.assertEqual((plan.fields[0][1][steps % 2], plan.copied), (1 << 20, []))

    def test_what_is_copied_is_told(self):
        u = Fake()
        for out, reason in [
            (Fake(strides=(160, 4), address=1 << 30), "has gaps"),
            (Fake(address=(1 << 30) + 4), "has gaps, or begins"),
            (Fake(address=(1 << 20) + 128), "overlaps what u starts from"),
        ]:
            plan = self.plan("heat2d", [u], 2, out=out)
            [(_, slots, results)] = plan.fields
            self.assertRegex(plan.copied[0], reason)
            self.assertNotIn(results[0][0], slots)

    def test_several_levels_lie_at_one_distance(self):
        given = Fake((2, 20, 30))
        plan = self.plan("wave2d", [given], 3)
        [(starts, slots, results)] = plan.fields
        self.assertEqual([address for address, _ in starts], [1 << 20, (1 << 20) + 2400])
        self.assertEqual({slot - slots[0] - 2400 * number for number, slot in enumerate(slots)}, {0})
        self.assertEqual(results[1][0] - results[0][0], 2400)
        self.assertEqual(plan.results["u"].__cuda_array_interface__["shape"], (2, 20, 30))
        pair = self.plan("wave2d", [(Fake(), Fake(address=1 << 30))], 3)
        self.assertIsInstance(pair.results["u"], tuple)

    def test_series_and_coefficients(self):
        names = [field.name for field in tilewright.stencil("fdtd2d_driven").fields]
        fields = [Fake(typestr="<f8", address=(number + 1) << 30) for number in range(len(names))]
        own = Fake((9,), "<f8", 1 << 22)
        plan = self.plan("fdtd2d_driven", fields, 9, fict=own)
        self.assertEqual(plan.series, [(1 << 22, 9)])
        with self.assertRaisesRegex(tilewright.Infeasible, "has gaps"):
            self.plan("fdtd2d_driven", fields, 9, fict=Fake((9,), "<f8", 1 << 22, strides=(16,)))
        varying = tilewright.stencil("varcoef2d")
        shifted = [Fake(address=((number + 1) << 30) + 4) for number in range(len(varying.fields))]
        plan = self.plan("varcoef2d", shifted, 2)
        coefficients = [field.name for field in varying.fields if not field.levels]
        self.assertEqual([line.split(":")[0] for line in plan.copied], coefficients)


if __name__ == "__main__":
    unittest.main()
