import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerMemory } from "effect/workflow/WorkflowEngine"
import { conformance, everyStop } from "./support/EngineConformance.ts"
import { memory, sqlite } from "./support/Engines.ts"

conformance({
  name: "the engine of effect, in memory",
  place: Effect.sync(() => Layer.fresh(layerMemory)),
  virtual: true,
  prompt: true,
  stops: []
})

conformance({ name: "the embedded engine in memory", place: memory, virtual: true, prompt: true, stops: [] })

conformance({
  name: "the embedded engine on a SQLite file",
  place: sqlite,
  virtual: false,
  prompt: true,
  stops: everyStop
})
