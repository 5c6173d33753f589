"""The clocks of a GPU from nvidia-smi. Two measurements can only be compared if their clocks are equal."""

from __future__ import annotations

import shutil
import subprocess

import cuscope as cs

__all__ = ["clocks"]

_FIELDS = {
    "clocks.sm": "sm_mhz",
    "clocks.mem": "memory_mhz",
    "power.draw": "watts",
    "temperature.gpu": "celsius",
}
_PCI_DOMAIN = 50  # cudaDevAttrPciDomainId


def clocks(device: cs.Device) -> dict[str, float]:
    """The current clocks; empty for a simulated device, and if nvidia-smi is missing or does not know them."""
    program = shutil.which("nvidia-smi")
    if device.simulated or program is None:
        return {}
    address = "{:08x}:{:02x}:{:02x}.0".format(
        *(device.attribute(name) for name in (_PCI_DOMAIN, "pci_bus_id", "pci_device_id"))
    )
    command = [
        program,
        f"--query-gpu={','.join(_FIELDS)}",
        "--format=csv,noheader,nounits",
        f"--id={address}",
    ]
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    found = {}
    for name, value in zip(_FIELDS.values(), output.strip().split(","), strict=False):
        try:
            found[name] = float(value)
        except ValueError:  # [N/A]
            continue
    return found
