// Reading ahead: equal to reading in place, bounded, and ending with one error.
#include "runtime/data/ReadAhead.h"

#include "tests/support/Patience.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>

namespace syncline {
namespace {

using data::HostBatch;
using data::ReadAhead;

/// A batch that says which step it belongs to.
Status readStep(std::int64_t step, HostBatch &batch) {
  batch.inputs.assign(8, static_cast<std::byte>(step));
  batch.targets.assign(2, static_cast<std::byte>(step / 2));
  return Status::ok();
}

void expectStep(std::int64_t step, const HostBatch &batch) {
  HostBatch wanted;
  ASSERT_TRUE(readStep(step, wanted).isOk());
  EXPECT_EQ(batch.inputs, wanted.inputs);
  EXPECT_EQ(batch.targets, wanted.targets);
}

// Every step has its own batch, from any number of threads, in order and after jumps.
TEST(ReadAhead, EqualsReadingInPlace) {
  for (int threads : {1, 2, 5}) {
    ReadAhead ahead(readStep, threads, 100);
    HostBatch batch;
    for (std::int64_t step = 0; step < 60; ++step) {
      ASSERT_TRUE(ahead.take(step, batch).isOk());
      expectStep(step, batch);
    }
    for (std::int64_t step : {7, 99, 8, 8, 50, 51, 52}) {
      ASSERT_TRUE(ahead.take(step, batch).isOk());
      expectStep(step, batch);
    }
    EXPECT_EQ(ahead.take(100, batch).kind(), ErrorKind::internal);
  }
}

// The steps behind the one that was taken are read without being asked for, and no more of them
// than one a thread and one.
TEST(ReadAhead, ReadsAheadWithinItsBound) {
  for (int threads : {1, 3}) {
    std::atomic<std::int64_t> reads = 0;
    ReadAhead ahead(
        [&](std::int64_t step, HostBatch &batch) {
          ++reads;
          return readStep(step, batch);
        },
        threads, 1000);
    ahead.seek(10);
    HostBatch batch;
    for (std::int64_t taken = 0; taken < 5; ++taken) {
      const std::int64_t wanted = taken + threads + 1;
      EXPECT_TRUE(test::eventually([&] { return reads >= wanted; }));
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); // one too many would show here
      EXPECT_EQ(reads, wanted);
      ASSERT_TRUE(ahead.take(10 + taken, batch).isOk());
    }
  }
}

// An error is that of the step whose samples cannot be read; the steps before it are good.
TEST(ReadAhead, ErrorBelongsToItsStep) {
  ReadAhead ahead(
      [](std::int64_t step, HostBatch &batch) {
        return step == 3 ? Status::badInput("'x.png': broken") : readStep(step, batch);
      },
      2, 10);
  HostBatch batch;
  for (std::int64_t step = 0; step < 3; ++step)
    EXPECT_TRUE(ahead.take(step, batch).isOk());
  const Status s = ahead.take(3, batch);
  EXPECT_EQ(s.kind(), ErrorKind::badInput);
  EXPECT_EQ(s.message(), "'x.png': broken");
}

// An exception in a thread is an error of its step, and nothing waits forever.
TEST(ReadAhead, ExceptionIsAnError) {
  ReadAhead ahead([](std::int64_t, HostBatch &) -> Status { throw std::runtime_error("no room"); },
                  1, 10);
  HostBatch batch;
  const Status s = ahead.take(4, batch);
  EXPECT_EQ(s.kind(), ErrorKind::internal);
  EXPECT_EQ(s.message(), "reading the samples of step 4: no room");
}

// A batch that was under way at a jump does not appear afterwards.
TEST(ReadAhead, DropsWhatAJumpOvertakes) {
  std::atomic<bool> isHeld = true, hasBegun = false;
  ReadAhead ahead(
      [&](std::int64_t step, HostBatch &batch) {
        if (step == 5) {
          hasBegun = true;
          while (isHeld)
            std::this_thread::yield();
          batch.inputs.assign(8, std::byte{255});
          batch.targets.clear();
          return Status::ok();
        }
        return readStep(step, batch);
      },
      2, 100);
  ahead.seek(5);
  while (!hasBegun)
    std::this_thread::yield();
  HostBatch batch;
  ASSERT_TRUE(ahead.take(4, batch).isOk());
  expectStep(4, batch);
  isHeld = false;
  ASSERT_TRUE(ahead.take(6, batch).isOk());
  expectStep(6, batch);
  ASSERT_TRUE(ahead.take(7, batch).isOk());
  expectStep(7, batch);
}

} // namespace
} // namespace syncline
