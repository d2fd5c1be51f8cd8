// Blocks of threads that take turns on a stream's thread.
#undef _FORTIFY_SOURCE // whose longjmp refuses other stacks

#include "tests/host-cuda/cuda_runtime.h"

#include "tests/host-cuda/Stream.h"

#include <csetjmp>
#include <numeric>
#include <string>
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

/// Meets each of `count` places once, in an order that depends on `number`: a device promises none.
struct Walk {
  std::uint64_t count, stride, place;

  static Walk over(std::uint64_t count, std::uint64_t number) {
    std::uint64_t stride = count * 5 / 8 + number % 7 + 1;
    while (std::gcd(stride, count) != 1)
      ++stride;
    return {count, stride % count, number % count};
  }
  std::uint64_t next() {
    const std::uint64_t here = place;
    place += stride;
    place -= place >= count ? count : 0;
    return here;
  }
};

/// What the calling stream's thread runs.
struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::size_t used = 0; ///< of the fibers
  std::vector<double> laneValues;
  jmp_buf scheduler;
  Fiber *running = nullptr;
  const std::function<void()> *body = nullptr;
  unsigned begun = 0;  ///< threads
  Walk order{1, 0, 0}; ///< of the threads
};

thread_local Block current;

/// swapcontext() would ask the kernel for signals each time.
[[gnu::noinline]] void change(jmp_buf from, jmp_buf to) {
  if (_setjmp(from) == 0)
    _longjmp(to, 1);
}

void enter() {
  Block &own = current;
  Fiber &fiber = *own.running;
  while (true) {
    while (own.begun < blockExtents.x) {
      ++own.begun;
      fiber.thread = static_cast<unsigned>(own.order.next());
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
void runBlock(std::uint64_t number) {
  current.order = Walk::over(blockExtents.x, number);
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
  thread_local std::uint64_t launches = setting("SYNCLINE_HOST_CUDA_SEED", 1);
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y;
  Walk order = Walk::over(blocks, ++launches);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t place = order.next();
    blockPlace = {static_cast<unsigned>(place % grid.x), static_cast<unsigned>(place / grid.x), 0};
    runBlock(launches + place);
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

/// What kernels, compiled with -fsanitize=alignment, call before an access to an address that is no
/// multiple of the type's alignment. Such an access breaks a device; this machine would forgive it.
extern "C" void __ubsan_handle_type_mismatch_v1(void *data, void *) {
  struct Place {
    const char *file;
    std::uint32_t line, column;
  };
  const Place &place = *static_cast<const Place *>(data);
  if (syncline::hostcuda::broken())
    return;
  const std::string what =
      "misaligned address, " + std::string(place.file) + ":" + std::to_string(place.line);
  syncline::hostcuda::breakDevice(cudaErrorMisalignedAddress, what.c_str());
}
