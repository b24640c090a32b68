;;; hbc-mode.el --- Kernels of hbc  -*- lexical-binding: t -*-
;; Written by editors/make.py.

;;; Commentary:
;; Colours for .hb files; with eglot, everything that `hbc lsp' offers.

;;; Code:

(defconst hbc-font-lock
  `((,(concat "\\." (regexp-opt '("at_once" "atomic" "cache_write" "compute_at" "compute_inline" "compute_root" "compute_with" "copy_in_bulk" "flatten" "fuse" "gpu_blocks" "gpu_lanes" "gpu_threads" "pad_storage" "parallel" "persistent" "pipeline" "prefetch" "reorder" "reorder_storage" "rfactor" "specialize" "split" "store_at" "store_in" "store_root" "swizzle_storage" "tile" "unroll" "vectorize") 'symbols)) . font-lock-builtin-face)
    (,(concat (regexp-opt '("constant") 'symbols) "[ \t]*(")
     1 font-lock-function-name-face)
    (,(regexp-opt '("and" "bound" "def" "example" "false" "for" "import" "in" "input" "kernel" "let" "not" "or" "output" "param" "reduce" "require" "schedule" "size" "table" "true" "type" "where" "while" "constant" "aliases") 'symbols) . font-lock-keyword-face)
    ("^[ \t]*\(hbc\)[ \t]+[0-9]" 1 font-lock-keyword-face)
    (,(regexp-opt '("bf16" "bool" "f16" "f32" "f64" "i16" "i32" "i4" "i64" "i8" "u16" "u32" "u4" "u64" "u8") 'symbols) . font-lock-type-face)
    (,(regexp-opt '("abs" "ceil" "clamp" "clamp_edge" "constant" "cos" "exp" "exp2" "file" "floor" "log" "max" "min" "mirror" "ramp" "random" "round" "rsqrt" "select" "sin" "sqrt" "tanh" "tf32" "wrap" "zero_edge") 'symbols) . font-lock-function-name-face)))

;;;###autoload
(define-derived-mode hbc-mode prog-mode "hbc"
  "Major mode for kernels of hbc."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+ *")
  (modify-syntax-entry ?# "<")
  (modify-syntax-entry ?\n ">")
  (setq-local font-lock-defaults '(hbc-font-lock)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.hb\\'" . hbc-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(hbc-mode "hbc" "lsp")))

(provide 'hbc-mode)
;;; hbc-mode.el ends here
