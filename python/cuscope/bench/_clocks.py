"""The clocks of a GPU, as nvidia-smi tells them: two measurements compare only where they are the same."""

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
    """What it is at now; nothing for a simulated device, and where nvidia-smi is not there or does not know."""
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
