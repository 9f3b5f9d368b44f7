"""Batches of environments on an NVIDIA GPU, compiled from the same functions as on the CPU.

| module | content |
|---|---|
| `lowering` | turns compiled functions into a kernel: LLVM IR, then PTX |
| `building` | compiles the kernels of a batch and caches them |
| `launching` | runs kernels on a GPU |
| `emulation` | runs the same kernels on the CPU |
| `batch` | `DeviceBatch`: actions in, tensors out |
| `vector` | the Gymnasium interface, ``gym.make_vec(..., device="cuda")`` |

No package for GPUs is needed except PyTorch. The rules and the results are the same as on the CPU,
bit by bit.
"""
