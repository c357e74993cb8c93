/** A task is a step of a process as it is. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Process from "@signalbox/api/Process"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Task from "../src/Task.ts"

const Name = Schema.Struct({ name: Schema.String })
const greet = Task.make("greet", {
  input: Name,
  output: Schema.Struct({ greeting: Schema.String }),
  run: () => Effect.void
})
const shout = Task.make("shout", { input: Name, output: Schema.Void, run: () => Effect.void })

describe("a task in a process", () => {
  it("has its name as a literal", () => {
    expectTypeOf(greet.name).toEqualTypeOf<"greet">()
    const plain: Task.Task<typeof greet.input, typeof greet.output> = greet
    assert.strictEqual(plain.name, "greet")
  })

  it("is a step as it is", () => {
    const hello = Process.make("hello", { steps: [greet] })
    expectTypeOf<Process.Payload<typeof hello>>().toEqualTypeOf<{ readonly name: string }>()
    expectTypeOf(hello.steps[0]).toEqualTypeOf<typeof greet>()
    assert.strictEqual(hello.steps[0], greet)
  })

  it("stops the compiler where it does not fit", () => {
    // @ts-expect-error the output of step 'greet' does not fit the input of step 'shout': member 'name'
    assert.isDefined(Process.make("wrong", { steps: [greet, shout] }))
  })
})
