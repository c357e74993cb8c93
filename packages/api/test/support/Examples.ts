/** One response for each resource as the service sends it, with all keys. */
import { administrationExamples } from "./examples/Administration.ts"
import { dataExamples } from "./examples/Data.ts"
import { runExamples } from "./examples/Runs.ts"
import { startExamples } from "./examples/Starts.ts"
import { workerExamples } from "./examples/Workers.ts"
import type { Example } from "./examples/Example.ts"
import { olderExamples } from "./examples/Older.ts"

export const examples: ReadonlyArray<Example> = [
  ...administrationExamples,
  ...dataExamples,
  ...runExamples,
  ...startExamples,
  ...workerExamples,
  ...olderExamples
]
