// The common part of all backends' StepBuilders: declarations, the list of operations with their
// commands, operations on buckets, and the first error.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/OperandChecks.h"
#include "runtime/core/StepRows.h"
#include "runtime/core/StepTable.h"

#include <exception>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace syncline::core {

/// A backend derives from this class, includes StepOperations.inc and defines each operation by a
/// call of prepare().
///
/// Program is the step that is being built. It has `table` (StepTable), `commands` (one entry for
/// each operation, of a type that the backend chooses), declare(const StepTensor &), which is
/// called once for each tensor, and resetScratch(). The program outlives the builder. Preparation
/// is made from a Program and an OperationInfo for one operation; its finish() returns that
/// operation's commands.
template <typename Program, typename Preparation> class OperationBuilder : public StepBuilder {
public:
  Tensor tensor(const TensorInfo &info) final {
    if (info.isRounded && program.options.precision != Precision::bf16)
      program.table.fail(ErrorKind::badInput, "tensor '" + std::string(info.name) +
                                                  "' has room for bf16 only, and the step is "
                                                  "computed in another precision");
    const Tensor declared = program.table.declare(info);
    if (declared.isValid())
      program.declare(program.table.of(declared));
    return declared;
  }
  void bucket(const BucketInfo &info) final { program.table.declareBucket(info); }
  void phase(std::string_view name) final { program.table.setPhase(name); }

  void issue(int bucket) final { append("issue", OperationKind::issue, bucket); }
  void allGather(int bucket) final { append("allGather", OperationKind::allGather, bucket); }
  void wait(int bucket) final {
    append("wait", OperationKind::wait, bucket);
    changed(bucket);
  }
  void update(int bucket) final {
    append("update", OperationKind::update, bucket);
    changed(bucket);
  }
  void gather(int bucket, std::span<const Tensor> ins, std::span<const Tensor> outs) final {
    if (!program.table.appendBucketOperation("gather", OperationKind::gather, bucket))
      return;
    prepareLast("bucket " + std::to_string(bucket) + ": gather", [&](Preparation &p) {
      if (ins.size() != outs.size() || ins.empty())
        p.fail("expected as many results as operands, at least one");
      std::vector<GatherPart> parts;
      for (std::size_t i = 0; i < ins.size(); ++i) {
        checkGathered(p, ins[i], outs[i], program.options.ranks);
        parts.push_back(gatherOne(p, ins[i], outs[i]));
      }
      program.table.operations.back().gathered = std::move(parts);
    });
  }
  void operations(const StepTables &tables, std::span<const Tensor> tensors) final {
    appendRows(*this, tables, tensors);
  }

protected:
  explicit OperationBuilder(Program &program) : program(program) {}

  /// Appends a compute operation, runs its preparation and keeps its commands. A failure becomes
  /// the sticky error, with the names of the operation and the layer.
  void prepare(std::string_view name, std::string_view layer,
               const std::function<void(Preparation &)> &body) {
    if (program.table.hasFailed())
      return;
    program.table.append(name, layer, OperationKind::compute);
    prepareLast("layer '" + std::string(layer) + "': " + std::string(name), body);
  }

  /// Called when parameters and gradients of the bucket may change their values from here on.
  virtual void changed(int) {}
  /// Runs `one`, the preparation of an operation. Exceptions of libraries become a
  /// PreparationError; a std::exception may pass through.
  virtual void attempt(const std::function<void()> &one) = 0;
  /// Appends the copy of `in` into this rank's part of `out`. Returns what a channel has to gather.
  virtual GatherPart gatherOne(Preparation &p, Tensor in, Tensor out) = 0;

  Program &program;

private:
  void append(std::string_view name, OperationKind kind, int bucket) {
    if (program.table.appendBucketOperation(name, kind, bucket))
      program.commands.emplace_back();
  }

  /// Prepares the operation that was appended last. An error message begins with `where`.
  void prepareLast(const std::string &where, const std::function<void(Preparation &)> &body) {
    StepTable &table = program.table;
    program.resetScratch();
    try {
      attempt([&] {
        Preparation preparation(program, table.operations.back());
        body(preparation);
        program.commands.push_back(preparation.finish());
      });
    } catch (const PreparationError &error) {
      table.fail(error.kind, where + ": " + error.message);
    } catch (const std::bad_alloc &) {
      table.fail(ErrorKind::badInput, where + ": not enough memory on the host");
    } catch (const std::exception &error) {
      table.fail(ErrorKind::internal, where + ": " + error.what());
    }
  }
};

} // namespace syncline::core
