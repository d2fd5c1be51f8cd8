// When gradients are ready.
#include "passes/cost/Timeline.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

namespace syncline::cost {
namespace {

// Operations run one after the other; a gradient is ready when the operation that makes it ends,
// whatever stands between it and its update. Updates are no part of the clock.
TEST(Timeline, Step) {
  Parsed parsed(R"(nn.step @s batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %w = nn.parameter "w" at 0 : tensor<4x8xf32>
    %v = nn.parameter "v" at 0 : tensor<4x8xf32>
    %y = nn.unary relu %x {nn.seconds = 1.0 : f64} : tensor<4x8xf32>
    %dw = nn.unary relu %y {nn.seconds = 2.0 : f64, nn.backward} : tensor<4x8xf32>
    %dv = nn.unary relu %dw {nn.seconds = 4.0 : f64, nn.backward} : tensor<4x8xf32>
    %last = nn.unary relu %dv {nn.seconds = 8.0 : f64, nn.backward} : tensor<4x8xf32>
    nn.update %v, %dv {nn.seconds = 0.5 : f64} : tensor<4x8xf32>, tensor<4x8xf32>
    %g = sync.gradient %dw "w" : tensor<4x8xf32>
    nn.update %w, %g {nn.seconds = 0.25 : f64} : tensor<4x8xf32>, tensor<4x8xf32>
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  const auto timeline = timelineOf(parsed.step());
  ASSERT_TRUE(succeeded(timeline)) << parsed.error;
  EXPECT_EQ(timeline->forward, 1);
  EXPECT_EQ(timeline->backwardEnd, 15);
  EXPECT_EQ(timeline->updates, 0.75);
  ASSERT_EQ(timeline->gradients.size(), 2u);
  EXPECT_EQ(timeline->gradients[0].name, "w");
  EXPECT_EQ(timeline->gradients[0].ready, 3);
  EXPECT_EQ(timeline->gradients[0].bytes, 128);
  EXPECT_EQ(timeline->gradients[1].name, "v");
  EXPECT_EQ(timeline->gradients[1].ready, 7);
}

// A parameter of a trace is read where its reader begins, by default its own layer; one that the
// forward pass reads at no time must be there at its beginning.
TEST(Timeline, ReadersOfTraces) {
  Parsed parsed(R"(sync.trace @net {
    sync.layer "n" bytes 0 forward 2.0 backward 0.0
    sync.layer "w" bytes 64 forward 0.0 backward 1.0 {reader = "n", update = 0.25 : f64}
    sync.layer "v" bytes 64 forward 4.0 backward 1.0 {update = 0.5 : f64}
    sync.layer "u" bytes 64 forward 0.0 backward 1.0
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  const Timeline timeline = timelineOf(*parsed.module->getOps<sync::TraceOp>().begin(), 2);
  ASSERT_EQ(timeline.gradients.size(), 3u);
  EXPECT_EQ(timeline.gradients[1].firstRead, 4);
  EXPECT_EQ(readingOf(timeline), (std::vector<double>{0, 4, 0}));
  EXPECT_EQ(readingOf(timeline, {"v", "w"}), (std::vector<double>{4, 0}));
  EXPECT_EQ(tailsOf(timeline), (std::vector<double>{13, 8, 13}));
}

// Products interrupt what lives on the memory's bandwidth; neighbours are one span.
TEST(Timeline, MemoryBound) {
  Parsed parsed(R"(nn.step @s batch 4 {
    %x = nn.input "x" : tensor<4x4xf32>
    %a = nn.unary relu %x {nn.seconds = 1.0 : f64} : tensor<4x4xf32>
    %b = nn.unary relu %a {nn.seconds = 2.0 : f64} : tensor<4x4xf32>
    %c = nn.matmul %a, %b {nn.seconds = 4.0 : f64, nn.backward} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = nn.unary relu %c {nn.seconds = 8.0 : f64, nn.backward} : tensor<4x4xf32>
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  const auto timeline = timelineOf(parsed.step());
  ASSERT_TRUE(succeeded(timeline)) << parsed.error;
  ASSERT_EQ(timeline->memoryBound->size(), 2u);
  EXPECT_EQ(timeline->memoryBound->at(0).begin, 0);
  EXPECT_EQ(timeline->memoryBound->at(0).end, 3);
  EXPECT_EQ(timeline->memoryBound->at(1).begin, 7);
  EXPECT_EQ(timeline->memoryBound->at(1).end, 15);
}

// A step that was not predicted is told which pass is missing.
TEST(Timeline, NotPredicted) {
  Parsed parsed(R"(nn.step @s batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %y = nn.unary relu %x : tensor<4x8xf32>
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  EXPECT_TRUE(failed(timelineOf(parsed.step())));
  EXPECT_EQ(parsed.error,
            "'nn.unary' op expected 'nn.seconds': the pass 'cost' did not run on this step");
}

// A trace runs forward in order and backward in reverse; layers without parameters only take time.
TEST(Timeline, Trace) {
  Parsed parsed(R"(sync.trace @t {
    sync.layer "a" bytes 100 forward 1.0 backward 2.0
    sync.layer "relu" bytes 0 forward 0.5 backward 0.5
    sync.layer "b" bytes 200 forward 3.0 backward 4.0
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  const Timeline timeline = timelineOf(*parsed.module->getOps<sync::TraceOp>().begin());
  EXPECT_FALSE(timeline.memoryBound);
  EXPECT_EQ(timeline.forward, 4.5);
  EXPECT_EQ(timeline.backwardEnd, 11);
  ASSERT_EQ(timeline.gradients.size(), 2u);
  EXPECT_EQ(timeline.gradients[0].name, "b");
  EXPECT_EQ(timeline.gradients[0].ready, 8.5);
  EXPECT_EQ(timeline.gradients[1].name, "a");
  EXPECT_EQ(timeline.gradients[1].ready, 11);
}

// Where nodes are slower, every time of a trace is longer.
TEST(Timeline, SlowTrace) {
  Parsed parsed(R"(sync.trace @t {
    sync.layer "a" bytes 100 forward 1.0 backward 2.0
    sync.layer "b" bytes 200 forward 3.0 backward 4.0
  })");
  ASSERT_TRUE(parsed.module) << parsed.error;
  const Timeline timeline = timelineOf(*parsed.module->getOps<sync::TraceOp>().begin(), 1.5);
  EXPECT_EQ(timeline.forward, 6);
  EXPECT_EQ(timeline.gradients[0].ready, 12);
  EXPECT_EQ(timeline.backwardEnd, 15);
}

} // namespace
} // namespace syncline::cost
