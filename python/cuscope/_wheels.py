"""Where wheels have CUDA's libraries."""

from __future__ import annotations

import importlib.util
from pathlib import Path

__all__ = ["wheel_folders"]


def wheel_folders() -> list[str]:
    """The folders in which NVIDIA's wheels, such as nvidia-cuda-cupti, have their libraries."""
    beside = [str(Path(__file__).parents[1] / "nvidia")]
    try:
        nvidia = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):  # a module of another kind has this name
        return beside
    on_path = list(nvidia.submodule_search_locations or ()) if nvidia is not None else []
    return list(dict.fromkeys(beside + on_path))
