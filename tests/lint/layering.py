"""Which folder may include what: the table of the architecture, as data.

A rule is (folder, what its includes must not match, why). An include is written as in the source,
without its brackets or quotes. Files named in JOINTS are exempt.
"""

COMPILER = r"(mlir|llvm|llvm-c|mlir-c)/"
ONNX = r"(onnx/|google/protobuf/)"
SOLVER = r"z3"
OURS = r"(frontend|ir|passes|codegen)/"

RULES = [
    ("runtime", COMPILER, "the runtime runs where no compiler is installed"),
    ("runtime", ONNX, "models are the frontend's"),
    ("runtime", SOLVER, "plans are made before they run"),
    ("runtime", OURS, "the runtime stands below the compiler"),
    ("runtime", r"yaml-cpp/", "cluster files are the frontend's"),
    ("runtime/include", r"(gloo|oneapi|nlohmann)/|dnnl|cuda|runtime/", "public headers name no backend"),
    ("ir", r"(frontend|passes|codegen|runtime)/", "dialects stand alone"),
    ("ir", ONNX, "dialects know no file format"),
    ("ir", SOLVER, "Z3 lives in passes/solver"),
    ("passes", r"(frontend|codegen|runtime)/", "passes see the dialects only"),
    ("passes", ONNX, "models are the frontend's"),
    ("codegen", r"frontend/", "plans come through the IR"),
    ("codegen", r"runtime/", "only the runtime's public headers, syncline/..."),
    ("codegen", ONNX, "models are the frontend's"),
    ("codegen", SOLVER, "Z3 lives in passes/solver"),
    ("frontend", SOLVER, "Z3 lives in passes/solver"),
    ("frontend/files", COMPILER, "files are read without MLIR"),
    ("frontend/files", ONNX, "files are read without ONNX"),
    ("frontend/onnx", r"(passes|codegen|runtime)/", "the importer only builds IR"),
]

# Libraries with one home each: pattern, the folders that may include it.
HOMES = [
    (r"z3", ("passes/solver", "tests")),
    (r"gloo/", ("runtime/transport", "tests")),
    (r"dnnl|oneapi/", ("runtime/cpu", "tests")),
    (r"cuda_runtime|cudnn|cublas", ("runtime/cuda", "codegen/cuda", "tests")),
    (r"(onnx/|google/protobuf/)", ("frontend/onnx", "frontend/driver", "tests")),
    (r"yaml-cpp/", ("frontend/files", "tests")),
    (r"tinyxml2", ("frontend/files", "tests")),
    (r"CLI/", ("frontend/driver", "passes/opt", "runtime/run", "runtime/launch", "runtime/calibrate", "tests")),
]

# Programs, and one conversion of a file's contents to attributes: they join what is apart elsewhere.
JOINTS = ("frontend/driver/", "passes/opt/", "frontend/files/ToAttr.")
