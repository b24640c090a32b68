;;; hbc-mode.el --- Kernels and sketches of hbc  -*- lexical-binding: t -*-
;; Written by editors/make.py.

;;; Commentary:
;; Colours for .hb and .sf files; with eglot, everything that `hbc lsp' offers for kernels.

;;; Code:

(defconst hbc-font-lock
  `((,(concat "\\." (regexp-opt '("async" "at_once" "atomic" "cache_write" "compute_at" "compute_inline" "compute_root" "compute_with" "copy_in_bulk" "flatten" "fold_storage" "fuse" "gpu_blocks" "gpu_lanes" "gpu_threads" "hoist_storage" "hoist_storage_root" "pad_storage" "parallel" "partition" "persistent" "pipeline" "prefetch" "reorder" "reorder_storage" "rfactor" "specialize" "split" "store_at" "store_in" "store_root" "swizzle_storage" "tile" "trace" "unroll" "vectorize") 'symbols)) . font-lock-builtin-face)
    (,(concat (regexp-opt '("constant") 'symbols) "[ \t]*(")
     1 font-lock-function-name-face)
    (,(regexp-opt '("and" "bound" "def" "example" "false" "for" "import" "in" "input" "kernel" "let" "not" "or" "output" "param" "reduce" "require" "schedule" "size" "table" "true" "type" "where" "while" "constant" "aliases") 'symbols) . font-lock-keyword-face)
    ("^[ \t]*\\(hbc\\)[ \t]+[0-9]" 1 font-lock-keyword-face)
    (,(regexp-opt '("bf16" "bool" "f16" "f32" "f64" "f8e4m3" "f8e5m2" "i16" "i32" "i4" "i64" "i8" "u16" "u32" "u4" "u64" "u8") 'symbols) . font-lock-type-face)
    (,(regexp-opt '("abs" "ceil" "clamp" "clamp_edge" "constant" "cos" "exp" "exp2" "file" "floor" "log" "max" "min" "mirror" "ramp" "random" "round" "rsqrt" "select" "sin" "sqrt" "tanh" "tf32" "wrap" "zero_edge") 'symbols) . font-lock-function-name-face)))

(defconst hbc-sketch-font-lock
  `(("\\?\\sw+" . font-lock-builtin-face)
    ("^[ \t]*\\(hbc\\)[ \t]+[0-9]" 1 font-lock-keyword-face)
    (,(regexp-opt '("and" "as" "cost" "each" "else" "fold" "for" "gather" "goal" "if" "import" "in" "not" "or" "param" "set" "table" "then" "where") 'symbols) . font-lock-keyword-face)))

(defun hbc--begin (colours)
  "Comments as both languages have them, and COLOURS."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+ *")
  (modify-syntax-entry ?# "<")
  (modify-syntax-entry ?\n ">")
  (setq-local font-lock-defaults (list colours)))

;;;###autoload
(define-derived-mode hbc-mode prog-mode "hbc"
  "Major mode for kernels of hbc."
  (hbc--begin hbc-font-lock))

;;;###autoload
(define-derived-mode hbc-sketch-mode prog-mode "hbc sketch"
  "Major mode for sketches of hbc."
  (hbc--begin hbc-sketch-font-lock))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.hb\\'" . hbc-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("\\.sf\\'" . hbc-sketch-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(hbc-mode "hbc" "lsp")))

(provide 'hbc-mode)
;;; hbc-mode.el ends here
