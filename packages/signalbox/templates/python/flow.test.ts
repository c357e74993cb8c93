/** Tests in memory and in virtual time: the ten minutes between two attempts take no time. */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as ProcessTest from "signalbox/ProcessTest"
import { expect, it } from "vitest"
import { greetings } from "./process.ts"

it("writes a letter to everybody, and tries three times before an item fails", async () => {
  const tested = ProcessTest.test(greetings, [{ name: "Ada" }, { name: "" }], {
    // In place of the robot, which `signalbox robot run robots/letters` runs.
    stubs: { "Write letter": ({ greeting }) => Effect.succeed({ greeting, letter: `${greeting}!` }) }
  })
  const { failures, outputs, seen } = await Effect.runPromise(Effect.provide(tested, TestClock.layer()))
  expect(outputs).toEqual([{ greeting: "Hello, Ada", letter: "Hello, Ada!" }])
  expect(seen.greet.filter((payload) => JSON.stringify(payload) === '{"name":""}')).toHaveLength(3)
  expect(failures.map(({ exception }) => exception?.code)).toEqual(["NO_NAME"])
})
