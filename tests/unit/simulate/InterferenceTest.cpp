// Operations beside messages: cases worked out by hand, and a judge for all others.
#include "tests/unit/simulate/Scenes.h"

#include "passes/simulate/ComputeStream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace syncline;
using namespace syncline::simulate;
using Kind = Operation::Kind;

namespace {

Operation compute(double seconds, Phase phase = Phase::backward) {
  return {.phase = phase, .layer = "c", .seconds = seconds};
}
Operation issue(int message) { return {.kind = Kind::issue, .message = message}; }
Operation wait(int message) { return {.kind = Kind::wait, .message = message}; }
Operation update(double seconds, int message) {
  return {.kind = Kind::update, .phase = Phase::update, .seconds = seconds, .message = message};
}

bool takesTime(const Operation &op) { return op.kind == Kind::compute || op.kind == Kind::update; }

/// Two ranks at twice the time beside messages, which travel at a second a megabyte.
Scenario beside(std::vector<Operation> operations, std::vector<int> megabytes) {
  Scenario scenario;
  scenario.operations = std::move(operations);
  for (int size : megabytes)
    scenario.messages.push_back({.name = "m", .bytes = std::int64_t{1'000'000} * size});
  scenario.machines = {.ranks = 2, .network = problem::LinkRates{0, 1e-6, 0}};
  scenario.machines.interference = 2;
  return scenario;
}

/// The same, but every message takes its stated cost once all ranks have it at hand.
Scenario stated(Scenario scenario) {
  for (Message &message : scenario.messages) {
    message.cost = std::make_shared<problem::AffineCost>(0, 1e-6);
    message.isStated = true;
  }
  return scenario;
}

void expectSpan(const Simulation &run, int rank, std::size_t op, double start, double end) {
  EXPECT_DOUBLE_EQ(run.operation(0, rank, op).start, start) << "rank " << rank << ", " << op;
  EXPECT_DOUBLE_EQ(run.operation(0, rank, op).end, end) << "rank " << rank << ", " << op;
}

/// When messages are under way on the rank, in order of time.
std::vector<Span> underWay(const Scenario &scenario, const Simulation &run, int rank) {
  std::vector<Span> spans;
  for (int step = 0; step < run.steps; ++step)
    for (std::size_t i = 0; i < run.messageCount; ++i) {
      Span span{run.message(step, rank, i).start, run.message(step, rank, i).end};
      for (int other = 0; other < run.ranks && scenario.messages[i].isStated; ++other)
        span.start = std::max(span.start, run.message(step, other, i).start);
      spans.push_back(span);
    }
  std::ranges::sort(spans, {}, &Span::start);
  return spans;
}

/// What a rank gets done from start to end, in seconds of work alone.
double workIn(const Span &whole, const std::vector<Span> &messages, double interference) {
  double work = 0, at = whole.start;
  for (const Span &message : messages) {
    const double begin = std::clamp(message.start, at, whole.end);
    const double end = std::clamp(message.end, begin, whole.end);
    work += begin - at + (end - begin) / interference;
    at = end;
  }
  return work + whole.end - at;
}

/// Every operation has done its work, no more and no less.
void expectWorkDone(const Scenario &scenario, const std::string &what) {
  Result<Simulation> run = runScenario(scenario);
  ASSERT_TRUE(run) << what << ": " << run.status().message();
  for (int rank = 0; rank < run->ranks; ++rank) {
    const std::vector<Span> messages = underWay(scenario, *run, rank);
    for (int step = 0; step < run->steps; ++step)
      for (std::size_t op = 0; op < run->operationCount; ++op)
        if (const Operation &done = scenario.operations[op]; takesTime(done)) {
          EXPECT_NEAR(
              workIn(run->operation(step, rank, op), messages, scenario.machines.interference),
              done.seconds * scenario.machines.slowdownOf(rank), 1e-9)
              << what << ", step " << step << ", rank " << rank << ", operation " << op;
        }
  }
}

/// Ranks with unequal speeds and links, up to three channels, some costs stated.
Scenario randomScenario(std::mt19937 &random) {
  auto between = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  Scenario scenario;
  Machines &machines = scenario.machines;
  machines.ranks = 2 + static_cast<int>(random() % 6);
  machines.network = problem::LinkRates{between(0, 1e-2), between(1e-9, 1e-7), between(0, 1e-8)};
  machines.servers = 1 + static_cast<int>(random() % 2);
  machines.interference = between(1, 3);
  for (int rank = 0; rank < machines.ranks; ++rank) {
    machines.slowdown.push_back(between(1, 3));
    if (random() % 3 == 0) {
      machines.nodeNetwork[rank] = *machines.network;
      machines.nodeNetwork[rank].secondsPerByte *= between(0.5, 3);
    }
  }
  scenario.steps = 1 + static_cast<int>(random() % 2);
  const int messages = 1 + static_cast<int>(random() % 6);
  scenario.operations.push_back(compute(between(0, 0.1), Phase::forward));
  for (int i = 0; i < messages; ++i) {
    const Scheme schemes[] = {Scheme::ring, Scheme::tree, Scheme::factors, Scheme::parameterServer,
                              Scheme::recursiveDoubling};
    scenario.messages.push_back({.name = "m",
                                 .scheme = schemes[random() % 5],
                                 .bytes = static_cast<std::int64_t>(random() % 2'000'000),
                                 .channel = static_cast<int>(random() % 3),
                                 .cost = std::make_shared<problem::AffineCost>(1e-3, 2e-8),
                                 .isStated = random() % 3 == 0});
    scenario.operations.push_back(compute(random() % 4 == 0 ? 0 : between(0, 0.05)));
    scenario.operations.push_back(issue(i));
  }
  for (int i = 0; i < messages; ++i) {
    scenario.operations.push_back(wait(i));
    if (random() % 2)
      scenario.operations.push_back(compute(between(0, 0.02), Phase::update));
    scenario.operations.push_back(update(between(0, 0.02), i));
  }
  return scenario;
}

} // namespace

TEST(ComputeStreamTest, GoesOnAtAnotherPaceWithWhatIsLeft) {
  ComputeStream stream;
  EXPECT_DOUBLE_EQ(stream.begin(10, 3), 13);
  EXPECT_EQ(stream.enter(11, 4), 19); // 2 s left, four times as long
  EXPECT_FALSE(stream.enter(12, 4));  // a second message changes nothing,
  EXPECT_FALSE(stream.leave(14, 4));  // nor when one of them ends
  EXPECT_EQ(stream.leave(15, 4), 16);
  EXPECT_DOUBLE_EQ(stream.busy(), 6);
  stream.finish();
  EXPECT_FALSE(stream.enter(16, 4)); // nothing runs
  EXPECT_DOUBLE_EQ(stream.begin(17, 1), 21);
}

TEST(ComputeStreamTest, OfTwoMessagesTheSlowerPaceCounts) {
  ComputeStream stream;
  EXPECT_DOUBLE_EQ(stream.begin(0, 4), 4);
  EXPECT_EQ(stream.enter(1, 2), 7);  // 3 s left, at half the speed
  EXPECT_EQ(stream.enter(3, 4), 11); // 2 s left, at a quarter
  EXPECT_FALSE(stream.leave(5, 2));  // the other one counts
  EXPECT_EQ(stream.leave(7, 4), 8);  // 1 s left
}

TEST(ComputeStreamTest, EachClassGoesOnAtItsPace) {
  ComputeStream stream;
  stream.enter(0, {3, 2, 4});
  EXPECT_DOUBLE_EQ(stream.begin(0, 1, problem::WorkClass::products), 2);
  stream.finish();
  EXPECT_DOUBLE_EQ(stream.begin(2, 1, problem::WorkClass::memory), 6);
  EXPECT_EQ(stream.enter(4, {9, 9, 1}), std::nullopt); // the first one slows it more
  EXPECT_EQ(stream.leave(4, {3, 2, 4}), 4.5);
  stream.finish();
  EXPECT_DOUBLE_EQ(stream.begin(5, 1), 14); // of no class
}

TEST(ComputeStreamTest, WithoutInterferenceNothingIsForeseenAnew) {
  ComputeStream stream;
  stream.begin(0, 0.1);
  const auto version = stream.version();
  EXPECT_FALSE(stream.enter(0.05, 1));
  EXPECT_FALSE(stream.leave(0.07, 1));
  EXPECT_EQ(stream.version(), version);
}

// The reference adds up the seconds that operations lose: to the latency of 1 s half, to the 3 s of
// bytes three quarters.
TEST(InterferenceTest, LatencyAndBytesCostWhatTheirFactorsSay) {
  Scenario scenario = beside({issue(0), compute(10), wait(0), update(1, 0)}, {3});
  scenario.machines.interference = 4;
  scenario.machines.latencyInterference = 2;
  scenario.messages[0].cost = std::make_shared<problem::AffineCost>(1, 1e-6);
  scenario.messages[0].isStated = true;
  const double lost = 1 * (1 - 1.0 / 2) + 3 * (1 - 1.0 / 4);
  EXPECT_DOUBLE_EQ(runScenario(scenario)->stepSeconds(), 10 + lost + 1);
  EXPECT_DOUBLE_EQ(slowing(scenario.messages[0], scenario.machines), 4 / (4 - lost));
  scenario.machines.latencyInterference = std::nullopt; // as the bytes
  EXPECT_DOUBLE_EQ(runScenario(scenario)->stepSeconds(), 10 + 4 * (1 - 1.0 / 4) + 1);
  scenario.messages[0].bytes = 0; // nothing but latency
  scenario.machines.latencyInterference = 2;
  EXPECT_DOUBLE_EQ(runScenario(scenario)->stepSeconds(), 10 + 0.5 + 1);
  scenario.machines.latencyInterference = 0.5;
  EXPECT_EQ(runScenario(scenario).status().message(),
            "scenario: expected an interference of at least 1, got 0.500000");
}

// A factor of the message's scheme replaces the common one.
TEST(InterferenceTest, SchemesHaveTheirOwn) {
  Scenario scenario = beside({issue(0), compute(10), wait(0), update(1, 0)}, {3});
  scenario.machines.interference = 4;
  scenario.messages[0].cost = std::make_shared<problem::AffineCost>(1, 1e-6);
  scenario.messages[0].isStated = true;
  scenario.machines.schemeInterference = {{scenario.messages[0].scheme, 2}, {Scheme::factors, 8}};
  EXPECT_DOUBLE_EQ(runScenario(scenario)->stepSeconds(), 10 + 4 * (1 - 1.0 / 2) + 1);
  scenario.messages[0].scheme = Scheme::sparse; // priced as factors
  EXPECT_DOUBLE_EQ(slowing(scenario.messages[0], scenario.machines), 8);
  scenario.messages[0].scheme = Scheme::tree;
  EXPECT_DOUBLE_EQ(slowing(scenario.messages[0], scenario.machines), 4);
  scenario.machines.schemeInterference[Scheme::tree] = 0.5;
  EXPECT_EQ(runScenario(scenario).status().message(),
            "scenario: expected an interference of at least 1, got 0.500000");
}

TEST(InterferenceTest, OneMessageOverTwoOperationsSlowsEachForItsPart) {
  const Scenario scenario =
      beside({compute(1), issue(0), compute(1), compute(2), wait(0), update(1, 0)}, {3});
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).end, 4); // as long as alone
  expectSpan(*run, 0, 0, 0, 1);
  expectSpan(*run, 0, 2, 1, 3);   // all of it beside the message
  expectSpan(*run, 0, 3, 3, 5.5); // 0.5 s until 4, 1.5 s alone
  expectSpan(*run, 0, 5, 5.5, 6.5);
  EXPECT_DOUBLE_EQ(run->stepSeconds(), 6.5);
  EXPECT_DOUBLE_EQ(run->resources[0].busy, 6.5); // the stream never rests
}

TEST(InterferenceTest, SeveralChannelsSlowAsMuchAsOne) {
  // The first message has the link until 2 s, both from then, alone the second takes until 6 s.
  Scenario scenario =
      beside({issue(0), compute(1), issue(1), compute(3), wait(0), wait(1)}, {3, 3});
  scenario.messages[1].channel = 1;
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).end, 4); // 1 MB of 3 left from 2 s on, at half the rate
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).end, 6);
  expectSpan(*run, 0, 1, 0, 2);
  expectSpan(*run, 0, 3, 2, 7); // 2 s of 3 until 6
}

TEST(InterferenceTest, NothingIsSlowedOnceTheLastMessageOfAllChannelsIsOver) {
  Scenario scenario = beside({issue(0), issue(1), compute(4), wait(0), wait(1)}, {1, 1});
  scenario.messages[1].channel = 1;
  expectSpan(*runScenario(scenario), 0, 2, 0, 5); // until 2 s share the link, 1 s is done
  scenario.messages[1].channel = 0;
  expectSpan(*runScenario(scenario), 0, 2, 0, 5); // one behind the other: just as long
}

TEST(InterferenceTest, WaitingIsNotSlowed) {
  const Scenario scenario = beside({compute(1), issue(0), wait(0), update(1, 0)}, {5});
  Result<Simulation> run = runScenario(scenario);
  expectSpan(*run, 0, 2, 1, 6);
  expectSpan(*run, 0, 3, 6, 7); // the message is over
  EXPECT_DOUBLE_EQ(run->exposed(scenario), 5);
}

TEST(InterferenceTest, ReconstructionAndUpdatesAreSlowedByTheMessagesBehind) {
  Scenario scenario = beside(
      {issue(0), issue(1), wait(0), compute(1, Phase::update), update(1, 0), wait(1), update(1, 1)},
      {2, 3});
  scenario.messages[0].scheme = Scheme::factors; // of two ranks: 2 MB each, one round
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).start, 2);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 1).end, 5);
  expectSpan(*run, 0, 3, 2, 4);
  expectSpan(*run, 0, 4, 4, 5.5); // half of it until 5
  expectSpan(*run, 0, 6, 5.5, 6.5);
}

TEST(InterferenceTest, AMessageMayBeginInTheMiddleOfAnOperation) {
  Scenario scenario =
      stated(beside({compute(1), issue(0), compute(4), wait(0), update(1, 0)}, {2}));
  scenario.machines.slowdown = {1, 3};
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).start, 1); // has the channel, but the other is not there
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).end, 5);   // from 3 s on
  expectSpan(*run, 0, 2, 1, 6);                     // 2 s alone, 1 s beside the message, 1 s alone
  expectSpan(*run, 1, 2, 3, 16);
}

TEST(InterferenceTest, AMessageThatIsNotStatedBeginsOnEachRankByItself) {
  Scenario scenario = beside({compute(1), issue(0), compute(4), wait(0), update(1, 0)}, {2});
  scenario.machines.slowdown = {1, 3};
  Result<Simulation> run = runScenario(scenario);
  EXPECT_DOUBLE_EQ(run->message(0, 0, 0).end, 5); // its second round needs the other's first
  expectSpan(*run, 0, 2, 1, 7);                   // 2 s beside the message, 2 s alone
}

TEST(InterferenceTest, SlownessOfRanksMultiplies) {
  Scenario scenario = beside({issue(0), compute(1), wait(0)}, {100});
  scenario.machines.slowdown = {1.5, 3};
  Result<Simulation> run = runScenario(scenario);
  expectSpan(*run, 0, 1, 0, 3);
  expectSpan(*run, 1, 1, 0, 6);
}

TEST(InterferenceTest, EveryOperationGetsItsWorkDone) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial)
    expectWorkDone(randomScenario(random), "trial " + std::to_string(trial));
}

TEST(InterferenceTest, OneForAllGivesTheSameAsEveryRankSimulated) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    Scenario scenario = randomScenario(random);
    scenario.machines.ranks = 4;
    scenario.machines.servers = 0;
    scenario.machines.slowdown.clear();
    scenario.machines.nodeNetwork.clear();
    for (Message &message : scenario.messages) {
      message.channel = 0; // ranks are in step as long as messages do not meet
      if (message.scheme == Scheme::tree)
        message.scheme = Scheme::ring; // trees have no rank that stands for all
    }
    Result<Simulation> folded = runScenario(scenario);
    scenario.jitter = 1e-15;
    Result<Simulation> all = runScenario(scenario);
    ASSERT_TRUE(folded && all);
    ASSERT_TRUE(folded->isFolded && !all->isFolded);
    for (int step = 0; step < scenario.steps; ++step)
      for (std::size_t op = 0; op < scenario.operations.size(); ++op)
        EXPECT_NEAR(folded->operation(step, 0, op).end, all->operation(step, 3, op).end, 1e-9)
            << "trial " << trial << ", operation " << op;
  }
}

TEST(InterferenceTest, OneIsAsIfThereWereNone) {
  std::mt19937 random(9);
  for (int trial = 0; trial < 50; ++trial) {
    Scenario scenario = randomScenario(random);
    scenario.machines.interference = 1;
    Result<Simulation> run = runScenario(scenario);
    ASSERT_TRUE(run);
    for (int rank = 0; rank < run->ranks; ++rank)
      for (std::size_t op = 0; op < run->operationCount; ++op)
        if (const Operation &done = scenario.operations[op]; takesTime(done)) {
          EXPECT_EQ( // to the last bit
              run->operation(0, rank, op).end,
              run->operation(0, rank, op).start +
                  done.seconds * scenario.machines.slowdownOf(rank));
        }
  }
}

TEST(InterferenceTest, RefusesWhatMakesComputingFaster) {
  for (double bad : {0.99, 0.0, -1.0, HUGE_VAL, std::nan("")}) {
    Scenario scenario = beside({issue(0), wait(0)}, {1});
    scenario.machines.interference = bad;
    EXPECT_NE(runScenario(scenario).status().message().find("expected an interference of at least"),
              std::string::npos)
        << bad;
  }
}
