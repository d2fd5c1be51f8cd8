// The stages of a worker's run before its first step.
#include "runtime/run/RankRun.h"

#include "runtime/launch/Joining.h"
#include "runtime/run/Backends.h"
#include "runtime/run/StopSignal.h"
#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/run/plan/PlanChecks.h"
#include "runtime/run/weights/Values.h"

#include <algorithm>

namespace syncline::run {

Status RankRun::load() {
  SYNCLINE_TRY(loadPlan());
  SYNCLINE_TRY_GET(found, loadLengths(plan));
  lengths = std::move(*found);
  SYNCLINE_TRY_GET(unequal, loadBatches(plan, identity.rank));
  batches = std::move(*unequal);
  if (!lengths.isEmpty() && !batches.isEmpty())
    return Status::badInput("'" + plan.folder +
                            "' has plans of several lengths and of several "
                            "batches: expected one of both");
  if (!lengths.isEmpty() && (!options.trace.empty() || !options.opTimes.empty()))
    return Status::badInput("'" + plan.folder +
                            "' has steps of several lengths: expected the folder "
                            "of one of them, such as '" +
                            lengths.smaller.front().folder + "', to measure its operations");
  if (batches.smaller)
    lengths.smaller.push_back(*std::move(batches.smaller));
  SYNCLINE_TRY(options.checkPlan(plan));
  SYNCLINE_TRY(options.chooseOptimizer(plan));
  SYNCLINE_TRY_GET(opened, openBackend(options.backend));
  backend = *opened;
  schedule = options.schedule;
  SYNCLINE_TRY(schedule.load());
  if (!isFirst())
    return Status::ok();
  if (Status s = options.checkFiles(); !s || options.save.empty())
    return s;
  return readSkeleton(plan).status();
}

Status RankRun::agreeOnOptions() {
  std::vector<transport::SharedFact> facts{
      {"options", options.sharedOptions() + " --schedule " + schedule.text()}};
  SYNCLINE_TRY_GET(hash,
                   options.load.empty() ? Result<std::string>("none") : sha256OfFile(options.load));
  facts.push_back({"file of '--load'", *hash});
  if (!lengths.samples.isEmpty())
    facts.push_back({"plans of several lengths", lengths.hash});
  if (!batches.isEmpty())
    facts.push_back({"plans of several batches", batches.hash});
  if (!group)
    return Status::ok();
  SYNCLINE_TRY(group->agree(facts, transport::Participants::workers));
  // Rank 0 writes the file, so that other ranks need not be told of it.
  const auto saves = group->gather("saves", options.save.empty() ? "" : "1", options.startTimeout,
                                   transport::Participants::workers);
  if (!saves || !saves->at(0).empty())
    return saves.status();
  const auto other = std::find(saves->begin(), saves->end(), "1");
  return other == saves->end()
             ? Status::ok()
             : Status::badInput("rank " + std::to_string(other - saves->begin()) +
                                " was given '--save', but rank 0, which writes the file, was not");
}

/// Predicts the mean step of an epoch.
void RankRun::expectMeanStep() {
  const std::vector<std::int64_t> steps = data.stepsByLength(lengths.samples.count());
  double sum = 0, traffic = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Plan &one = lengths.plan(i, plan);
    sum += static_cast<double>(steps[i]) * one.predictedStep;
    traffic += static_cast<double>(steps[i]) * one.predictedTraffic;
    count += steps[i];
  }
  plan.predictedStep = sum / static_cast<double>(count);
  plan.predictedTraffic = traffic / static_cast<double>(count);
}

Status RankRun::openData() {
  SYNCLINE_TRY(data.open(options, plan, {identity.rank, samplesOfStep()}, lengths.samples));
  if (group)
    SYNCLINE_TRY(group->agree({{"data", data.sizes()}}, transport::Participants::workers));
  std::int64_t syntheticSteps = 10;
  if (!options.opTimes.empty())
    syntheticSteps = options.opTimesFor ? 1'000'000 // however short they are, time ends them
                                        : Steadiness::maxSteps + Steadiness::warmUp;
  const std::int64_t perEpoch = data.batchesPerEpoch();
  steps = options.steps.value_or(data.training ? options.epochs.value_or(1) * perEpoch
                                               : syntheticSteps);
  if (options.evalOnly)
    steps = 0;
  SYNCLINE_TRY(options.checkSteps(steps));
  if (!lengths.samples.isEmpty())
    expectMeanStep();
  report.emplace(plan,
                 options.alone ? launch::RunShape{} : launch::RunShape{plan.ranks, plan.servers},
                 options.json, !isFirst(),
                 RunLength{steps, perEpoch, options.microBatches, schedule.isGiven(),
                           batches.isEmpty() || options.alone ? 0 : samplesOfStep().all});
  if (const std::string text = plan.consistency.whyUnstable(plan.ranks, options.optimizer.rate);
      !text.empty())
    report->note(text);
  if (!options.alone) // which the prediction does not concern
    for (const std::string &text : notes)
      report->note(text);
  for (const std::string &text : data.notes(options, plan, samplesOfStep().all))
    report->note(text);
  if (!lengths.samples.isEmpty() && data.training)
    report->note(data.lengthsText(lengths.samples));
  if (options.backend != "cpu")
    return Status::ok();
  const auto texts =
      launch::notesOnThreads(options.threads, group.get(), plan.ranks, options.startTimeout);
  if (texts)
    for (const std::string &text : *texts)
      report->note(text);
  return texts.status();
}

/// Refuses a plan for bf16 where this processor lacks it, or another rank's.
Status RankRun::expectPrecision() {
  if (plan.precision != core::Precision::bf16)
    return Status::ok();
  const bool has = backend->hasPrecision(plan.precision);
  if (group)
    SYNCLINE_TRY(group->agree({{"bfloat16 arithmetic", has ? "yes" : "no"}},
                              transport::Participants::workers));
  return has ? Status::ok()
             : Status::badInput("'" + plan.folder + "': the plan's memory is laid out for bf16: " +
                                launch::missingBfloat16 +
                                "; expected a plan of 'syncline compile --precision fp32'");
}

/// Builds the steps of the smaller plans over the parameters of the plan's own, and gives all but
/// these their values.
Status RankRun::buildSmaller(core::ExecutableOptions how) {
  if (lengths.isEmpty())
    return Status::ok();
  how.shares = &step->executable();
  std::vector<core::Executable *> all;
  smallerSteps.reserve(lengths.smaller.size());
  for (const Plan &smaller : lengths.smaller) {
    how.sizes = smaller.sizes;
    SYNCLINE_TRY_GET(loaded, StepLibrary::load(smaller, *backend, how));
    smallerSteps.push_back(std::move(*loaded));
    core::Executable &executable = smallerSteps.back().executable();
    SYNCLINE_TRY(checkStep(smaller, executable));
    SYNCLINE_TRY(initialize(smaller, executable, options.seed));
    all.push_back(&executable);
  }
  all.push_back(&step->executable());
  std::vector<std::string> states;
  for (const PlanTensor &tensor : plan.tensors)
    if (tensor.kind == PlanTensor::Kind::state)
      states.push_back(tensor.name);
  switched.emplace(std::move(all), std::move(states));
  return Status::ok();
}

Status RankRun::build() {
  SYNCLINE_TRY_GET(device, chooseDevice({options.device, options.sharesDevice,
                                         options.alone ? 0 : identity.machineRank},
                                        backend->devices(), options.backend));
  SYNCLINE_TRY(expectPrecision());
  const core::ExecutableOptions how{plan.sizes,       options.threads,      options.seed,
                                    identity.rank,    plan.gradientRanks(), *device,
                                    options.precision};
  SYNCLINE_TRY_GET(loaded, StepLibrary::load(plan, *backend, how));
  step = std::move(*loaded);
  core::Executable &executable = step->executable();
  report->expectClipping(options.optimizer.clipNorm);
  SYNCLINE_TRY(executable.setOptimizer(options.optimizer));
  const Result<std::map<int, core::ParameterRule>> rules =
      options.optimizerFlags.rules(executable.tensors(), options.optimizer);
  SYNCLINE_TRY(rules ? executable.setRules(*rules) : rules.status());
  SYNCLINE_TRY(checkStep(plan, executable));
  SYNCLINE_TRY(buildSmaller(how));
  SYNCLINE_TRY(initialize(plan, executable, options.seed));
  if (!options.load.empty())
    SYNCLINE_TRY(loadOnnx(plan, executable, options.load));
  std::vector<LengthStep> byLength;
  for (std::size_t i = 0; i < smallerSteps.size(); ++i)
    byLength.push_back({&lengths.smaller[i], &smallerSteps[i].executable()});
  if (batches.isEmpty() || smallerSteps.empty())
    byLength.push_back({&plan, &executable});
  batch = Batch(byLength, {data.training ? &*data.training : nullptr, data.sampler.get(), steps,
                           options.seed, identity.rank, options.microBatches,
                           observations.isMeasured(), options.dataThreads});
  return Status::ok();
}

/// Where ranks have unequal batches, a rank weighs in their mean by its samples.
Status RankRun::weighBatch() {
  const double weight = batches.weight(plan.ranks);
  if (!group || weight == 1)
    return Status::ok();
  if (plan.loss.hasClassTargets()) // whose kernel does it by the way
    return trainer->weighLoss(weight);
  trainer->weighRank(weight);
  return Status::ok();
}

/// Where labels weigh differently, a micro-batch weighs in its step's mean by its labels.
Status RankRun::weighLabels() {
  if (!data.training || !data.training->weighsLabels())
    return weighBatch();
  const bool isOverRanks = group && !plan.consistency.isLocal();
  const std::string why =
      data.training->weighsClasses() ? "classes have weights" : "some labels are ignored";
  if (group && !isOverRanks)
    report->note(why + ": each rank takes the mean over its own labels, because "
                       "weights travel in place of gradients");
  if (!isOverRanks && options.microBatches == 1)
    return Status::ok();
  if (options.capturesSteps)
    return Status::badInput("'" + options.data + "': " + why +
                            ", so that the loss weighs differently in each step: expected a run "
                            "without '--cuda-graph'");
  labelWeights.emplace(
      *data.training,
      LabelWeights::Share{isOverRanks, plan.ranks, samplesOfStep(), options.microBatches},
      options.shuffle, options.seed);
  return Status::ok();
}

Status RankRun::chooseKernels() {
  if (!options.kernels.isOn() || !backend->choosesKernels())
    return Status::ok();
  const KernelRun run{*backend, step->executable(), plan, group.get(), 10 * options.startTimeout};
  SYNCLINE_TRY_GET(chosen, options.kernels.choose(run));
  if (!chosen->note.empty())
    report->note(chosen->note);
  report->addKernels(std::move(chosen->kernels));
  return Status::ok();
}

Status RankRun::connect() {
  core::Executable &executable = step->executable();
  const bool isPlain = options.alone || plan.consistency.isServed();
  SYNCLINE_TRY_GET(opened,
                   Checkpoints::open({options, schedule, plan, executable, group.get(),
                                      identity.rank, data.training ? data.training->size() : 0,
                                      data.batchesPerEpoch(), timeout(), *report}));
  checkpoints = std::move(*opened);
  first = checkpoints ? checkpoints->firstStep() : 0;
  if (group) {
    links.emplace(RankLinks::Run{options, identity, plan, *backend, *group, timeout()});
    // Ranks of unequal batches have the own step in common, whose memory others take.
    SYNCLINE_TRY(links->agree(batches.isEmpty() ? trained() : executable, first, steps));
  }
  SYNCLINE_TRY_GET(made, group ? links->openTrainer(trained())
                               : Trainer::create(trained(), 1, {},
                                                 isPlain ? PlanConsistency() : plan.consistency,
                                                 options.optimizer.rate));
  trainer = std::move(*made);
  if (data.test)
    evaluation.emplace(plan, executable, *data.test, group.get(), timeout());
  if (options.capturesSteps)
    trainer->captureSteps();
  if (options.microBatches > 1)
    trainer->accumulate(options.microBatches,
                        [this](std::int64_t microBatch) { return writeSamples(microBatch); });
  if (options.clipsNorm())
    trainer->clipByNorm();
  if (options.optimizerFlags.lossScale) {
    report->expectLossScale();
    SYNCLINE_TRY(trainer->scaleLoss(*options.optimizerFlags.lossScale));
  }
  SYNCLINE_TRY(weighLabels());
  if (!observations.isMeasured())
    trainer->runAhead();
  trainer->askForSignal([this] { return receivedSignal(group.get()); });
  StopSignal::hold();
  return checkpoints ? checkpoints->begin(*trainer, steps) : Status::ok();
}

} // namespace syncline::run
