// When a run saves, and resuming.
#include "runtime/run/checkpoint/Checkpoints.h"

#include "runtime/core/Deadline.h"

#include <algorithm>
#include <new>

namespace syncline::run {

/// How long the slowest rank may take to read or to write its file.
static constexpr double longestFile = 3600;

Result<std::unique_ptr<Checkpoints>> Checkpoints::open(const Run &run) {
  std::unique_ptr<Checkpoints> made(run.options.checkpoint.any() ? new Checkpoints(run) : nullptr);
  if (!made)
    return made;
  CheckpointChoice choice(made->folder,
                          {run.group, std::max(longestFile, 10 * run.options.startTimeout),
                           [&run](const std::string &text) { run.report.note(text); }});
  SYNCLINE_TRY(choice.open());
  if (auto lock = choice.takeLock())
    made->lock.emplace(std::move(*lock));
  if (!run.options.checkpoint.resumes) {
    Status s = choice.expectNone();
    return s ? Result<std::unique_ptr<Checkpoints>>(std::move(made)) : s;
  }
  SYNCLINE_TRY_GET(chosen,
                   choice.choose([&](const CheckpointManifest &m) { return made->judge(m); }));
  made->resumed = std::move(*chosen);
  made->tellChoice();
  return made;
}

/// Says where the run goes on, and what has changed since.
void Checkpoints::tellChoice() const {
  if (!resumed)
    return run.report.note("no checkpoint in '" + folder.path + "': training begins at step 0");
  const std::string changed = compareOptions(resumed->options, recordedOptions()).changed;
  run.report.note("resumes from checkpoint '" + folder.of(resumed->step) + "' after " +
                  std::to_string(resumed->step) + " steps" +
                  (changed.empty() ? "" : "; changed since: " + changed));
  if (!run.options.load.empty())
    run.report.note("the values of '--load " + run.options.load +
                    "' are not used: the checkpoint's take their place");
  if (!isOther())
    return;
  const auto size = [](int ranks, std::int64_t batch) {
    return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + " of " +
           std::to_string(batch) + " samples";
  };
  run.report.note("the checkpoint is of another plan, for " + size(resumed->ranks, resumed->batch) +
                  ", and this one is for " +
                  size(run.plan.ranks, run.plan.batch * run.options.microBatches) +
                  ": results differ from those of the plan before; sums, the order of samples, "
                  "dropout and each rank's running statistics are this plan's from step " +
                  std::to_string(resumed->step) + " on");
  if (resumed->modelHash.empty())
    run.report.note(
        "the checkpoint does not say of which model it is: only the names and shapes of "
        "its parameters were compared");
}

static std::map<std::string, CheckpointManifest::Parameter>
parametersOf(const core::Executable &step) {
  std::map<std::string, CheckpointManifest::Parameter> all;
  for (std::size_t i = 0; i < step.tensors().size(); ++i) {
    const core::StepTensor &t = step.tensors()[i];
    if (t.space == Space::parameters)
      all[t.name] = {std::string(core::elementName(t.type)) + " " + data::describe(t.shape),
                     step.layout(static_cast<int>(i)) + " " + std::to_string(t.reserved)};
  }
  return all;
}

/// Why a run of this plan cannot go on from a checkpoint of another one; empty where it can.
std::string Checkpoints::whyOther(const CheckpointManifest &m) const {
  const std::string another = "it is of another plan, '" + m.plan + "' for " +
                              std::to_string(m.ranks) + " ranks by '" + m.consistency + "': ";
  const std::string &own = run.plan.consistency.text;
  if (m.consistency != "bsp" || own != "bsp")
    return another + "expected this one by '" + own + "', or both by 'bsp'";
  const auto present = parametersOf(run.executable);
  for (const auto &[name, p] : m.parameters) {
    const auto found = present.find(name);
    if (found == present.end())
      return another + "this one has no parameter '" + name + "'";
    if (found->second.shape != p.shape)
      return another + "its parameter '" + name + "' is " + p.shape + ", expected " +
             found->second.shape;
    if (found->second.layout != p.layout)
      return another + "its parameter '" + name + "' lies in memory as " + p.layout +
             ", expected " + found->second.layout;
  }
  for (const auto &[name, p] : present)
    if (!m.parameters.contains(name))
      return another + "it has no parameter '" + name + "'";
  if (isAnotherModel(m))
    return another + "its model is another one, of SHA-256 " + m.modelHash.substr(0, 16) +
           ", expected " + run.plan.modelHash.substr(0, 16);
  return "";
}

/// Whether it is known to be of another model file. Parameters may have the same names and shapes.
bool Checkpoints::isAnotherModel(const CheckpointManifest &m) const {
  return !m.modelHash.empty() && !run.plan.modelHash.empty() && m.modelHash != run.plan.modelHash;
}

CheckpointChoice::Opinion Checkpoints::judge(const CheckpointManifest &m) const {
  if (m.planHash != run.plan.hash) {
    if (const std::string why = whyOther(m); !why.empty())
      return {.refusal = why};
  } else if (m.consistency != run.plan.consistency.text || m.ranks != run.plan.ranks) {
    return {.refusal = "its manifest is for " + std::to_string(m.ranks) + " ranks by '" +
                       m.consistency + "', which its plan is not"};
  } else if (m.layout != run.executable.layoutFingerprint()) {
    return {.refusal = "it was written on processors with another memory layout"};
  }
  if (const auto changes = compareOptions(m.options, recordedOptions()); !changes.forbidden.empty())
    return {.error = changes.forbidden + ": a resumed run needs the checkpoint's"};
  if (m.samples != run.samples)
    return {.error = "its training set has " + std::to_string(m.samples) + " samples, '--data' " +
                     std::to_string(run.samples)};
  if (const std::int64_t batch = run.plan.batch * run.options.microBatches;
      m.planHash == run.plan.hash && m.batch != batch)
    return {.refusal = "its manifest is for " + std::to_string(m.batch) +
                       " samples a rank, expected " + std::to_string(batch)};
  return {};
}

std::string Checkpoints::recordedOptions() const {
  return run.options.sharedOptions() + " --schedule " + run.schedule.text() + " --optimizer " +
         std::string(optimizerName(run.plan.optimizer)) + " --threads " +
         std::to_string(run.options.threads);
}

static std::set<std::string> constantsOf(const Plan &plan) {
  std::set<std::string> names;
  for (const PlanTensor &tensor : plan.tensors)
    if (tensor.kind == PlanTensor::Kind::constant)
      names.insert(tensor.name);
  return names;
}

Status Checkpoints::begin(Trainer &opened, std::int64_t length) {
  trainer = &opened;
  steps = length;
  if (firstStep() > steps)
    return Status::badInput("checkpoint '" + folder.of(firstStep()) + "' is behind the last of " +
                            std::to_string(steps) + " steps");
  savedAt = resumed ? resumed->step : -1;
  state.emplace(CheckpointState::Source{run.executable, trainer->exchangeState(), run.rank,
                                        run.plan.ranks, !run.plan.consistency.isLocal(),
                                        constantsOf(run.plan)});
  if (resumed) {
    SYNCLINE_TRY_GET(reader, CheckpointReader::open(folder, *resumed, run.rank));
    SYNCLINE_TRY(state->restore(*reader));
    SYNCLINE_TRY(run.executable.setUpdates(resumed->step - resumed->lossScale.skipped));
    if (trainer->lossScale())
      trainer->lossScale()->resume(resumed->lossScale);
    // Another plan's epochs have other steps.
    run.report.resume(isOther()
                          ? Report::Resumed{resumed->step}
                          : Report::Resumed{resumed->step, resumed->lossSum, resumed->losses});
  }
  try {
    image.parts = state->parts();
  } catch (const std::bad_alloc &) {
    return Status::badInput("not enough memory for a copy of what a checkpoint holds");
  }
  SYNCLINE_TRY_GET(links, CheckpointLinks::open(run.group, run.timeoutSeconds));
  // A run that was killed behind its last checkpoint's manifest has left older ones.
  if (resumed && run.rank == 0)
    folder.prune(resumed->step, run.options.checkpoint.keep);
  writer.emplace(folder, run.rank, run.options.checkpoint.keep, std::move(*links));
  return Status::ok();
}

bool Checkpoints::isDue(std::int64_t completed) const {
  const auto &every = run.options.checkpoint.every;
  return completed == steps || (every && completed % *every == 0);
}

/// The loss's scale; without one, the steps that were skipped before this run.
LossScale::State Checkpoints::skippedSoFar() const {
  if (const auto &scale = trainer->lossScale())
    return scale->now();
  return {.skipped = resumed ? resumed->lossScale.skipped : 0};
}

CheckpointManifest Checkpoints::manifest(std::int64_t completed) const {
  CheckpointManifest m;
  m.plan = run.plan.name;
  m.planHash = run.plan.hash;
  m.modelHash = run.plan.modelHash;
  m.consistency = run.plan.consistency.text;
  m.layout = run.executable.layoutFingerprint();
  m.ranks = run.plan.ranks;
  m.batch = run.plan.batch * run.options.microBatches;
  m.step = completed;
  m.epoch = run.perEpoch > 0 ? completed / run.perEpoch : 0;
  m.batchInEpoch = run.perEpoch > 0 ? completed % run.perEpoch : 0;
  m.samples = run.samples;
  m.options = recordedOptions();
  m.parameters = parametersOf(run.executable);
  const Report::Resumed so = run.report.soFar();
  m.lossSum = so.lossSum;
  m.losses = so.losses;
  m.lossScale = skippedSoFar();
  return m;
}

/// Waits for the checkpoint that is under way. Returns why it is not there.
Status Checkpoints::awaitLast() {
  writer->wait();
  costs.writing += writer->seconds();
  Status last = writer->last();
  costs.failed += last ? 0 : 1;
  return last;
}

Status Checkpoints::save(std::int64_t completed) {
  if (completed == savedAt)
    return Status::ok();
  if (!trainer->canBeSaved(completed)) {
    run.report.note("the run ends within a period of '" + run.plan.consistency.text +
                    "': its last " + std::to_string(completed % run.plan.consistency.period) +
                    " steps are in no checkpoint");
    return Status::ok();
  }
  const auto begun = core::Clock::now();
  if (const Status before = costs.count > 0 ? awaitLast() : Status::ok(); !before)
    run.report.note(before.message() + "; training goes on");
  const double waited = core::secondsSince(begun);
  image.manifest = manifest(completed);
  SYNCLINE_TRY(state->save(image.parts));
  writer->begin(image);
  savedAt = completed;
  costs.add(core::secondsSince(begun), waited);
  return Status::ok();
}

Status Checkpoints::finish() {
  const Status last = costs.count > 0 ? awaitLast() : Status::ok();
  run.report.addCheckpoints(costs);
  failure = last;
  if (!run.group)
    return Status::ok();
  run.group->enter("while the last checkpoint was written");
  return run.group->gather("checkpoint/written", "", longestFile, transport::Participants::workers)
      .status();
}

} // namespace syncline::run
