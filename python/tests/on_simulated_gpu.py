"""Runs on arrays of a simulated GPU (`simulated_gpu/driver.cpp`): `test_devices.py` compiles it, and starts these tests where the
loader finds it in place of NVIDIA's driver."""

import threading
import unittest

import cupy
import numpy as np
import torch

import tilewright

NAIVE = {"strategy": "naive"}
NAMES = {"f32": "float32", "f64": "float64"}
gpu = cupy.gpu


def grid(*shape, dtype="float32", seed=1):
    return np.random.default_rng(seed).random(shape).astype(dtype)


class Raw:
    """An array of a library that nobody knows."""

    def __init__(self, array, **more):
        self.array, self.__cuda_array_interface__ = array, {**array.__cuda_array_interface__, **more}


class OnSimulatedGpu(unittest.TestCase):
    def setUp(self):
        self.heat = tilewright.stencil("heat2d")
        cupy.stream, torch.cuda.stream = 1, 0
        gpu.sim_set_current(0)

    def tearDown(self):
        # Nobody wrote beside an array, and all that was given to the device has been done.
        self.assertEqual((gpu.sim_damaged(), gpu.sim_pending()), (0, 0))

    def same(self, found, wanted, message=None):
        np.testing.assert_array_equal(found.get(), wanted, message)
        self.assertEqual(found.dtype, wanted.dtype)

    def test_results_have_the_bits_of_the_reference(self):
        for name, dtype, shape in [
            ("heat1d", "float32", (201,)),
            ("heat2d", "float32", (37, 41)),
            ("heat2d", "float64", (23, 67)),
            ("heat3d", "float32", (9, 13, 21)),
            ("heat3d", "float64", (8, 11, 17)),
        ]:
            stencil, u = tilewright.stencil(name, dtype=dtype), grid(*shape, dtype=dtype)
            given = cupy.asarray(u)
            for steps in (0, 1, 4, 5):
                wanted = stencil.run(u, steps=steps, backend="reference")
                found = stencil.run(given, steps=steps, **NAIVE)
                self.assertIs(type(found), cupy.ndarray)
                self.same(found, wanted, f"{name} {steps}")
                self.same(given, u)
        # Tiles of several steps, in shared memory.
        u = grid(61, 83)
        found = self.heat.run(cupy.asarray(u), steps=13, strategy="hhc", tile={"st": 4, "s0": 6, "s1": 32})
        self.assertEqual((self.heat.last.backend, self.heat.last.strategy, self.heat.last.copied), ("cuda", "hhc", ()))
        self.same(found, self.heat.run(u, steps=13, backend="reference"))

    def test_results_go_where_out_says(self):
        u = grid(30, 50)
        for steps in (0, 1, 4, 5):
            wanted = self.heat.run(u, steps=steps, backend="reference")
            wide, shifted, shared = cupy.empty((30, 64)), cupy.empty((1501,)), cupy.empty((40, 50))
            shared.view[:30] = u
            own, part = cupy.asarray(u), cupy.ndarray(shifted.memory, shifted.view[1:].reshape(30, 50))
            for given, out, told in [
                (own, cupy.empty((30, 50)), ()),
                (own, wide[:, 8:58], ("gaps",)),
                (own, part, ("gaps, or begins",)),
                (shared[:30], shared[10:], ("overlaps",)),
                (Raw(own), Raw(cupy.empty((30, 50))), ()),
                (own, torch.empty((30, 50), torch.float32, "cuda:0"), ()),
                (own, own, ()),
            ]:
                self.assertIs(self.heat.run(given, steps=steps, out=out, **NAIVE), out)
                self.same(out.array if isinstance(out, Raw) else out, wanted, f"{told}, {steps} steps")
                self.assertEqual(len(self.heat.last.copied), len(told), self.heat.last.copied)
                for word, line in zip(told, self.heat.last.copied):
                    self.assertIn(word, line)
            # What lies beside the rows is as it was.
            self.assertTrue(np.isnan(wide.view[:, :8]).all() and np.isnan(wide.view[:, 58:]).all())
        room, target = cupy.empty((12, 15, 40)), cupy.empty((11, 14, 32))
        u, heat3d = grid(9, 13, 21), tilewright.stencil("heat3d")
        room.view[1:10, 1:14, 3:24] = u
        heat3d.run(room[1:10, 1:14, 3:24], steps=3, out=target[2:, :13, 5:26], **NAIVE)
        self.same(target[2:, :13, 5:26], heat3d.run(u, steps=3, backend="reference"))

    def test_several_levels_fields_and_series(self):
        for name, shape in [("wave2d", (20, 31)), ("leapfrog1d", (81,)), ("fdtd2d_driven", (15, 22)), ("varcoef2d", (18, 25))]:
            stencil = tilewright.stencil(name)
            for steps in (0, 1, 4):
                hosts = {
                    field.name: grid(*(field.levels, *shape)[field.levels < 2 :], dtype=NAMES[field.dtype], seed=number)
                    for number, field in enumerate(stencil.fields)
                }
                series = {one: grid(9, dtype=NAMES[dtype]) for one, dtype in stencil.series.items()}
                wanted = stencil.run(steps=steps, backend="reference", **hosts, **series)
                given = {one: cupy.asarray(array) for one, array in hosts.items()}
                for ours in (series, {one: cupy.asarray(array) for one, array in series.items()}):
                    found = stencil.run(steps=steps, **given, **ours, **NAIVE)
                    pairs = zip(found, wanted) if isinstance(found, tuple) else [(found, wanted)]
                    for one, other in pairs:
                        self.same(one, other, f"{name} {steps}")
                    self.assertEqual(len(stencil.last.copied), len(series) if ours is series else 0)
        wave, u = tilewright.stencil("wave2d"), grid(2, 20, 31)
        wanted = wave.run(u, steps=3, backend="reference")
        levels = cupy.asarray(u)
        for found, other in zip(wave.run((levels[0], levels[1]), steps=3, **NAIVE), wanted):
            self.same(found, other)
        self.assertIs(wave.run(levels, steps=3, out=levels, **NAIVE), levels)
        self.same(levels, wanted)

    def test_what_is_under_way_in_streams_is_waited_for(self):
        u = grid(30, 50)
        wanted, source = self.heat.run(u, steps=2, backend="reference"), cupy.asarray(u)
        for library, stream in [("cupy", 1), ("cupy", 2), ("cupy", 4711), ("torch", 0), ("torch", 4712)]:
            given = cupy.empty((30, 50))
            if library == "torch":
                torch.cuda.stream, given = stream, torch.empty((30, 50), torch.float32, "cuda:0")
            else:
                cupy.stream = stream
            # Numbers 0 and 1 are one stream, whose work nobody has to be asked to wait for.
            handle = 0 if stream < 2 else stream
            gpu.sim_copy_later(handle, given.view.ctypes.data, source.view.ctypes.data, u.nbytes)
            found = self.heat.run(given, steps=2, **NAIVE)
            self.assertIs(type(found), type(given))
            self.same(found, wanted, f"{library} {stream}")
            self.assertEqual(gpu.sim_pending(), 0)

    def test_each_device_computes_its_own(self):
        u = grid(30, 50)
        wanted = self.heat.run(u, steps=3, backend="reference")
        for current in (-1, 0, 1):
            for device in (0, 1):
                gpu.sim_set_current(current)
                found = self.heat.run(cupy.asarray(u, device), steps=3, **NAIVE)
                # The thread's context is the caller's.
                self.assertEqual(gpu.sim_current(), current)
                self.assertEqual(tilewright._tilewright.device_of(found.view.ctypes.data), device)
                self.same(found, wanted)
        with self.assertRaisesRegex(tilewright.WrongInput, "on device 0, and out on device 1|on device 0, and u on device 1"):
            self.heat.run(cupy.asarray(u, 0), steps=3, out=cupy.asarray(u, 1), **NAIVE)

    def test_what_owners_say_wrongly_is_refused(self):
        own, host = cupy.asarray(grid(30, 50)), np.zeros((30, 50), np.float32)
        for message, given in [
            ("no device's memory", Raw(own, data=(4096, False))),
            ("no device's memory", Raw(own, data=(host.ctypes.data, False))),
            ("not in the memory", Raw(own, shape=(3000, 50))),
            ("not in the memory", Raw(own, strides=(1 << 20, 4))),
        ]:
            with self.assertRaisesRegex((tilewright.WrongInput, ValueError), message):
                self.heat.run(given, steps=1, out=Raw(own, shape=given.__cuda_array_interface__["shape"]), **NAIVE)
        self.same(self.heat.run(own, steps=0, **NAIVE), own.get())

    def test_threads_run_at_once(self):
        found = {}

        def work(number):
            u = grid(30 + number % 2, 50, seed=number)
            array = cupy.asarray(u)
            for _ in range(3):
                array = self.heat.run(array, steps=3, **NAIVE)
            found[number] = (array, self.heat.run(u, steps=9, backend="reference"))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 4)
        for one, other in found.values():
            self.same(one, other)

    def test_nothing_is_kept(self):
        own = cupy.asarray(grid(30, 50))
        self.heat.run(own, steps=3, **NAIVE)
        before = gpu.sim_used()
        found = self.heat.run(own, steps=3, **NAIVE)
        self.assertEqual(gpu.sim_used() - before, found.view.nbytes)
        raw = Raw(own)
        self.heat.run(raw, steps=3, out=raw, **NAIVE)
        self.assertEqual(gpu.sim_used() - before, found.view.nbytes)

    def test_arrays_of_the_host_are_copied_there_and_back(self):
        ring = tilewright.stencil(
            text="stencil ring(t, i) { field u: f64; boundary periodic; u[t+1, i] = 0.5 * u[t, i-1] + 0.25 * u[t, i+2]; }"
        )
        for stencil, u in [(self.heat, grid(30, 50)), (ring, grid(97, dtype="float64")), (tilewright.stencil("wave2d"), grid(2, 20, 31))]:
            for steps in (0, 3, 12):
                found = stencil.run(u, steps=steps, backend="cuda", **NAIVE)
                np.testing.assert_array_equal(found, stencil.run(u, steps=steps, backend="reference"))
            self.assertEqual(stencil.run(u, steps=1, backend="cuda", **NAIVE).shape, u.shape)
            self.assertEqual(stencil.last.copied, (f"{stencil.fields[0].name}: to the device and back",))


if __name__ == "__main__":
    unittest.main()
