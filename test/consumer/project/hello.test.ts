import { expect, it } from "@effect/vitest"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Processes from "@signalbox/api/Processes"
import { Effect } from "effect"
import * as Testing from "signalbox/Testing"
import { greet } from "./tasks.ts"

it.effect("greets", () =>
  Effect.gen(function* () {
    const process = yield* Processes.put({ name: "hello", steps: [{ name: "greet", task: { name: "greet" } }] })
    const run = yield* ProcessRuns.start(process.id, { payloads: [{ name: "Ada" }] })
    if (!run.started) return expect.unreachable("the run was not started")
    yield* Testing.settle
    expect((yield* ProcessRuns.get(run.id)).state).toBe("completed")
  }).pipe(Effect.provide(Testing.layer({ tasks: [greet] })))
)
