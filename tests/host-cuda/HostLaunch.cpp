// Blocks of threads that take turns on a stream's thread.
#undef _FORTIFY_SOURCE // whose longjmp refuses other stacks

#include "tests/host-cuda/cuda_runtime.h"

#include "tests/host-cuda/Stream.h"

#include <csetjmp>
#include <ucontext.h>

namespace syncline::hostcuda {

constinit thread_local uint3 threadPlace{}, blockPlace{};
constinit thread_local dim3 gridExtents{}, blockExtents{};

namespace {

constexpr std::size_t stackBytes = 64 << 10;

/// Runs threads of a block, one behind the other, until one waits: the others get another fiber.
struct Fiber {
  ucontext_t begin{};
  jmp_buf place; ///< where it goes on
  std::unique_ptr<std::byte[]> stack{new std::byte[stackBytes]};
  unsigned thread = 0; ///< that it runs
  bool isStarted = false, isDone = true;
};

/// What the calling stream's thread runs.
struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::size_t used = 0; ///< of the fibers
  std::vector<double> laneValues;
  jmp_buf scheduler;
  Fiber *running = nullptr;
  const std::function<void()> *body = nullptr;
  unsigned begun = 0; ///< threads
};

thread_local Block current;

/// swapcontext() would ask the kernel for signals each time.
[[gnu::noinline]] void change(jmp_buf from, jmp_buf to) {
  if (_setjmp(from) == 0)
    _longjmp(to, 1);
}

/// Block after block.
void enter() {
  Block &own = current;
  Fiber &fiber = *own.running;
  while (true) {
    while (own.begun < blockExtents.x) {
      fiber.thread = own.begun++;
      threadPlace = {fiber.thread, 0, 0};
      (*own.body)();
    }
    fiber.isDone = true;
    change(fiber.place, own.scheduler);
  }
}

[[gnu::noinline]] void start(Fiber &fiber, jmp_buf from) {
  getcontext(&fiber.begin);
  fiber.begin.uc_stack.ss_sp = fiber.stack.get();
  fiber.begin.uc_stack.ss_size = stackBytes;
  makecontext(&fiber.begin, enter, 0);
  if (_setjmp(from) == 0)
    setcontext(&fiber.begin);
}

void resume(Fiber &fiber) {
  current.running = &fiber;
  threadPlace = {fiber.thread, 0, 0};
  if (std::exchange(fiber.isStarted, true))
    change(current.scheduler, fiber.place);
  else
    start(fiber, current.scheduler);
}

Fiber &freshFiber() {
  if (current.used == current.fibers.size())
    current.fibers.push_back(std::make_unique<Fiber>());
  Fiber &fiber = *current.fibers[current.used++];
  fiber.isDone = false;
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

void waitForBlock() { change(current.running->place, current.scheduler); }

double valueOfLane(double own, unsigned lane) {
  const unsigned thread = threadPlace.x;
  current.laneValues[thread] = own;
  waitForBlock();
  const double value = current.laneValues[thread / 32 * 32 + lane];
  waitForBlock(); // nobody writes again before all have read
  return value;
}

} // namespace syncline::hostcuda
