"""Devices: listing, identity, properties, limits, the current device of a thread."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import cuscope as cs


def test_host_device_is_always_listed():
    assert cs.Device("host:0") in cs.devices()


def test_cuda_devices_come_first():
    kinds = [d.kind for d in cs.devices()]

    assert kinds == sorted(kinds)


def test_devices_are_equal_by_name(device):
    assert cs.Device(device.name) == device
    assert hash(cs.Device(device.name)) == hash(device)
    assert cs.Device(device) == device


def test_devices_of_different_names_differ():
    other = cs.add_host_device("h200")

    assert other != cs.Device("host:0")
    assert len({other, cs.Device("host:0")}) == 2


def test_device_is_not_equal_to_its_name(device):
    assert device != device.name


def test_name_kind_and_ordinal_agree(device):
    assert device.name == f"{device.kind}:{device.ordinal}"
    assert device.simulated is (device.kind == "host")


def test_host_model_is_the_h200():
    device = cs.Device("host:0")

    assert "h200" in device.model
    assert device.compute_capability == (9, 0)
    assert device.properties.multiprocessor_count == 132


def test_properties_agree_with_attributes(device):
    p = device.properties

    assert device.attribute("warp_size") == p.warp_size == device.attribute(10)
    assert device.attribute("max_threads_per_block") == p.max_threads_per_block
    assert device.attribute("multiprocessor_count") == p.multiprocessor_count
    assert device.compute_capability == (p.compute_capability_major, p.compute_capability_minor)


def test_properties_cannot_be_changed(device):
    with pytest.raises(AttributeError):
        device.properties.warp_size = 64


def test_unknown_attribute_name_lists_the_attributes(device):
    with pytest.raises((ValueError, AttributeError), match="warp_size"):
        device.attribute("warp_sise")


def test_unknown_attribute_number_is_an_invalid_value(device):
    with pytest.raises(cs.CudaError) as caught:
        device.attribute(9999)

    assert caught.value.name == "cudaErrorInvalidValue"


@pytest.mark.counts_memory
def test_memory_info_follows_an_allocation(device, settled):
    before = device.memory_info()
    array = cs.empty(1 << 26, "uint8")

    during = device.memory_info()

    assert during.total == before.total
    assert during.free <= before.free - array.nbytes


@pytest.mark.counts_memory
@pytest.mark.no_initcheck("it keeps records of its own")
def test_memory_is_returned_when_an_array_goes(device, settled):
    before = device.memory_info().free
    array = cs.empty(1 << 26, "uint8")
    array.close()
    settled()

    assert device.memory_info().free == before


def test_simulated_memory_can_be_backed_by_the_machine():
    free, total = cs.Device("host:0").memory_info()
    machine = int(Path("/proc/meminfo").read_text().split()[1]) * 1024

    assert 0 < free <= total <= machine


@pytest.mark.parametrize("name", ["stack_size", "printf_fifo_size", "malloc_heap_size"])
def test_limit_that_was_set_is_read_back(device, run_python, name):
    """In a process of its own: a limit cannot be changed once a kernel has used the memory that it limits."""
    done = run_python(
        f"""
        import cuscope as cs

        device = cs.current_device()
        before = device.limit({name!r})
        device.set_limit({name!r}, before * 2)
        print(device.limit({name!r}) >= before * 2)
        """
    )

    assert (done.stdout, done.stderr) == ("True\n", "")


def test_unknown_limit_lists_the_limits(device):
    with pytest.raises(ValueError, match="printf_fifo_size"):
        device.limit("stack")


def test_negative_limit_is_refused(device):
    with pytest.raises((ValueError, OverflowError, TypeError), match="-1"):
        device.set_limit("stack_size", -1)


def test_priority_range_goes_from_least_to_greatest(device):
    least, greatest = device.stream_priority_range

    assert least >= greatest


def test_device_cannot_be_its_own_peer(device):
    assert device.can_access_peer(device) is False
    with pytest.raises(cs.CudaError):
        device.enable_peer_access(device)


def test_with_makes_a_device_current_and_restores_the_other():
    outer, inner = cs.Device("host:0"), cs.add_host_device("h200")

    with outer:
        with inner:
            assert cs.current_device() == inner
        assert cs.current_device() == outer


def test_with_restores_the_device_when_the_body_raises():
    outer, inner = cs.Device("host:0"), cs.add_host_device("h200")

    with outer:
        with pytest.raises(KeyError), inner:
            raise KeyError
        assert cs.current_device() == outer


def test_same_device_can_be_entered_again(device):
    with device, device:
        assert cs.current_device() == device
    assert cs.current_device() == device


def test_current_device_is_of_the_thread():
    other = cs.add_host_device("h200")
    seen = []

    with other:
        thread = threading.Thread(target=lambda: seen.append(cs.current_device()))
        thread.start()
        thread.join()

    assert seen[0] != other


def test_set_device_lasts_for_the_thread():
    other = cs.add_host_device("h200")
    seen = []

    def work():
        cs.set_device(other)
        seen.append(cs.current_device())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert seen == [other]
    assert cs.current_device() != other


def test_new_objects_belong_to_the_current_device():
    other = cs.add_host_device("h200")

    with other:
        made = [cs.Stream(), cs.Event(), cs.empty(4)]

    assert [x.device for x in made] == [other] * 3


def test_environment_chooses_the_first_device(run_python):
    done = run_python(
        "import cuscope as cs; print(cs.current_device().name)", env={"CUSCOPE_DEVICE": "host:0"}
    )

    assert done.stdout.strip() == "host:0"


def test_environment_that_names_no_device_says_so(run_python):
    done = run_python("import cuscope as cs; cs.current_device()", env={"CUSCOPE_DEVICE": "host:77"})

    assert done.returncode != 0
    assert "host:77" in done.stderr
    assert "CUSCOPE_DEVICE" in done.stderr


@pytest.mark.parametrize("name", ["host:99999", "host", "gpu:0", "", "host:-1", "host:x", "cuda:99"])
def test_device_that_is_not_there_is_refused_by_name(name):
    with pytest.raises((ValueError, cs.CudaError)) as caught:
        cs.Device(name)

    assert repr(name) in str(caught.value) or name in str(caught.value)
    assert "host:0" in str(caught.value)


@pytest.mark.parametrize("name", [None, 0, 1.5, ["host:0"]])
def test_device_of_another_type_is_a_type_error(name):
    with pytest.raises(TypeError):
        cs.Device(name)


def test_unknown_model_lists_the_models():
    with pytest.raises(ValueError, match="h200") as caught:
        cs.add_host_device("h300")

    assert "h300" in str(caught.value)


def test_fermi_has_one_hardware_queue_and_old_properties():
    fermi = cs.add_host_device("fermi")

    assert fermi.compute_capability[0] == 2
    assert fermi.model != cs.Device("host:0").model


def test_kernel_runs_on_an_added_device():
    fermi = cs.add_host_device("fermi")

    with fermi:
        mod = cs.Module("__global__ void store(int* p, int v) { *p = v; }")
        p = cs.zeros(1, "int32")
        mod.store[1, 1](p, 7)

        assert p.to_host().tolist() == [7]


def test_synchronize_waits_for_every_stream(device):
    seen = []
    streams = [cs.Stream(), cs.Stream(non_blocking=True)]
    for s in streams:
        s.host_function(seen.append, 1)

    cs.synchronize()

    assert seen == [1, 1]
    assert all(s.query() for s in streams)


def test_clock_is_seconds_and_host_work_spends_them(device):
    start = cs.clock()
    cs.host_work(0.002)

    assert cs.clock() - start >= 0.002


def test_simulated_clock_moves_by_host_work_alone():
    with cs.Device("host:0"):
        start = cs.clock()
        cs.host_work(1000)
        assert cs.clock() - start == pytest.approx(1000, abs=1e-3)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_host_work_of_no_length_is_refused(device, seconds):
    with pytest.raises(ValueError, match="seconds"):
        cs.host_work(seconds)


def test_reset_of_a_simulated_device_frees_its_memory(run_python):
    done = run_python(
        """
        import cuscope as cs
        d = cs.Device("host:0")
        before = d.memory_info().free
        x = cs.empty(1 << 26, "uint8")
        d.reset()
        assert d.memory_info().free == before
        y = cs.zeros(4)
        print(y.to_host().tolist())
        """
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0.0, 0.0, 0.0, 0.0]"


def test_a_reset_lets_kernels_of_other_devices_end(run_python):
    done = run_python(
        """
        import threading, time
        import numpy as np
        import cuscope as cs
        out, other = cs.zeros(1, np.int32), cs.add_host_device("h200")
        busy = cs.Module('''
            __global__ void busy(int* out, int n) {
                volatile int sum = 0;
                for (int i = 0; i < n; ++i) sum = sum + 1;
                *out = sum;
            }
        ''').busy
        busy[1, 1](out, 2_000_000_000)
        waiting = threading.Thread(target=cs.synchronize)
        waiting.start()
        time.sleep(0.2)
        assert waiting.is_alive()
        other.reset()
        waiting.join()
        print(out.to_host().tolist())
        """
    )
    assert (done.stdout.strip(), done.stderr) == ("[2000000000]", "")
