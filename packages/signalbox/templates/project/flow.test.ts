/** Tests in memory and in virtual time: the ten minutes between two attempts take no time. */
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Process from "signalbox/Process"
import * as ProcessTest from "signalbox/ProcessTest"
import * as Testing from "signalbox/Testing"
import { expect, it } from "vitest"
import { greetAll } from "./flow.ts"
import { greetings } from "./process.ts"
import { tasks } from "./tasks.ts"

it("greets everybody, and tries three times before an item fails", async () => {
  const tested = ProcessTest.test(greetings, [{ name: "Ada" }, { name: "" }])
  const { failures, outputs, seen } = await Effect.runPromise(Effect.provide(tested, TestClock.layer()))
  expect(outputs).toEqual([{ greeting: "Hello, Ada" }])
  expect(seen.greet.filter((payload) => JSON.stringify(payload) === '{"name":""}')).toHaveLength(3)
  expect(failures.map(({ exception }) => exception?.code)).toEqual(["NO_NAME"])
})

it("runs the flow", async () => {
  const flow = Testing.elapse(Flow.run(greetAll, { names: ["Ada", "Grace"] }))
  const room = Testing.layer({ tasks }).pipe(Layer.provideMerge(TestClock.layer()))
  const greeted = await Effect.runPromise(Effect.provide(Effect.andThen(Process.deploy(greetings), flow), room))
  expect(greeted.toSorted()).toEqual(["Hello, Ada", "Hello, Grace"])
})
