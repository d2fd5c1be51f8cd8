// Training steps by every way a bucket can travel, ranks as threads: the same parameters, the
// promised bytes.
#include "Messages.h"
#include "Ranks.h"

#include "runtime/cpu/CpuBackend.h"
#include "runtime/run/Trainer.h"
#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/collectives/DedicatedServers.h"

#include <array>
#include <mutex>
#include <thread>
#include <utility>

namespace syncline {
namespace {

using namespace core;
using namespace run;
using namespace transport;
using namespace syncline::testing;

/// y[batch, out] = x[batch, in] · w + b against random targets, mean squared error.
struct Model {
  std::int64_t in, out;
  std::string biasScheme, weightScheme; ///< "factors" for both or neither
  /// Whether a step waits for the messages of the step before, in its forward pass.
  bool carries = false;
  int drainedStep = -1;          ///< a step in the middle that leaves nothing under way
  bool drainsAfterwards = false; ///< by drain(), not by the last step
  double clipNorm = 0;           ///< limit of the gradients' norm; 0 for none

  static constexpr std::int64_t batch = 4, steps = 3;
  std::array<double, 3> rates{0.1, 0.05, 0.2}; ///< of the steps
  std::int64_t biasBytes() const { return out * 4; }
  std::int64_t weightBytes() const { return in * out * 4; }
};

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

BucketInfo bucketBy(std::string_view scheme, int id, std::int64_t offset, std::int64_t extent) {
  return {.id = id, .channel = 0, .scheme = scheme, .offset = offset, .extent = extent};
}

/// A rank's executable with the model's step, its samples and parameters in place.
class Learner {
public:
  Learner(const Model &model, int rank, int ranks) : model(model) {
    constexpr std::int64_t room = 1 << 20;
    ExecutableOptions how;
    how.sizes = {room, room, room, room, 64, 4 * room};
    how.rank = rank;
    how.ranks = ranks;
    executable = std::move(*cpu::createCpuExecutable(how));
    build(ranks);
    EXPECT_EQ(executable->finish().message(), "");
    OptimizerOptions options{.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01};
    if (model.clipNorm > 0)
      options.clipNorm = model.clipNorm;
    EXPECT_TRUE(executable->setOptimizer(options).isOk());
    for (auto [space, name, salt] : {std::tuple(Space::input, "x", rank),
                                     {Space::target, "t", 100 + rank},
                                     {Space::parameters, "w", 1000},
                                     {Space::parameters, "b", 1001}})
      write(executable->find(space, name), salt);
  }

  /// Both parameters, as the rank holds them.
  std::vector<float> parameters() {
    std::vector<float> values(static_cast<std::size_t>((model.in + 1) * model.out));
    auto bytes = std::as_writable_bytes(std::span(values));
    const auto weights = static_cast<std::size_t>(model.weightBytes());
    EXPECT_TRUE(
        executable->read(executable->find(Space::parameters, "w"), bytes.first(weights)).isOk());
    EXPECT_TRUE(
        executable->read(executable->find(Space::parameters, "b"), bytes.subspan(weights)).isOk());
    return values;
  }

  std::unique_ptr<Executable> executable;

private:
  void build(int ranks) {
    StepBuilder &s = executable->builder();
    const auto f32 = ElementType::f32;
    const std::int64_t k = Model::batch, in = model.in, out = model.out, all = ranks * k;
    const std::int64_t weightsAt = aligned(model.biasBytes());
    std::int64_t used = 0;
    auto arena = [&](const char *name, Shape shape) {
      const Tensor t = s.tensor({name, Space::arena, f32, shape, used, 0});
      used += aligned(elementCount(shape) * 4);
      return t;
    };
    const Tensor x = s.tensor({"x", Space::input, f32, {k, in}});
    const Tensor t = s.tensor({"t", Space::target, f32, {k, out}});
    const Tensor b = s.tensor({"b", Space::parameters, f32, {out}});
    const Tensor w = s.tensor({"w", Space::parameters, f32, {in, out}, weightsAt});
    const Tensor db = s.tensor({"b", Space::gradients, f32, {out}});
    const Tensor dw = s.tensor({"w", Space::gradients, f32, {in, out}, weightsAt});
    const Tensor y = arena("y", {k, out}), dy = arena("dy", {k, out}), loss = arena("loss", {});
    Tensor xs, dys;
    const bool gathers = model.weightScheme == "factors";
    if (gathers) {
      xs = arena("xs", {all, in}), dys = arena("dys", {all, out});
      s.bucket({1, 0, "factors", 0, weightsAt + model.weightBytes()});
    } else {
      s.bucket({0, 0, model.biasScheme, 0, model.biasBytes()});
      s.bucket({1, 0, model.weightScheme, weightsAt, model.weightBytes()});
    }
    const auto receive = [&] {
      for (int bucket = gathers ? 1 : 0; bucket < 2; ++bucket) {
        s.wait(bucket);
        if (gathers) {
          s.reduce("fc", Reduction::sum, dys, db, {0});
          s.matmul("fc", xs, true, dys, false, none, dw);
        }
        if ((bucket == 0 ? model.biasScheme : model.weightScheme) != "reduce-scatter")
          s.update(bucket);
      }
    };
    if (model.carries)
      receive();
    s.matmul("fc", x, false, w, false, b, y);
    s.meanSquaredError("loss", y, t, loss, dy);
    s.loss(loss);
    if (gathers) {
      s.gather(1, std::array{x, dy}, std::array{xs, dys});
    } else {
      s.reduce("fc", Reduction::sum, dy, db, {0});
      s.issue(0);
      s.matmul("fc", x, true, dy, false, none, dw);
      s.issue(1);
    }
    if (!model.carries)
      receive();
  }

  void write(int tensor, int salt) {
    const Shape &shape = executable->tensors()[static_cast<std::size_t>(tensor)].shape;
    const Message values =
        randomMessage(ElementType::f32, static_cast<std::size_t>(elementCount(shape)), salt, 3);
    EXPECT_TRUE(executable->write(tensor, values).isOk());
  }

  const Model model;
};

struct Trained {
  std::vector<std::vector<float>> parameters;          ///< by rank
  std::vector<std::int64_t> sent, received;            ///< by step, over all ranks
  std::vector<std::vector<double>> norms;              ///< by rank and step
  std::vector<double> losses = std::vector<double>(1); ///< of the last step, rank 0
};

run::StepEnd endOf(const Model &model, std::int64_t step) {
  if (step == model.drainedStep)
    return run::StepEnd::wholeGradients;
  return model.carries && !model.drainsAfterwards && step + 1 == Model::steps
             ? run::StepEnd::drained
             : run::StepEnd::open;
}

Trained train(const Model &model, int ranks, int servers = 0) {
  Trained result;
  result.parameters.resize(static_cast<std::size_t>(ranks));
  result.norms.resize(static_cast<std::size_t>(ranks));
  result.sent.resize(Model::steps);
  result.received.resize(Model::steps);
  std::mutex mutex;
  runRanks(ranks + servers, [&](int rank, Group &group) {
    const ServerGroup roles{ranks, servers};
    if (rank >= ranks) {
      auto server = DedicatedServer::create(
          *group.transport(), CommunicationThread::linkName(0) + "/parameter-server", roles);
      ASSERT_TRUE(server.isOk()) << server.status().message();
      for (std::int64_t step = 0; step < Model::steps; ++step) {
        if (model.biasScheme == "parameter-server") {
          ASSERT_TRUE((*server)
                          ->serve(static_cast<std::size_t>(model.biasBytes()), ElementType::f32)
                          .isOk());
        }
        if (model.weightScheme == "parameter-server") {
          ASSERT_TRUE((*server)
                          ->serve(static_cast<std::size_t>(model.weightBytes()), ElementType::f32)
                          .isOk());
        }
      }
      return;
    }
    Learner learner(model, rank, ranks);
    TrainerLinks links;
    if (ranks > 1)
      links = *hostLinks(*learner.executable, *group.transport(), ranks,
                         {.ranksPerNode = 1, .servers = servers});
    auto trainer = Trainer::create(*learner.executable, ranks, links);
    ASSERT_TRUE(trainer.isOk()) << trainer.status().message();
    if (model.clipNorm > 0)
      (*trainer)->clipByNorm();
    for (std::int64_t step = 0; step < Model::steps; ++step) {
      (*trainer)->setRate(model.rates[static_cast<std::size_t>(step)]);
      auto times = (*trainer)->step(step, endOf(model, step), [&] {
        if (model.carries) // ranks drift apart
          std::this_thread::sleep_for(std::chrono::microseconds((rank * 7 + step * 5) % 4 * 300));
      });
      ASSERT_TRUE(times.isOk()) << times.status().message();
      std::lock_guard lock(mutex);
      result.norms[static_cast<std::size_t>(rank)].push_back(times->gradientNorm);
      if (!times->moved)
        continue;
      result.sent[static_cast<std::size_t>(step)] += times->moved->sent;
      result.received[static_cast<std::size_t>(step)] += times->moved->received;
    }
    const Status told = (*trainer)->losses().settle();
    if (model.drainsAfterwards) {
      const auto drained = (*trainer)->drain();
      ASSERT_TRUE(drained.isOk()) << drained.status().message();
      EXPECT_EQ(*drained, 0);
    }
    ASSERT_TRUE(told.isOk()) << told.message();
    if (rank == 0)
      result.losses[0] = (*trainer)->losses().arrived().back().loss;
    result.parameters[static_cast<std::size_t>(rank)] = learner.parameters();
  });
  return result;
}

/// Expects nearly the parameters that rings and updates give, and equal bits on every rank.
void expectLikeRings(const Model &model, int ranks, int servers = 0) {
  Model rings = model;
  rings.biasScheme = rings.weightScheme = "ring";
  const Trained wanted = train(rings, ranks), found = train(model, ranks, servers);
  const std::string what = model.weightScheme + " " + std::to_string(model.in) + "x" +
                           std::to_string(model.out) + " on " + std::to_string(ranks);
  for (const std::vector<float> &own : found.parameters) {
    EXPECT_EQ(own, found.parameters[0]) << what;
    ASSERT_EQ(own.size(), wanted.parameters[0].size());
    for (std::size_t i = 0; i < own.size(); ++i)
      ASSERT_NEAR(own[i], wanted.parameters[0][i], 1e-6) << what << ", element " << i;
  }
  EXPECT_NEAR(found.losses[0], wanted.losses[0], 1e-6) << what;
}

/// Expects the bits of the step that waits for its own messages, drained in every way.
void expectLikeUncarried(Model model, int ranks, int servers = 0) {
  const Trained wanted = train(model, ranks, servers);
  model.carries = true;
  for (int drainedStep : {-1, 0, 1})
    for (bool afterwards : {false, true}) {
      model.drainedStep = drainedStep;
      model.drainsAfterwards = afterwards;
      const Trained found = train(model, ranks, servers);
      EXPECT_EQ(found.parameters, wanted.parameters) << model.weightScheme << " on " << ranks;
      EXPECT_EQ(found.losses, wanted.losses) << model.weightScheme << " on " << ranks;
    }
}

class TrainerSchemes : public ::testing::TestWithParam<int> {};

// Three steps with momentum and weight decay go as with rings, whether the optimizer is spread over
// the ranks or gradients are rebuilt from factors; buckets with fewer elements than ranks too.
TEST_P(TrainerSchemes, TrainLikeRings) {
  for (auto [in, out] : {std::pair(1, 1), {3, 2}, {37, 11}, {200, 64}})
    for (const char *scheme : {"reduce-scatter", "factors"})
      expectLikeRings({in, out, scheme, scheme}, GetParam());
  expectLikeRings({37, 11, "tree", "reduce-scatter"}, GetParam());
}

// A step that waits for the messages of the step before gives the same bits, wherever it is
// drained: the first step waits for nothing, and no update is lost or done twice.
TEST_P(TrainerSchemes, CarryMessagesIntoTheNextStep) {
  for (const char *scheme : {"ring", "tree", "reduce-scatter", "factors", "parameter-server"})
    expectLikeUncarried({37, 11, scheme, scheme}, GetParam());
  expectLikeUncarried({37, 11, "ring", "reduce-scatter"}, GetParam());
  expectLikeUncarried({37, 11, "parameter-server", "parameter-server"}, GetParam(), 2);
}

// Every step's rate counts, the last one's too, whose messages the next step would wait for.
TEST_P(TrainerSchemes, UseTheRateOfEachStep) {
  for (const char *scheme : {"ring", "reduce-scatter", "factors"})
    for (bool carries : {false, true}) {
      Model model{37, 11, scheme, scheme, carries};
      const Trained usual = train(model, GetParam());
      for (double &rate : model.rates) {
        const double before = std::exchange(rate, 0.15);
        EXPECT_NE(train(model, GetParam()).parameters, usual.parameters) << scheme;
        rate = before;
      }
    }
}

// Where ranks update parts of buckets, the norm is that of all gradients as with rings, and the
// same bits on all ranks; the parameters are clipped by it.
TEST_P(TrainerSchemes, ClipPartsByTheNormOfAll) {
  const int ranks = GetParam();
  for (const char *bias : {"reduce-scatter", "tree"}) {
    Model model{37, 11, bias, "reduce-scatter"}, rings{37, 11, "ring", "ring"};
    const Trained open = train(model, ranks);
    model.clipNorm = rings.clipNorm = 0.5;
    expectLikeRings(model, ranks);
    const Trained clipped = train(model, ranks), wanted = train(rings, ranks);
    EXPECT_NE(clipped.parameters, open.parameters);
    for (const std::vector<double> &own : clipped.norms) {
      EXPECT_EQ(own, clipped.norms[0]);
      ASSERT_EQ(own.size(), std::size_t{Model::steps});
      for (std::size_t step = 0; step < own.size(); ++step) {
        EXPECT_GT(own[step], model.clipNorm);
        EXPECT_NEAR(own[step], wanted.norms[0][step], 1e-6 * own[step]);
      }
    }
  }
}

// With servers of their own, workers train as with rings; everything else stays among the workers.
TEST_P(TrainerSchemes, TrainWithServers) {
  for (int servers : {1, 2}) {
    expectLikeRings({37, 11, "parameter-server", "parameter-server"}, GetParam(), servers);
    expectLikeRings({37, 11, "parameter-server", "reduce-scatter"}, GetParam(), servers);
    expectLikeRings({37, 11, "recursive-doubling", "parameter-server"}, GetParam(), servers);
  }
}

// A step tells the bytes of its buckets and of the loss before, neither more nor less.
TEST_P(TrainerSchemes, CountBytes) {
  const int ranks = GetParam();
  const std::int64_t p = ranks;
  auto expectBytes = [&](const Model &model, std::int64_t perStep) {
    const Trained trained = train(model, ranks);
    for (std::size_t step = 0; step < trained.sent.size(); ++step) {
      const std::int64_t loss = step == 0 ? 0 : 2 * (p - 1) * 32; // and what travels with it
      EXPECT_EQ(trained.sent[step], perStep + loss) << model.weightScheme << " step " << step;
      EXPECT_EQ(trained.received[step], perStep + loss) << model.weightScheme;
    }
  };
  const Model model{37, 11, "", ""};
  auto by = [&](const char *scheme) { return Model{37, 11, scheme, scheme}; };
  const std::int64_t bytes = model.biasBytes() + model.weightBytes();
  expectBytes(by("ring"), 2 * (p - 1) * bytes);
  expectBytes(by("reduce-scatter"), 2 * (p - 1) * bytes);
  expectBytes(by("factors"), p * (p - 1) * Model::batch * (37 + 11) * 4);
}

// Messages that reach over a step's end are counted at the next drain, as a mean of the steps.
TEST_P(TrainerSchemes, CountCarriedBytes) {
  const std::int64_t p = GetParam();
  const Model model{
      .in = 37, .out = 11, .biasScheme = "ring", .weightScheme = "ring", .carries = true};
  const Trained trained = train(model, GetParam());
  const std::int64_t bytes = 2 * (p - 1) * (model.biasBytes() + model.weightBytes());
  const std::int64_t losses = 2 * (p - 1) * 32 * (Model::steps - 1);
  EXPECT_EQ(trained.sent[0], 0);
  EXPECT_EQ(trained.sent[1], 0);
  EXPECT_NEAR(static_cast<double>(trained.sent[2]),
              static_cast<double>(bytes) + static_cast<double>(losses) / Model::steps, p);
}
INSTANTIATE_TEST_SUITE_P(Ranks, TrainerSchemes, ::testing::Range(1, 6));

// An unknown scheme, and a transport of another size, end the run before its first step.
TEST(Trainer, RefusesWhatCannotTravel) {
  runRanks(2, [](int rank, Group &group) {
    auto unfinished = cpu::createCpuExecutable({});
    ASSERT_TRUE(unfinished.isOk());
    (*unfinished)->builder().bucket(bucketBy("star", 0, 0, 0));
    const Status finished = (*unfinished)->finish();
    EXPECT_EQ(finished.kind(), ErrorKind::badInput);
    EXPECT_NE(finished.message().find("bucket 0: unknown scheme 'star', expected one of 'ring', "),
              std::string::npos);
    Learner good({3, 2, "ring", "ring"}, rank, 2);
    const auto crowded = hostLinks(*good.executable, *group.transport(), 2, {.servers = 1});
    ASSERT_FALSE(crowded.isOk());
    EXPECT_EQ(crowded.status().message(), "2 ranks and 1 servers on a transport of 2");
  });
}

// The next batch is read while a device computes: once a step.
TEST(Trainer, LetsOthersWorkMeanwhile) {
  Learner learner({3, 2, "ring", "ring"}, 0, 1);
  auto trainer = Trainer::create(*learner.executable, 1);
  ASSERT_TRUE(trainer.isOk());
  int calls = 0;
  for (std::int64_t step = 0; step < 2; ++step) {
    EXPECT_TRUE((*trainer)->step(step, run::StepEnd::open, [&] { ++calls; }).isOk());
    EXPECT_EQ(calls, step + 1);
  }
}

} // namespace
} // namespace syncline
