// Choosing engines of convolutions by time, and the table that keeps the choice.
#include "tests/conformance/StepCase.h"
#include "tests/host-cuda/HostDnn.h"
#include "tests/host-cuda/HostKernels.h"

#include "runtime/cuda/CudaExecutable.h"

namespace syncline::conformance {
namespace {

using namespace core;

Result<std::unique_ptr<Executable>> create(const ExecutableOptions &given) {
  ExecutableOptions options = given;
  options.precision = Precision::tf32;
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(options));
}

const Window same3{{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

/// The engines before timing, after the first has refused to run, and after timing.
const std::string listed = "eng6 eng6 eng6", runnable = "eng7_k2=3_k13=1";
const std::string fastest = "eng9 eng9 eng9";

/// A step of two equal convolutions and the gradient of the weights of one, ready to run. All but
/// one of the library's engines are slow while it lives.
struct Step {
  Step() {
    hostcuda::slowness = 3000;
    const Tensor x = run.state("x", randomArray({2, 4, 5, 5}, 1));
    const Tensor w = run.state("w", randomArray({4, 4, 3, 3}, 2));
    y = run.result({2, 4, 5, 5});
    run.step().conv("first", x, w, none, y, same3);
    run.step().conv("second", y, w, none, run.result({2, 4, 5, 5}), same3);
    dw = run.result({4, 4, 3, 3});
    run.step().convBackwardWeights("first", x, y, dw, none, same3);
    run.begin();
  }
  ~Step() { hostcuda::slowness = 0; }

  cuda::CudaExecutable &executable() { return static_cast<cuda::CudaExecutable &>(*run); }
  Result<KernelChoice> choose(const std::string &table, bool times) {
    return executable().chooseEngines(table, times);
  }
  /// The operations' engines: "eng9 eng9 eng9".
  std::string engines() {
    std::string text;
    for (const OperationInfo &info : (*run).operations()) {
      const std::string named = info.implementation.substr(6);
      text += (text.empty() ? "" : " ") + named.substr(0, named.find(' '));
    }
    return text;
  }
  /// Runs the step, and returns its results.
  std::pair<std::vector<double>, std::vector<double>> results() {
    run.runOperations(0, 3);
    return {run.values(y).values, run.values(dw).values};
  }

  StepCase run{{"cuda", create, streamCopy, streamKernels()}};
  Tensor y, dw;
};

/// The table that a step's timing makes of this one.
std::string timedTable(const std::string &table = "") {
  const Result<KernelChoice> choice = Step().choose(table, true);
  return choice ? choice->table : choice.status().message();
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(EnginesTest, AreTheLibrarysFirstBeforeTheyAreTimed) {
  Step step;
  EXPECT_EQ(step.engines(), listed);
  step.run.runOperations(0, 3);
  EXPECT_EQ(step.engines(), runnable + " " + runnable + " " + runnable); // the first refused to run
}

TEST(EnginesTest, TheOlderInterfacesAreTimedToo) {
  const hostcuda::WithoutGraphs none;
  Step step;
  EXPECT_EQ(step.engines(), "7 7 5");
  step.run.runOperations(0, 3);
  EXPECT_EQ(step.engines(), "1 1 1");
  ASSERT_TRUE(step.choose("", true));
  EXPECT_EQ(step.engines(), "0 0 3");
}

TEST(EnginesTest, TheFastestOfEqualResultsIsTaken) {
  Step untimed, timed;
  const Result<KernelChoice> choice = timed.choose("", true);
  ASSERT_TRUE(choice) << choice.status().message();
  EXPECT_EQ(timed.engines(), fastest);
  EXPECT_EQ(choice->timed, 3);
  ASSERT_EQ(choice->kernels.size(), 3u);
  EXPECT_EQ(choice->kernels[2].operation, "convBackwardWeights");
  EXPECT_EQ(choice->kernels[2].layer, "first");
  EXPECT_EQ(choice->kernels[2].kernel.rfind("cudnn:eng9 f32 channels-last (", 0), 0u);
  EXPECT_LT(choice->kernels[2].seconds, 2e-3);
  EXPECT_EQ(timed.results(), untimed.results());
  EXPECT_EQ(timed.engines(), fastest);
}

// Equal convolutions are timed once, so that they take the same engine.
TEST(EnginesTest, EqualConvolutionsHaveOneTime) {
  Step step;
  const Result<KernelChoice> choice = step.choose("", true);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->kernels[0].seconds, choice->kernels[1].seconds);
}

TEST(EnginesTest, TimingLeavesNothingBehind) {
  Step step;
  const Array x = step.run.values({0}), w = step.run.values({1});
  ASSERT_TRUE(step.choose("", true));
  EXPECT_EQ(step.run.values({0}).values, x.values);
  EXPECT_EQ(step.run.values({1}).values, w.values);
  EXPECT_EQ(step.run.values(step.y).values, std::vector<double>(200, 0.0));
}

TEST(EnginesTest, LaterRunsAndOtherRanksTakeTheTables) {
  const std::string table = timedTable();
  for (const bool times : {false, true}) {
    Step step;
    hostcuda::slowness = 0; // so that timing would choose anything
    const Result<KernelChoice> choice = step.choose(table, times);
    ASSERT_TRUE(choice) << choice.status().message();
    EXPECT_EQ(choice->timed, 0);
    EXPECT_EQ(choice->table, table);
    EXPECT_EQ(choice->kernels.size(), 3u);
    EXPECT_EQ(step.engines(), fastest);
  }
}

TEST(EnginesTest, TheTableHasAReadableLineForEachConvolution) {
  const std::string table = timedTable();
  const std::string version = std::to_string(CUDNN_MAJOR) + "." + std::to_string(CUDNN_MINOR) +
                              "." + std::to_string(CUDNN_PATCHLEVEL);
  const std::string geometry = "x 2x4x5x5 w 4x4x3x3 y 2x4x5x5 pads 1,1 strides 1,1 dilations 1,1 "
                               "groups 1\tf32 channels-last\t";
  for (const char *operation : {"conv\tfirst\t", "conv\tsecond\t", "convBackwardWeights\tfirst\t"})
    EXPECT_NE(table.find("\nhost (9.0)\t" + version + "\ttf32\t" + operation + geometry),
              std::string::npos)
        << table;
  EXPECT_EQ(std::ranges::count(table, '\n'), 5);
}

// Lines of other devices, versions and models are not ours; they stay for those that use the file.
TEST(EnginesTest, LinesForOthersAreKept) {
  const std::string other = replaced(timedTable(), "host (9.0)", "card (8.0)");
  Step step;
  const Result<KernelChoice> ignored = step.choose(other, false);
  ASSERT_TRUE(ignored);
  EXPECT_EQ(ignored->table, other);
  EXPECT_TRUE(ignored->kernels.empty());
  EXPECT_EQ(step.engines(), listed);
  const Result<KernelChoice> added = step.choose(other, true);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->timed, 3);
  EXPECT_EQ(std::ranges::count(added->table, '\n'), 8);
  EXPECT_NE(added->table.find("card (8.0)"), std::string::npos);
}

TEST(EnginesTest, EnginesThatTheLibraryDoesNotOfferAreTimedAgain) {
  const std::string stale =
      replaced(timedTable(), "channels-last\teng9\t", "channels-last\teng99\t");
  const std::string again = timedTable(stale);
  EXPECT_EQ(again.find("\teng99\t"), std::string::npos) << again;
  EXPECT_EQ(std::ranges::count(again, '\n'), 5);
}

TEST(EnginesTest, BrokenTablesAreRefused) {
  Step step;
  const std::string table = timedTable();
  auto said = [&](const std::string &text) {
    const Result<KernelChoice> choice = step.choose(text, true);
    EXPECT_EQ(choice.status().exitCode(), choice ? 0 : 1);
    return choice ? "" : choice.status().message();
  };
  EXPECT_EQ(said("x\n"), "line 1: this is no table of engines");
  EXPECT_EQ(said(replaced(table, "engine\t", "")), "line 2: this is no table of engines");
  EXPECT_EQ(said(table + "a\tb\n"), "line 6: expected 9 columns, got 2");
  EXPECT_EQ(said(table + "1\t2\t3\t4\t5\t6\t7\t8\tx\n"),
            "line 6: expected an engine and its milliseconds, got '8\tx'");
}

// The workspace is the chosen engine's, and grows where a refusal makes way for another.
TEST(EnginesTest, TheWorkspaceIsTheChosenEngines) {
  Step step;
  const std::int64_t before = (*step.run).extraBytes();
  step.run.runOperations(0, 3);
  EXPECT_EQ((*step.run).extraBytes() - before, 1000);
  ASSERT_TRUE(step.choose("", true));
  EXPECT_EQ((*step.run).extraBytes() - before, 5000);
}

} // namespace
} // namespace syncline::conformance
