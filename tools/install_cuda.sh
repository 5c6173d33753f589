#!/usr/bin/env bash
# Installs the parts of the CUDA toolkit that a build needs, from NVIDIA's repository for RHEL 8 and its relatives.
# cibuildwheel runs it in the container that builds the wheels. No driver: nothing there runs on a GPU.
set -euo pipefail
version=13-0
case $(uname -m) in
x86_64) folder=x86_64 ;;
aarch64) folder=sbsa ;;
*)
    echo "tools/install_cuda.sh: NVIDIA has no toolkit for $(uname -m)" >&2
    exit 1
    ;;
esac
dnf install -y dnf-plugins-core
dnf config-manager --add-repo "https://developer.download.nvidia.com/compute/cuda/repos/rhel8/$folder/cuda-rhel8.repo"
# nvcc, the headers and static library of the runtime; the headers of CUPTI.
dnf install -y "cuda-minimal-build-$version" "cuda-cupti-$version"
ln -sfn "/usr/local/cuda-${version/-/.}" /usr/local/cuda
/usr/local/cuda/bin/nvcc --version
