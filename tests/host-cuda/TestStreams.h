// Streams, events and slow work for the tests of the stand-ins.
#pragma once

#include "tests/host-cuda/Stream.h"
#include "tests/support/Patience.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

namespace syncline::hostcuda {

/// A variable of the environment, until the end of the scope.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;
  ~Variable() { unsetenv(name); }

private:
  const char *name;
};

struct TestStream {
  TestStream() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  TestStream(const TestStream &) = delete;
  TestStream &operator=(const TestStream &) = delete;
  ~TestStream() { cudaStreamDestroy(stream); }
  operator cudaStream_t() const { return stream; }
  cudaStream_t stream = nullptr;
};

struct TestEvent {
  explicit TestEvent(unsigned flags = cudaEventDefault) {
    EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
  }
  TestEvent(const TestEvent &) = delete;
  TestEvent &operator=(const TestEvent &) = delete;
  ~TestEvent() { cudaEventDestroy(event); }
  operator cudaEvent_t() const { return event; }
  cudaEvent_t event = nullptr;
};

/// Holds a stream up until it is opened.
class Gate {
public:
  void holdUp(cudaStream_t stream) {
    EXPECT_EQ(enqueue(stream, [moment = moment] { moment->wait(); }), cudaSuccess);
  }
  void open() { moment->pass(); }
  ~Gate() { open(); }

private:
  std::shared_ptr<Moment> moment = std::make_shared<Moment>();
};

} // namespace syncline::hostcuda
