// Blocks of threads that take turns on a stream's thread.
#include "tests/host-cuda/cuda_runtime.h"

#include "tests/host-cuda/Stream.h"

#include <ucontext.h>

namespace syncline::hostcuda {

constinit thread_local uint3 threadPlace{}, blockPlace{};
constinit thread_local dim3 gridExtents{}, blockExtents{};

namespace {

constexpr std::size_t stackBytes = 64 << 10;

/// Runs threads of a block, one behind the other, until one waits: the others get another fiber.
struct Fiber {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack{new std::byte[stackBytes]};
  unsigned thread = 0; ///< that it runs
  bool isDone = true;
};

/// What the calling stream's thread runs.
struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::size_t used = 0; ///< of the fibers
  std::vector<double> laneValues;
  ucontext_t scheduler;
  Fiber *running = nullptr;
  const std::function<void()> *body = nullptr;
  unsigned begun = 0; ///< threads
};

thread_local Block current;

void enter() {
  Block &own = current;
  while (own.begun < blockExtents.x) {
    own.running->thread = own.begun++;
    threadPlace = {own.running->thread, 0, 0};
    (*own.body)();
  }
  own.running->isDone = true;
}

void resume(Fiber &fiber) {
  current.running = &fiber;
  threadPlace = {fiber.thread, 0, 0};
  swapcontext(&current.scheduler, &fiber.context);
}

Fiber &freshFiber() {
  if (current.used == current.fibers.size())
    current.fibers.push_back(std::make_unique<Fiber>());
  Fiber &fiber = *current.fibers[current.used++];
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = stackBytes;
  fiber.context.uc_link = &current.scheduler;
  fiber.isDone = false;
  makecontext(&fiber.context, enter, 0);
  return fiber;
}

/// All threads to their first wait; then turn after turn, to each one's next.
void runBlock() {
  current.begun = 0;
  current.used = 0;
  while (current.begun < blockExtents.x)
    resume(freshFiber());
  bool isLeft = true;
  while (isLeft) {
    isLeft = false;
    for (std::size_t i = 0; i < current.used; ++i)
      if (Fiber &fiber = *current.fibers[i]; !fiber.isDone) {
        resume(fiber);
        isLeft |= !fiber.isDone;
      }
  }
}

void runBlocks(dim3 grid, dim3 block, const std::function<void()> &thread) {
  gridExtents = grid;
  blockExtents = block;
  current.body = &thread;
  current.laneValues.resize(block.x);
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) {
      blockPlace = {x, y, 0};
      runBlock();
    }
}

} // namespace

cudaError_t launchBlocks(dim3 grid, dim3 block, cudaStream_t stream, std::function<void()> thread) {
  if (block.x == 0 || block.x > 1024 || grid.x == 0 || grid.y == 0 || grid.y > 65535)
    return said(cudaErrorInvalidConfiguration);
  if (block.y != 1 || block.z != 1 || grid.z != 1) // nobody needs them
    return said(cudaErrorNotSupported);
  return launch(stream, [=] { runBlocks(grid, block, thread); });
}

void waitForBlock() { swapcontext(&current.running->context, &current.scheduler); }

double valueOfLane(double own, unsigned lane) {
  const unsigned thread = threadPlace.x;
  current.laneValues[thread] = own;
  waitForBlock();
  const double value = current.laneValues[thread / 32 * 32 + lane];
  waitForBlock(); // nobody writes again before all have read
  return value;
}

} // namespace syncline::hostcuda
