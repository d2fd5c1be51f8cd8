// Blocks of threads that take turns on one thread of the host.
#include "tests/conformance/host-cuda/cuda_runtime.h"

#include <ucontext.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace syncline::conformance {

uint3 threadPlace, blockPlace;
dim3 gridExtents, blockExtents;

namespace {

constexpr std::size_t stackBytes = 64 << 10;

/// A thread of a block: where it stands, and its stack.
struct Fiber {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stackBytes);
  bool isDone = true;
};

std::vector<Fiber> fibers;
std::vector<double> laneValues;
ucontext_t scheduler;
Fiber *running = nullptr;
const std::function<void()> *body = nullptr;

void enter() {
  (*body)();
  running->isDone = true;
}

/// A turn of every thread that is not done. Whether any is left.
bool takeTurns() {
  bool isLeft = false;
  for (unsigned t = 0; t < blockExtents.x; ++t) {
    Fiber &fiber = fibers[t];
    if (fiber.isDone)
      continue;
    threadPlace = {t, 0, 0};
    running = &fiber;
    swapcontext(&scheduler, &fiber.context);
    isLeft |= !fiber.isDone;
  }
  return isLeft;
}

void runBlock() {
  for (unsigned t = 0; t < blockExtents.x; ++t) {
    Fiber &fiber = fibers[t];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stackBytes;
    fiber.context.uc_link = &scheduler;
    fiber.isDone = false;
    makecontext(&fiber.context, enter, 0);
  }
  while (takeTurns()) {
  }
}

} // namespace

cudaError_t runBlocks(dim3 grid, dim3 block, const std::function<void()> &thread) {
  if (block.x > 1024 || grid.y > 65535 || grid.x == 0 || grid.y == 0 || block.y != 1)
    return cudaErrorInvalidConfiguration;
  gridExtents = grid;
  blockExtents = block;
  body = &thread;
  if (fibers.size() < block.x)
    fibers = std::vector<Fiber>(block.x);
  laneValues.resize(block.x);
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) {
      blockPlace = {x, y, 0};
      runBlock();
    }
  return cudaSuccess;
}

void waitForBlock() { swapcontext(&running->context, &scheduler); }

double valueOfLane(double own, unsigned lane) {
  const unsigned thread = threadPlace.x;
  laneValues[thread] = own;
  waitForBlock();
  const double value = laneValues[thread / 32 * 32 + lane];
  waitForBlock(); // nobody writes again before all have read
  return value;
}

} // namespace syncline::conformance
