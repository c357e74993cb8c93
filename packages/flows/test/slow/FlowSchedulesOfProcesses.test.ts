import { sized } from "@signalbox/testkit/Soak"
import * as TestClock from "effect/testing/TestClock"
import { layer } from "../../src/internal/journal/Memory.ts"
import { suite } from "../support/ScheduleSuite.ts"

suite({
  name: "in memory",
  journal: layer,
  virtual: true,
  pass: TestClock.adjust,
  points: 30,
  seconds: 40,
  // The 19th replaces what waits to begin while another process sees that it may.
  seeds: [19, ...Array.from({ length: sized(1, 300) }, (_, n) => n + 100)]
})
