// The sending half of a collective, over links that fail.
#include "runtime/transport/collectives/SendThread.h"

#include <atomic>
#include <gtest/gtest.h>
#include <new>

namespace syncline {
namespace {

using namespace transport;

/// A link that throws what an allocation would, from its `failing`-th message on.
class ExhaustedLink : public Link {
public:
  explicit ExhaustedLink(int failing) : failing(failing) {}
  Status send(const void *, std::size_t) override {
    if (++sent >= failing)
      throw std::bad_alloc();
    return Status::ok();
  }
  Status receive(void *, std::size_t) override { return Status::ok(); }

  std::atomic<int> sent = 0;

private:
  const int failing;
};

// An exception in a send becomes the error of all waits behind it, and ends no process. Nothing is
// sent after it.
TEST(SendThread, ExceptionsBecomeErrors) {
  ExhaustedLink link(2);
  SendThread thread;
  const char byte = 0;
  for (int message = 0; message < 4; ++message)
    thread.push(link, &byte, 1);
  const Status s = thread.flush();
  EXPECT_EQ(s.kind(), ErrorKind::badInput);
  EXPECT_EQ(s.message(), "out of memory");
  EXPECT_EQ(link.sent, 2);
}

} // namespace
} // namespace syncline
