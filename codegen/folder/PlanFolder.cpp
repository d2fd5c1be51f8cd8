// Writing and checking plan folders.
#include "codegen/folder/PlanFolder.h"

#include "codegen/folder/Hashes.h"
#include "codegen/folder/ParsePlan.h"
#include "codegen/folder/PartialFolder.h"
#include "codegen/json/EmitPlanJson.h"
#include "codegen/nccl/TunerTable.h"
#include "codegen/step/EmitStep.h"
#include "codegen/step/Text.h"
#include "ir/plan/Plan.h"
#include "syncline/JsonDepth.h"
#include "syncline/PlanFiles.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

using namespace mlir;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace syncline::codegen {

namespace {

Status bad(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

Result<std::string> readText(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return bad(path, "cannot open: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

Status writeText(const std::string &path, const std::string &text) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) {
    out << text;
    out.close();
    error = out.error();
    out.clear_error();
  }
  return error ? bad(path, "cannot write: " + error.message()) : Status::ok();
}

std::string moduleText(ModuleOp module, const PlanInfo &info) {
  std::string text = "// Plan '" + codegen::oneLine(info.name) + "' by Syncline " + info.version +
                     ". Times are seconds, sizes and offsets bytes; see ir/*/SPEC.md.\n";
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

/// A file of the folder that is generated from the module.
struct GeneratedFile {
  std::string name, text;
};

/// Generates the program's step for a target and, where NCCL carries its messages, the tuner's
/// table. A trace has no such files. Diagnostics become the error.
Result<std::vector<GeneratedFile>> generate(ModuleOp module, const StepTarget &target,
                                            const std::string &version,
                                            const std::string &planner) {
  auto programs = module.getOps<plan::ProgramOp>();
  if (programs.empty())
    return std::vector<GeneratedFile>();
  std::string message;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
  });
  FailureOr<std::string> text = emitStep(*programs.begin(), target, {version, planner});
  if (failed(text))
    return Status::error(ErrorKind::internal,
                         "cannot generate " + target.fileName.str() + ": " + message);
  std::vector<GeneratedFile> files{{target.fileName.str(), std::move(*text)}};
  if (target.usesNccl)
    files.push_back({tunerTableName.str(), tunerTable(*programs.begin()).text});
  return files;
}

/// The target of the document's backend. `path` is the document's file, for the error.
Result<const StepTarget *> targetOf(const Json &document, const std::string &path) {
  const std::string backend = document.value("backend", "");
  if (const StepTarget *target = findTarget(backend))
    return target;
  return bad(path, "unknown backend '" + backend + "'");
}

} // namespace

bool isUncompiled(const Json &document) {
  return document.at("runnable") == Json(true) &&
         !document.at("hashes").at("files").contains("step.so");
}

namespace {

void enter(const PlanSources &sources, const char *phase) {
  if (sources.enter)
    sources.enter(phase);
}

/// Whether the step stays uncompiled: only one for GPUs may.
bool lacksCompiler(const PlanSources &sources, const StepTarget &target) {
  return sources.mayLackCompiler && target.usesNccl && !target.findCompiler();
}

/// Writes the files of one plan, and their hashes into the document.
Status writeFiles(const std::string &folder, const PlanSources &sources, Json &document) {
  const auto path = [&](const std::string &name) { return folder + "/" + name; };
  std::vector<std::string> names{"plan.mlir"};
  SYNCLINE_TRY(writeText(path("plan.mlir"), moduleText(sources.module, sources.info)));
  SYNCLINE_TRY_GET(target, targetOf(document, path("plan.json")));
  SYNCLINE_TRY_GET(generated,
                   generate(sources.module, **target, sources.info.version, document["planner"]));
  for (const GeneratedFile &file : *generated) {
    SYNCLINE_TRY(writeText(path(file.name), file.text));
    names.push_back(file.name);
  }
  if (!generated->empty() && !lacksCompiler(sources, **target)) {
    enter(sources, "compiling the step");
    SYNCLINE_TRY((*target)->compile(path((*target)->fileName.str()), path("step.so"),
                                    sources.includeDirectory));
    names.push_back("step.so");
    enter(sources, "writing");
  }
  for (const PlanFile &file : sources.files) {
    SYNCLINE_TRY(file.write(path(file.name)));
    names.push_back(file.name);
  }
  for (const std::string &name : names) {
    SYNCLINE_TRY_GET(hash, sha256OfFile(path(name)));
    document["hashes"]["files"][name] = *hash;
  }
  document["hashes"]["plan"] = planHash(document);
  return writeText(path("plan.json"), document.dump(1) + "\n");
}

/// Checks that every file of a plan has a hash. Without one its contents could be anything.
Status checkHashedNames(const std::string &folder, const Json &document, const StepTarget &target) {
  std::vector<std::string> needed{"plan.mlir"};
  if (document.value("runnable", Json()) == Json(true))
    needed.push_back(target.fileName.str());
  std::error_code absent;
  // Only GPUs' steps may lack their compiler.
  if (needed.size() > 1 && (!target.usesNccl || fs::exists(folder + "/step.so", absent)))
    needed.push_back("step.so");
  if (needed.size() > 1 && target.usesNccl)
    needed.push_back(tunerTableName.str());
  // A plan that is run has no layers.csv: such a file in its folder is the user's.
  const char *const optional[] = {"weights.bin", "model.onnx", "layers.csv"};
  for (const char *name : llvm::ArrayRef(optional).drop_back(needed.size() > 1))
    if (std::error_code ignored; fs::exists(folder + "/" + name, ignored))
      needed.push_back(name);
  for (const std::string &name : needed)
    if (!document["hashes"]["files"].contains(name))
      return bad(folder + "/plan.json", "no hash of '" + name + "'");
  return Status::ok();
}

Status checkFileHashes(const std::string &folder, const Json &document, const StepTarget &target) {
  SYNCLINE_TRY(checkHashedNames(folder, document, target));
  for (const auto &[name, expected] : document["hashes"]["files"].items()) {
    if (name.find('/') != std::string::npos)
      return bad(folder + "/plan.json", "'hashes.files' names '" + name + "' outside the folder");
    SYNCLINE_TRY_GET(actual, sha256OfFile(folder + "/" + name));
    if (expected != *actual)
      return bad(folder + "/" + name,
                 "the file was changed after it was compiled: its hash differs");
  }
  return Status::ok();
}

/// P27: values lie within the file of values.
Status checkStoredValues(const std::string &folder, ModuleOp module) {
  const std::string path = folder + "/weights.bin";
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto tensor : program.getOps<plan::TensorOp>()) {
      if (!tensor.getValues())
        continue;
      const std::uint64_t bytes = plan::denseBytes(cast<MemRefType>(tensor.getType()));
      std::error_code error;
      const std::uint64_t size = fs::file_size(path, error);
      if (error)
        return bad(path, "cannot open: " + error.message());
      if (size < bytes || *tensor.getValues() > size - bytes)
        return bad(path, "P27: expected " + std::to_string(bytes) + " bytes of '" +
                             tensor.getName().str() + "' at " +
                             std::to_string(*tensor.getValues()) + ", the file has " +
                             std::to_string(size));
    }
  return Status::ok();
}

/// The document that the module gives, with the hashes and names of the one that was read.
Status compareDocument(const std::string &folder, const Json &document, ModuleOp module) {
  Result<Json> again = emitPlanJson(module, {.version = document.value("version", ""),
                                             .name = document.value("name", ""),
                                             .modelHash = "",
                                             .clusterHash = "",
                                             .backend = document.value("backend", ""),
                                             .options = document.value("options", Json())});
  if (!again)
    return bad(folder + "/plan.mlir", again.status().message());
  for (const char *key : {"model", "cluster", "files", "plan"})
    (*again)["hashes"][key] = document["hashes"].value(key, Json());
  const Json unneeded = document.value("unneeded_inputs", Json::array());
  if (!unneeded.is_array() ||
      !std::ranges::all_of(unneeded, [](const Json &name) { return name.is_string(); }))
    return bad(folder + "/plan.json", "'unneeded_inputs': expected names");
  (*again)["unneeded_inputs"] = unneeded;
  if (*again == document)
    return Status::ok();
  for (const auto &[key, value] : again->items())
    if (!document.contains(key) || document[key] != value)
      return bad(folder + "/plan.json", "'" + key + "' differs from what plan.mlir says");
  return bad(folder + "/plan.json", "it has more than plan.mlir says");
}

} // namespace

std::string smallerFolder(const std::string &dimension, std::int64_t size) {
  std::string name = dimension;
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  return name + "-" + std::to_string(size);
}

/// Takes the values of the folder's plan for those of a smaller size's where they are equal, by a
/// link, where the file system has them. Constants of a size make them differ.
static void shareValues(const std::string &folder, const Json &document, const std::string &smaller,
                        const Json &smallerDocument) {
  const std::string name = "weights.bin";
  const Json &own = smallerDocument["hashes"]["files"], &shared = document["hashes"]["files"];
  if (!own.contains(name) || !shared.contains(name) || own[name] != shared[name])
    return;
  const fs::path link = fs::path(smaller) / (name + ".link");
  std::error_code error;
  fs::create_hard_link(fs::path(folder) / name, link, error);
  if (!error)
    fs::rename(link, fs::path(smaller) / name, error);
}

/// Writes the plans of smaller sizes into the folder of the largest one's, and their list.
static Result<std::vector<Json>> writeSmaller(const std::string &folder, const Json &document,
                                              const SmallerPlans &smaller) {
  std::vector<Json> documents;
  Json plans = Json::array();
  const auto list = [&](std::int64_t size, const std::string &name, const Json &plan) {
    plans.push_back({{"size", size}, {"folder", name}, {"hash", plan["hashes"]["plan"]}});
  };
  for (const auto &[size, sources] : smaller.plans) {
    const std::string name = smallerFolder(smaller.dimension, size), path = folder + "/" + name;
    std::error_code error;
    if (!fs::create_directory(path, error))
      return bad(path, "cannot make a folder there: " + error.message());
    enter(sources, "writing");
    SYNCLINE_TRY_GET(own, emitPlanJson(sources.module, sources.info));
    SYNCLINE_TRY(writeFiles(path, sources, *own));
    shareValues(folder, document, path, *own);
    list(size, name, *own);
    documents.push_back(std::move(*own));
  }
  list(smaller.largest, ".", document);
  Json all = smaller.batches ? batchesJson(*smaller.batches) : Json::object();
  all.update({{"schema", lengthsSchema}, {"dimension", smaller.dimension}});
  all["plans"] = std::move(plans);
  const std::string name(smaller.batches ? batchesFile : lengthsFile);
  SYNCLINE_TRY(writeText(folder + "/" + name, all.dump(1) + "\n"));
  return documents;
}

Result<std::vector<Json>> writePlans(const std::string &folder, const PlanSources &sources,
                                     const SmallerPlans &smaller) {
  std::string target = folder;
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  if (const std::string name = fs::path(target).filename();
      name.empty() || name.find_first_not_of('.') >= name.size())
    return bad(folder, "expected the name of a new folder or of a plan's");
  SYNCLINE_TRY(expectReplaceable(target));
  enter(sources, "writing");
  SYNCLINE_TRY_GET(document, emitPlanJson(sources.module, sources.info));
  PartialFolder partial;
  SYNCLINE_TRY(partial.create(target));
  SYNCLINE_TRY(writeFiles(partial.file("."), sources, *document));
  std::vector<Json> documents;
  if (!smaller.plans.empty()) {
    SYNCLINE_TRY_GET(written, writeSmaller(partial.file("."), *document, smaller));
    documents = std::move(*written);
  }
  documents.push_back(std::move(*document));
  SYNCLINE_TRY(expectReplaceable(target)); // a folder may have come while the step compiled
  SYNCLINE_TRY(partial.rename());
  return documents;
}

Result<Json> writePlan(const std::string &folder, const PlanSources &sources) {
  SYNCLINE_TRY_GET(written, writePlans(folder, sources, {}));
  return std::move(written->back());
}

Result<Json> readPlanJson(const std::string &folder) {
  const std::string path = folder + "/plan.json";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return bad(folder, fs::exists(folder, ignored) ? "expected a plan folder" : "does not exist");
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) // a pipe may never end
    return bad(path, "expected a regular file");
  if (const auto bytes = static_cast<std::int64_t>(fs::file_size(path, ignored));
      !ignored && bytes > maxPlanBytes)
    return bad(path, "expected at most " + std::to_string(maxPlanBytes) + " bytes, got " +
                         std::to_string(bytes));
  SYNCLINE_TRY_GET(text, readText(path));
  SYNCLINE_TRY(checkJsonDepth(*text, "'" + path + "'", maxPlanLevels));
  Json document = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object())
    return bad(path, text->empty() ? "the file is empty" : "not a JSON object");
  const Json schema = document.value("schema", Json());
  if (schema != planSchema)
    return bad(path, "expected schema " + std::to_string(planSchema) + ", got " + schema.dump() +
                         compileAgain(folder));
  const Json hashes = document.value("hashes", Json());
  if (!hashes.is_object() || !hashes.contains("plan") || !hashes.contains("files") ||
      !hashes["files"].is_object())
    return bad(path, "missing 'hashes'");
  for (const char *key : {"version", "name", "planner", "backend"})
    if (!document.value(key, Json()).is_string())
      return bad(path, std::string("missing '") + key + "'");
  if (hashes["plan"] != planHash(document))
    return bad(path, "the file was changed after it was compiled: its hash differs");
  return document;
}

Result<OwningOpRef<ModuleOp>> verifyPlanFolder(const std::string &folder, MLIRContext &context) {
  SYNCLINE_TRY_GET(document, readPlanJson(folder));
  SYNCLINE_TRY_GET(target, targetOf(*document, folder + "/plan.json"));
  SYNCLINE_TRY(checkFileHashes(folder, *document, **target));
  SYNCLINE_TRY_GET(module, parsePlan(folder + "/plan.mlir", context));
  SYNCLINE_TRY(compareDocument(folder, *document, **module));
  SYNCLINE_TRY(checkStoredValues(folder, **module));
  SYNCLINE_TRY_GET(generated, generate(**module, **target, document->value("version", ""),
                                       document->value("planner", "")));
  for (const GeneratedFile &file : *generated) {
    const std::string path = folder + "/" + file.name;
    SYNCLINE_TRY_GET(written, readText(path));
    if (*written != file.text)
      return bad(path, "differs from what plan.mlir gives");
  }
  return module;
}

} // namespace syncline::codegen
