import { sized } from "@signalbox/testkit/Soak"
import * as TestClock from "effect/testing/TestClock"
import * as Sqlite from "../../src/internal/journal/Sqlite.ts"
import { suite } from "../support/ScheduleSuite.ts"

suite({
  name: "in memory",
  journal: Sqlite.layer(":memory:"),
  virtual: true,
  pass: TestClock.adjust,
  points: 30,
  seconds: 40,
  // The 19th replaces what waits to begin while another process sees that it may.
  seeds: [19, ...Array.from({ length: sized(1, 300) }, (_, n) => n + 100)]
})
