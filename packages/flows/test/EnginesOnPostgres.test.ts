import { conformance, everyStop } from "./support/EngineConformance.ts"
import { postgres } from "./support/Engines.ts"

conformance({
  name: "the embedded engine on Postgres",
  place: postgres,
  virtual: false,
  prompt: true,
  stops: everyStop
})
