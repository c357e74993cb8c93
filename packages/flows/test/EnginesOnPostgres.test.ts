import { conformance } from "./support/EngineConformance.ts"
import { postgres } from "./support/Engines.ts"

conformance({ name: "the embedded engine on Postgres", place: postgres, virtual: false, lasting: true })
