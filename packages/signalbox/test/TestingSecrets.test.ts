/**
 * Secrets in virtual time: the first one that a program reads waits for a key pair, which is generated on another
 * thread. In a separate file, so that it is the first.
 */
import { assert, it } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Secrets from "@signalbox/api/Secrets"
import * as Robot from "@signalbox/worker/Robot"
import * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Testing from "../src/Testing.ts"

const login = Task.make("login", {
  input: Schema.Json,
  output: Schema.Json,
  run: () => Effect.map(Robot.secretItem("shop", "password"), (password) => Redacted.value(password).length)
})

it.effect("settle waits for a task that reads a secret, and no time passes", () =>
  Effect.gen(function* () {
    yield* Secrets.put("shop", { items: { password: "hunter2" } })
    const process = yield* Processes.put({ name: "p", steps: [{ name: "one", task: { name: "login" } }] })
    const run = yield* ProcessRuns.start(process.id)
    if (!run.started) return assert.fail("not started")
    yield* Testing.settle
    assert.strictEqual((yield* ProcessRuns.get(run.id)).state, "completed")
    assert.strictEqual(yield* Clock.currentTimeMillis, 0)
  }).pipe(Effect.provide(Testing.layer({ tasks: [login] })))
)
