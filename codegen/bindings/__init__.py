"""What makes emitted C part of a project: files of build systems, and the kernel as a C++ or Rust
function."""
