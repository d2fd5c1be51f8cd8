// The training loop over an executable whose steps can be captured: what it calls, and when.
#include "runtime/core/HostArithmetic.h"
#include "runtime/run/Trainer.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace core;

/// Two operations; notes what it is told: "b" beginStep, "0" run(0), "m" mark, "[" and "]" a
/// capture's ends, "r" replay, "." synchronize, "e" endStep, "o" outcome.
class NotingExecutable final : public Executable {
public:
  NotingExecutable() { infos.resize(2); }

  /// Operation 0 waits for a bucket, operation 1 computes, operation 2 issues the bucket.
  void carry() {
    infos.resize(3);
    infos[0].kind = OperationKind::wait;
    infos[2].kind = OperationKind::issue;
    infos[0].bucket = infos[2].bucket = 0;
    all.resize(1);
    all[0].id = 0;
  }
  std::string told() { return std::exchange(notes, ""); }
  bool cannotReplay = false; ///< as after a new optimizer
  Status ofRun;              ///< what run() says while capturing
  bool isAhead = false;
  double bucketRate = 0, stepRate = 0; ///< what the last calls of setRate(), setStepRate() said

  StepBuilder &builder() override { std::abort(); }
  Status finish() override { return Status::ok(); }
  std::span<const OperationInfo> operations() const override { return infos; }
  std::span<const Bucket> buckets() const override { return all; }
  std::span<const StepTensor> tensors() const override { return {}; }
  int find(Space, std::string_view) const override { return -1; }
  Interval space(Space) override { return {}; }
  Status read(int, std::span<std::byte>) override { return Status::ok(); }
  Status write(int, std::span<const std::byte>) override { return Status::ok(); }
  Status readVelocity(int, std::span<std::byte>) override { return Status::ok(); }
  Status writeVelocity(int, std::span<const std::byte>) override { return Status::ok(); }
  std::vector<StateInterval> stateIntervals() const override { return {}; }
  Status readState(const StateInterval &, std::span<std::byte>) override { return Status::ok(); }
  Status writeState(const StateInterval &, std::span<const std::byte>) override {
    return Status::ok();
  }
  Status setOptimizer(const OptimizerOptions &) override { return Status::ok(); }
  void setRate(int, double rate) override { bucketRate = rate; }
  void setStepRate(double rate) override { stepRate = rate; }
  Status setRules(const std::map<int, ParameterRule> &) override { return Status::ok(); }
  Status setUpdates(std::int64_t) override { return Status::ok(); }
  Status takeShard(int, std::int64_t, std::int64_t) override { return Status::ok(); }
  Status updateShard(int, const SumOverRanks &) override { return Status::ok(); }
  double loss() override { return 0; }
  std::string layout(int) const override { return ""; }
  std::string layoutFingerprint() const override { return ""; }
  WeightArithmetic &weights() override { return arithmetic; }
  std::int64_t extraBytes() const override { return 0; }

  void beginStep(std::int64_t step) override {
    notes += 'b';
    part = 0;
    turn = all.empty() && !isAhead ? 0 : step % 2;
  }
  Status run(int operation) override {
    notes += std::to_string(operation);
    return isCapturing ? ofRun : Status::ok();
  }
  Status synchronize() override { return notes += '.', Status::ok(); }
  bool canRunAhead() const override { return true; }
  void runAhead() override { isAhead = true; }
  Status endStep() override { return notes += 'e', Status::ok(); }
  Result<StepOutcome> outcome(std::int64_t step) override {
    notes += 'o';
    return StepOutcome{.loss = static_cast<double>(step)};
  }
  Status mark(int) override { return notes += 'm', Status::ok(); }
  Result<std::vector<double>> marks() override { return std::vector<double>{0, 1, 2}; }

  bool canCapture() const override { return true; }
  void choosePart(StepPart chosen) override { part = static_cast<int>(chosen); }
  bool isCaptured() const override { return hasStep[turn][part] && !cannotReplay; }
  Status beginCapture() override {
    isCapturing = true;
    cannotReplay = false;
    return notes += '[', Status::ok();
  }
  Status endCapture() override {
    isCapturing = false;
    hasStep[turn][part] = ofRun.isOk();
    return notes += ']', ofRun;
  }
  Status replay() override { return notes += 'r', Status::ok(); }

private:
  std::vector<OperationInfo> infos;
  std::string notes;
  std::vector<Bucket> all;
  bool isCapturing = false, hasStep[2][stepParts] = {};
  std::int64_t turn = 0;
  int part = 0;
  HostArithmetic arithmetic;
};

struct Captured {
  explicit Captured(bool carries = false) {
    if (carries)
      executable.carry();
    trainer = std::move(*run::Trainer::create(executable, 1));
    trainer->captureSteps();
  }

  std::string step(bool wholeGradients = false) {
    const Result<run::StepTimes> times =
        trainer->step(number++, wholeGradients ? run::StepEnd::wholeGradients : run::StepEnd::open);
    EXPECT_TRUE(times.isOk()) << times.status().message();
    return executable.told();
  }

  NotingExecutable executable;
  std::unique_ptr<run::Trainer> trainer;
  std::int64_t number = 0;
};

// The first step runs as it is: it connects and allocates what a capture could not.
TEST(TrainerCapture, CapturesTheSecondStepOnce) {
  Captured run;
  EXPECT_EQ(run.step(), "b01.");
  EXPECT_EQ(run.step(), "b[01]r.");
  EXPECT_EQ(run.step(), "br.");
}

TEST(TrainerCapture, RunsStepsWithWholeGradientsAsTheyAre) {
  Captured run;
  run.step();
  EXPECT_EQ(run.step(true), "b01.");
  EXPECT_EQ(run.step(), "b[01]r.");
  EXPECT_EQ(run.step(true), "b01.");
  EXPECT_EQ(run.step(), "br.");
}

TEST(TrainerCapture, CapturesAgainWhatHasNoUse) {
  Captured run;
  run.step();
  run.step();
  run.executable.cannotReplay = true;
  EXPECT_EQ(run.step(), "b[01]r.");
  EXPECT_EQ(run.step(), "br.");
}

// Where a step waits for messages of the step before, the first step and one behind a drain leave
// the wait out and run as they are. Steps of even and of odd numbers are captured once each.
TEST(TrainerCapture, CapturesTwoStepsThatTakeTurns) {
  Captured run(/*carries=*/true);
  EXPECT_EQ(run.step(), "b1.");
  EXPECT_EQ(run.step(), "b1.");
  EXPECT_EQ(run.step(), "b[1]r.");
  EXPECT_EQ(run.step(), "b[1]r.");
  EXPECT_EQ(run.step(), "br.");
  EXPECT_EQ(run.step(true), "b1.");
  EXPECT_EQ(run.step(), "b1.");
  EXPECT_EQ(run.step(), "br.");
  run.trainer->recordSteps();
  EXPECT_EQ(run.step(), "b[mm1mm]r.");
  EXPECT_EQ(run.step(true), "bmm1mm.");
  EXPECT_EQ(run.step(), "bmm1mm.");
  EXPECT_EQ(run.step(), "b[mm1mm]r.");
  EXPECT_EQ(run.step(), "br.");
}

// A carried bucket keeps the rate of its step, told or replayed, for an update that the next step
// tells. Replays find the rate of the step that begins.
TEST(TrainerCapture, CarriedBucketsKeepTheRateOfTheirStep) {
  Captured run(/*carries=*/true);
  const auto next = [&](bool wholeGradients = false) {
    run.trainer->setRate(static_cast<double>(run.number + 1));
    return run.step(wholeGradients);
  };
  for (int step = 0; step < 4; ++step) {
    next();
    EXPECT_EQ(run.executable.bucketRate, run.number);
  }
  EXPECT_EQ(next(), "br.");
  EXPECT_EQ(run.executable.bucketRate, 5);
  run.trainer->setRate(7);
  EXPECT_EQ(run.executable.stepRate, 7);
  EXPECT_EQ(run.executable.bucketRate, 5);
  EXPECT_EQ(next(/*wholeGradients=*/true), "b1."); // which leaves nothing under way
  run.trainer->setRate(8);
  EXPECT_EQ(run.executable.bucketRate, 8);
}

// The first micro-batch, those between and the last one are three parts, captured once each. The
// host learns of each micro-batch, and puts the next one's samples in place.
TEST(TrainerCapture, CapturesEachKindOfMicroBatch) {
  Captured run;
  std::vector<std::int64_t> samples;
  run.trainer->accumulate(4, [&](std::int64_t microBatch) {
    samples.push_back(microBatch);
    return Status::ok();
  });
  EXPECT_EQ(run.step(), "bb01.b01.b01.b01.");
  EXPECT_EQ(run.step(), "bb[01]r.b[01]r.br.b[01]r.");
  EXPECT_EQ(run.step(), "bbr.br.br.br.");
  EXPECT_EQ(samples, (std::vector<std::int64_t>{1, 2, 3, 5, 6, 7, 9, 10, 11}));
}

TEST(TrainerCapture, CapturesTwoMicroBatches) {
  Captured run;
  run.trainer->accumulate(2, [](std::int64_t) { return Status::ok(); });
  EXPECT_EQ(run.step(), "bb01.b01.");
  EXPECT_EQ(run.step(), "bb[01]r.b[01]r.");
  EXPECT_EQ(run.step(), "bbr.br.");
}

// Marks are part of what is captured; a record of each replay comes of them.
TEST(TrainerCapture, CapturesMarksForRecords) {
  Captured run;
  run.step();
  run.step();
  run.trainer->recordSteps();
  EXPECT_EQ(run.step(), "b[m0m1m]r.");
  EXPECT_EQ(run.step(), "br.");
  ASSERT_EQ(run.trainer->records().size(), 2u);
  EXPECT_EQ(run.trainer->records()[1].step, 3);
  EXPECT_EQ(run.trainer->records()[1].operations[1].end, 2);
}

// A step is told before the one before it is waited for. Losses belong to the steps that have them.
TEST(TrainerAhead, TellsAStepBeforeItWaitsForTheOneBefore) {
  Captured run;
  run.trainer->runAhead();
  EXPECT_EQ(run.trainer->ahead(), 1u);
  const auto next = [&] {
    EXPECT_TRUE(run.trainer->tell(run.number++).isOk());
    return run.executable.told();
  };
  const auto complete = [&] {
    EXPECT_TRUE(run.trainer->complete().isOk());
    EXPECT_TRUE(run.trainer->losses().settle().isOk());
    return run.executable.told();
  };
  EXPECT_EQ(next(), "b01e");
  EXPECT_EQ(next(), "b[01]re");
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(complete(), "o");
    EXPECT_EQ(run.trainer->losses().arrived().back().step, step);
    EXPECT_EQ(run.trainer->losses().arrived().back().loss, step);
    EXPECT_EQ(next(), step == 0 ? "b[01]re" : "bre");
  }
  ASSERT_TRUE(run.trainer->drain().isOk());
  EXPECT_EQ(run.executable.told(), "oo");
  EXPECT_EQ(run.trainer->losses().arrived().back().step, 4);
}

// What the host must know before the next step begins keeps steps from running ahead.
TEST(TrainerAhead, WaitsWhereTheNextStepNeedsTheEnd) {
  Captured recorded, accumulated, carried(/*carries=*/true);
  recorded.trainer->runAhead();
  recorded.trainer->recordSteps();
  EXPECT_EQ(recorded.trainer->ahead(), 0u);
  accumulated.trainer->accumulate(2, [](std::int64_t) { return Status::ok(); });
  for (Captured *run : {&accumulated, &carried}) {
    run->trainer->runAhead();
    EXPECT_EQ(run->trainer->ahead(), 0u);
    EXPECT_FALSE(run->executable.isAhead);
  }
}

TEST(TrainerCapture, EndsACaptureThatFails) {
  Captured run;
  run.step();
  run.executable.ofRun = Status::error(ErrorKind::internal, "cannot be captured");
  EXPECT_EQ(run.trainer->step(1).status().message(), "cannot be captured");
  EXPECT_EQ(run.executable.told(), "b[0]");
}

} // namespace
} // namespace syncline
