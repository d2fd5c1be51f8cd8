// What stands in front of a step's loops in CUDA.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::codegen {

inline constexpr llvm::StringLiteral cudaIncludes = R"(#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>
)";

inline constexpr llvm::StringLiteral cudaPrelude = R"(
// Neighbouring elements that are read and written by one access.
template <typename T, int width> struct alignas(sizeof(T) * width) Pack {
  T at[width];
};

template <typename T, int width> __device__ Pack<T, width> load(const void *from, std::int64_t i) {
  return *reinterpret_cast<const Pack<T, width> *>(static_cast<const T *>(from) + i);
}

template <typename T, int width>
__device__ void store(void *to, std::int64_t i, const Pack<T, width> &elements) {
  *reinterpret_cast<Pack<T, width> *>(static_cast<T *>(to) + i) = elements;
}

// What a loop is made of. run<width> computes elements i to i + width - 1, where i is a multiple of
// width; `packed` elements fill 16 bytes of the widest operand.
template <int results, int operands, int packed> struct Loop {
  static constexpr int outCount = results, inCount = operands, width = packed;
  struct Operands {
    void *outs[results];
    const void *ins[operands > 0 ? operands : 1];
  };
};

// Each thread takes every so-many-th pack, then of the elements behind the packs. Elements are
// independent, so results do not depend on the grid.
template <typename L>
__global__ void walk(typename L::Operands at, std::int64_t packs, std::int64_t n) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t pack = thread; pack < packs; pack += threads)
    L::template run<L::width>(at, pack * L::width);
  for (std::int64_t i = packs * L::width + thread; i < n; i += threads)
    L::template run<1>(at, i);
}

bool isAligned(const void *address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }

template <typename L>
void launch(void *const *outs, const void *const *ins, std::int64_t n, void *queue) {
  typename L::Operands at{};
  std::copy_n(outs, L::outCount, at.outs);
  std::copy_n(ins, L::inCount, at.ins);
  const bool isPacked = std::all_of(outs, outs + L::outCount, isAligned) &&
                        std::all_of(ins, ins + L::inCount, isAligned);
  constexpr std::int64_t block = 256, mostBlocks = 4096;
  std::int64_t packs = isPacked ? n / L::width : 0;
  const std::int64_t turns = packs + (n - packs * L::width);
  const std::int64_t blocks = std::clamp<std::int64_t>((turns + block - 1) / block, 1, mostBlocks);
  void *arguments[] = {&at, &packs, &n};
  cudaLaunchKernel(&walk<L>, dim3(static_cast<unsigned>(blocks)), dim3(block), arguments, 0,
                   static_cast<cudaStream_t>(queue));
}

// The same for dense operands of which some broadcast: the loop knows how many elements there are.
template <typename L, std::int64_t n>
void launchDense(void *const *outs, const void *const *ins, std::int64_t, void *queue) {
  launch<L>(outs, ins, n, queue);
}
)";

} // namespace syncline::codegen
