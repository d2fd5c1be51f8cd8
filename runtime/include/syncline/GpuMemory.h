// The memory of a GPU that no tensor of a plan takes.
#pragma once

#include <cstdint>

namespace syncline {

/// Bytes that the CUDA context takes on every card: an allowance, no card has measured it.
inline constexpr std::int64_t gpuContext = std::int64_t{512} << 20;

/// Bytes that a run leaves to libraries, which load their kernels when they first run them, and to
/// NCCL's buffers.
inline constexpr std::int64_t gpuHeadroom = std::int64_t{1} << 30;

/// Bytes of workspace that a library may use in one operation. Algorithms that need more bytes are
/// not chosen.
inline constexpr std::int64_t gpuWorkspace = std::int64_t{512} << 20;

/// All of them together.
inline constexpr std::int64_t gpuAllowance = gpuContext + gpuHeadroom + gpuWorkspace;

} // namespace syncline
