// Reading and writing the table of engines, and choosing a step's engines by it.
#include "runtime/cuda/dnn/EngineTable.h"

#include "runtime/core/Formatted.h"
#include "runtime/cuda/CudaExecutable.h"
#include "runtime/cuda/dnn/ConvolutionEngines.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace syncline::cuda {

namespace {

constexpr std::string_view title =
    "# Engines of cuDNN for convolutions, chosen by time. Delete this file to choose again.";
constexpr std::string_view columns =
    "device\tcudnn\tprecision\toperation\tlayer\tgeometry\tlayout\tengine\tmilliseconds";

std::string_view nameOf(core::Precision precision) {
  switch (precision) {
  case core::Precision::fp32:
    return "fp32";
  case core::Precision::tf32:
    return "tf32";
  case core::Precision::bf16:
    return "bf16";
  }
  return "";
}

Status wrong(int line, const std::string &what) {
  return Status::badInput("line " + std::to_string(line) + ": " + what);
}

/// While it lives, fills all that engines read with a plain value: kernels need less power for
/// zeros, and may run at a higher clock. Afterwards all is zero, as before the first step. Copies
/// of weights are among it.
class TimingValues {
public:
  explicit TimingValues(Program &program) : program(program) { fill(0x3C); } // 0.011 in both types
  ~TimingValues() {
    try {
      fill(0);
    } catch (const Failure &) { // the device's failure; the next call on it fails too
    }
  }

private:
  void fill(int byte) {
    program.weights.touch();
    const DeviceMemory *const scratch = &program.scratch;
    for (const DeviceMemory *memory :
         {&program.space(Space::arena), &program.space(Space::gradients), scratch})
      if (memory->bytes() > 0)
        SYNCLINE_CHECK(cudaMemsetAsync(memory->data(), byte,
                                       static_cast<std::size_t>(memory->bytes()),
                                       program.device.compute));
    SYNCLINE_CHECK(cudaStreamSynchronize(program.device.compute));
  }

  Program &program;
};

/// The engines of a step's convolutions, with the keys of their lines.
class StepEngines {
public:
  explicit StepEngines(Program &program) : program(program) {}

  /// Takes the table's engines, and returns the convolutions for which it has none.
  std::vector<ConvolutionEngines *> follow(const EngineTable &table) const {
    std::vector<ConvolutionEngines *> missing;
    for (const auto &engines : program.convolutions) {
      if (!engines->hasChoice())
        continue;
      const auto chosen = table.find(keyOf(*engines, /*withLayer=*/true));
      if (!chosen || !engines->prefer(chosen->name, chosen->seconds))
        missing.push_back(engines.get());
    }
    return missing;
  }

  /// Times these, equal ones once, and adds them to the table.
  void time(std::span<ConvolutionEngines *const> missing, EngineTable &table) const {
    const TimingValues values(program);
    std::map<std::string, const ConvolutionEngines *> timed;
    for (ConvolutionEngines *engines : missing) {
      const ConvolutionEngines *&equal = timed[keyOf(*engines, /*withLayer=*/false)];
      if (!equal || !engines->prefer(equal->best().name, *equal->seconds()))
        engines->time();
      if (!engines->seconds())
        continue;
      equal = engines;
      table.set(keyOf(*engines, true), {engines->best().name, *engines->seconds()});
    }
  }

private:
  std::string keyOf(const ConvolutionEngines &engines, bool withLayer) const {
    const core::OperationInfo &info = program.table.operations[engines.operation()];
    return EngineTable::key(
        {program.device.model, dnnVersion(), std::string(nameOf(program.options.precision)),
         info.name, withLayer ? info.layer : "", engines.geometry(), engines.layoutText()});
  }

  Program &program;
};

} // namespace

std::string EngineTable::key(std::initializer_list<std::string> columns) {
  std::string key;
  for (std::string column : columns) {
    std::replace_if(
        column.begin(), column.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    key += (key.empty() ? "" : "\t") + column;
  }
  return key;
}

Result<EngineTable> EngineTable::parse(const std::string &text) {
  EngineTable table;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (number <= 2) {
      if (line != (number == 1 ? title : columns))
        return wrong(number, "this is no table of engines");
      continue;
    }
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    if (tabs != 8)
      return wrong(number, "expected 9 columns, got " + std::to_string(tabs + 1));
    const std::size_t last = line.rfind('\t'), name = line.rfind('\t', last - 1);
    double milliseconds = 0;
    const char *const end = line.data() + line.size();
    const auto read = std::from_chars(line.data() + last + 1, end, milliseconds);
    if (read.ec != std::errc() || read.ptr != end || !(milliseconds >= 0) || last == name + 1)
      return wrong(number,
                   "expected an engine and its milliseconds, got '" + line.substr(name + 1) + "'");
    table.set(line.substr(0, name), {line.substr(name + 1, last - name - 1), milliseconds * 1e-3});
  }
  return table;
}

std::optional<ChosenEngine> EngineTable::find(const std::string &key) const {
  const auto found = engines.find(key);
  return found == engines.end() ? std::nullopt : std::optional(found->second);
}

std::string EngineTable::text() const {
  std::string text = std::string(title) + "\n" + std::string(columns) + "\n";
  for (const auto &[key, engine] : engines)
    text += key + "\t" + engine.name + core::formatted("\t%.4f\n", engine.seconds * 1e3);
  return text;
}

Result<core::KernelChoice> CudaExecutable::chooseEngines(const std::string &text, bool times) {
  SYNCLINE_TRY_GET(table, EngineTable::parse(text));
  core::KernelChoice choice;
  choice.table = text;
  choice.machine = program.device.model + " with cuDNN " + dnnVersion();
  SYNCLINE_TRY(statusOf("choosing the convolutions' engines: ", [&] {
    program.device.makeCurrent();
    const StepEngines engines(program);
    if (const auto missing = engines.follow(*table); times && !missing.empty()) {
      engines.time(missing, *table);
      choice.timed = static_cast<int>(missing.size());
      choice.table = table->text();
    }
    program.fitWorkspace();
  }));
  for (const auto &engines : program.convolutions)
    if (engines->seconds()) {
      const core::OperationInfo &info = program.table.operations[engines->operation()];
      choice.kernels.push_back({info.name, info.layer, info.implementation, *engines->seconds()});
    }
  return choice;
}

} // namespace syncline::cuda
