;; A user-defined extension: it makes the code (CMAC) of a payment order, but of none over 1,000.00. Its key has no label, and its token
;; is nowhere else: so no program makes the code of a larger order.
;;
;; Input: the amount in cents, eight digits, and who gets it: "00099900to Alice". Output: the code, 16 bytes.
;; Answers: 0 done, 1 no order, 2 over the limit, 3 the verb is refused (the output is its return code and its reason code).
(module
  (import "outboard" "input" (func $input (param i32 i32) (result i32)))
  (import "outboard" "output" (func $output (param i32 i32) (result i32)))
  (import "outboard" "key" (func $key (param i32 i32) (result i32)))
  (import "outboard" "verb" (func $verb (param i32 i32) (result i32)))
  (import "outboard" "set_bytes" (func $set_bytes (param i32 i32 i32 i32 i32) (result i32)))
  (import "outboard" "set_key" (func $set_key (param i32 i32 i32 i32) (result i32)))
  (import "outboard" "run_verb" (func $run_verb (param i32) (result i32)))
  (import "outboard" "result" (func $result (param i32 i32 i32 i32 i32) (result i32)))

  ;; One page of 64 KiB. It does not grow.
  (memory (export "memory") 1)
  (data (i32.const 0) "mac")
  (data (i32.const 16) "CSNBMGN2")
  (data (i32.const 32) "rule_array")
  (data (i32.const 48) "AES     ONLY    ")
  (data (i32.const 64) "key_identifier")
  (data (i32.const 80) "message_text")
  (data (i32.const 96) "mac_text")
  ;; The limit, in cents.
  (data (i32.const 112) "00100000")

  (func (export "run") (result i32)
    (local $length i32) (local $at i32) (local $digit i32) (local $call i32)

    ;; The order lies from 1024 on.
    (local.set $length (call $input (i32.const 1024) (i32.const 256)))
    (if (i32.or (i32.lt_u (local.get $length) (i32.const 9))
                (i32.gt_u (local.get $length) (i32.const 256)))
      (then (return (i32.const 1))))

    ;; Eight digits: as they have one length, they are compared as texts.
    (loop $next
      (local.set $digit (i32.load8_u offset=1024 (local.get $at)))
      (if (i32.or (i32.lt_u (local.get $digit) (i32.const 48))
                  (i32.gt_u (local.get $digit) (i32.const 57)))
        (then (return (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 8))))
    (local.set $at (i32.const 0))
    (block $is_within
      (loop $next
        (local.set $digit (i32.load8_u offset=1024 (local.get $at)))
        (br_if $is_within (i32.lt_u (local.get $digit) (i32.load8_u offset=112 (local.get $at))))
        (if (i32.gt_u (local.get $digit) (i32.load8_u offset=112 (local.get $at)))
          (then (return (i32.const 2))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $at) (i32.const 8)))))

    ;; The code, by the key that it calls "mac".
    (local.set $call (call $verb (i32.const 16) (i32.const 8)))
    (drop (call $set_bytes (local.get $call) (i32.const 32) (i32.const 10) (i32.const 48) (i32.const 16)))
    (drop (call $set_key (local.get $call) (i32.const 64) (i32.const 14)
      (call $key (i32.const 0) (i32.const 3))))
    (drop (call $set_bytes (local.get $call) (i32.const 80) (i32.const 12) (i32.const 1024) (local.get $length)))
    (i32.store (i32.const 512) (call $run_verb (local.get $call)))
    (if (i32.load (i32.const 512))
      (then
        (drop (call $output (i32.const 512) (i32.const 4)))
        (return (i32.const 3))))
    (drop (call $result (local.get $call) (i32.const 96) (i32.const 8) (i32.const 512) (i32.const 16)))
    (drop (call $output (i32.const 512) (i32.const 16)))
    (i32.const 0)))
