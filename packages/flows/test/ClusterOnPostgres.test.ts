import { conformance } from "./support/EngineConformance.ts"
import { cluster } from "./support/Engines.ts"

// A runner that is stopped gives a step that is under way some seconds to end, so one stop is enough.
conformance({ name: "the cluster engine", place: cluster, virtual: false, stops: ["right"] })
