// The CUDA text that precedes a step's loops.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace syncline::codegen {

inline constexpr llvm::StringLiteral cudaIncludes = R"(#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cuda_runtime.h>
)";

inline constexpr llvm::StringLiteral cudaPrelude = R"(
template <typename T> __device__ T exponential(T x) { return std::exp(x); }
template <typename T> __device__ T errorFunction(T x) { return std::erf(x); }
template <typename T> __device__ T hyperbolicTangent(T x) { return std::tanh(x); }

// Neighbouring elements that are read and written at once, by accesses of up to 16 bytes.
template <typename T, int width>
struct alignas(sizeof(T) * width < 16 ? sizeof(T) * width : 16) Pack {
  T at[width];
};

template <typename T, int width> __device__ Pack<T, width> load(const void *from, std::int64_t i) {
  return *reinterpret_cast<const Pack<T, width> *>(static_cast<const T *>(from) + i);
}

template <typename T, int width>
__device__ void store(void *to, std::int64_t i, const Pack<T, width> &elements) {
  *reinterpret_cast<Pack<T, width> *>(static_cast<T *>(to) + i) = elements;
}

// The address of an operand whose floats may be stored as bf16, which are their upper halves.
template <typename Address> struct Either {
  Address data;
  bool isRounded;
};

__device__ inline float widen(std::uint16_t upper) {
  const std::uint32_t bits = std::uint32_t{upper} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Rounds to the nearest even bf16; not-a-number stays not-a-number. Devices have an instruction for
// it, which ptxas joins for two neighbours.
__device__ inline std::uint16_t rounded(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint16_t nearest;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(nearest) : "f"(value));
  return nearest;
#else
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t up = value != value ? 0x400000u : 0x7fffu + (bits >> 16 & 1u);
  return static_cast<std::uint16_t>((value != value ? bits | up : bits + up) >> 16);
#endif
}

template <typename T, int width>
__device__ Pack<T, width> load(const Either<const void *> &from, std::int64_t i) {
  if constexpr (std::is_same_v<T, float>)
    if (from.isRounded) {
      const auto stored = load<std::uint16_t, width>(from.data, i);
      Pack<float, width> elements;
#pragma unroll
      for (int j = 0; j < width; ++j)
        elements.at[j] = widen(stored.at[j]);
      return elements;
    }
  return load<T, width>(from.data, i);
}

template <typename T, int width>
__device__ void store(const Either<void *> &to, std::int64_t i, const Pack<T, width> &elements) {
  if constexpr (std::is_same_v<T, float>)
    if (to.isRounded) {
      Pack<std::uint16_t, width> stored;
#pragma unroll
      for (int j = 0; j < width; ++j)
        stored.at[j] = rounded(elements.at[j]);
      return store(to.data, i, stored);
    }
  store(to.data, i, elements);
}

// The base of a generated loop, whose run<width> computes elements i to i + width - 1 for an i that
// is a multiple of width. `packed` elements fill 16 bytes of the widest operand.
template <int results, int operands, int packed> struct Loop {
  static constexpr int outCount = results, inCount = operands, width = packed;
  template <typename Out, typename In> struct Places {
    Out outs[results];
    In ins[operands > 0 ? operands : 1];
  };
};

// With t threads, each takes every t-th pack, then every t-th element after the packs. Elements are
// independent, so results do not depend on the grid.
template <typename L, int width, typename Operands>
__global__ void walk(Operands at, std::int64_t packs, std::int64_t n) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t pack = thread; pack < packs; pack += threads)
    L::template run<width>(at, pack * width);
  for (std::int64_t i = packs * width + thread; i < n; i += threads)
    L::template run<1>(at, i);
}

bool isAligned(const void *address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }

template <typename L, int width, typename Operands>
void enqueue(Operands at, bool isPacked, std::int64_t n, void *queue) {
  constexpr std::int64_t block = 256, mostBlocks = 4096;
  std::int64_t packs = isPacked ? n / width : 0;
  const std::int64_t turns = packs + (n - packs * width);
  const std::int64_t blocks = std::clamp<std::int64_t>((turns + block - 1) / block, 1, mostBlocks);
  void *arguments[] = {&at, &packs, &n};
  cudaLaunchKernel(&walk<L, width, Operands>, dim3(static_cast<unsigned>(blocks)), dim3(block),
                   arguments, 0, static_cast<cudaStream_t>(queue));
}

template <typename L> bool areAligned(void *const *outs, const void *const *ins) {
  return std::all_of(outs, outs + L::outCount, isAligned) &&
         std::all_of(ins, ins + L::inCount, isAligned);
}

template <typename L>
void launch(void *const *outs, const void *const *ins, std::int64_t n, void *queue) {
  typename L::template Places<void *, const void *> at{};
  std::copy_n(outs, L::outCount, at.outs);
  std::copy_n(ins, L::inCount, at.ins);
  enqueue<L, L::width>(at, areAligned<L>(outs, ins), n, queue);
}

// Launches a loop over dense operands of which some broadcast. The number of elements is fixed.
template <typename L, std::int64_t n>
void launchDense(void *const *outs, const void *const *ins, std::int64_t, void *queue) {
  launch<L>(outs, ins, n, queue);
}

// Launches a loop over floats of which some are stored as bf16: operand i where bit i of `mask` is
// set. Inputs count before results.
template <typename L, int width>
void launchRounded(void *const *outs, const void *const *ins, std::int64_t n, std::uint64_t mask,
                   void *queue) {
  typename L::template Places<Either<void *>, Either<const void *>> at{};
  for (int i = 0; i < L::inCount; ++i)
    at.ins[i] = {ins[i], (mask >> i & 1) != 0};
  for (int i = 0; i < L::outCount; ++i)
    at.outs[i] = {outs[i], (mask >> (L::inCount + i) & 1) != 0};
  enqueue<L, width>(at, areAligned<L>(outs, ins), n, queue);
}
)";

} // namespace syncline::codegen
