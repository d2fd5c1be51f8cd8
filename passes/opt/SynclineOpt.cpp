// syncline-opt: runs any pass on IR text.
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/RegisterAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

/// Whether every bracket and quote in `text` is closed. MLIR's parser of list options never returns
/// where a closing one is missing.
static bool isClosed(llvm::StringRef text) {
  llvm::SmallVector<char> awaited;
  for (const char c : text) {
    const bool isQuoted = !awaited.empty() && (awaited.back() == '"' || awaited.back() == '\'');
    if (!awaited.empty() && c == awaited.back())
      awaited.pop_back();
    else if (!isQuoted && (c == '"' || c == '\''))
      awaited.push_back(c);
    else if (const size_t kind = llvm::StringRef("([{").find(c);
             !isQuoted && kind != llvm::StringRef::npos)
      awaited.push_back(")]}"[kind]);
  }
  return awaited.empty();
}

int main(int argc, char **argv) {
  for (const llvm::StringRef argument :
       llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front())
    if (argument.starts_with("-") && !isClosed(argument)) {
      llvm::errs() << "syncline-opt: error: a bracket or a quote is not closed in '" << argument
                   << "'\n";
      return 1;
    }
  mlir::DialectRegistry registry;
  syncline::registerAllDialects(registry);
  syncline::registerSynclinePasses();
  syncline::registerPipeline();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "runs Syncline's passes on IR text\n", registry));
}
