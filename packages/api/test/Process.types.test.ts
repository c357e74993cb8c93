/** Which processes compile, and what the compiler says of the others: `tsc -b` fails when one of them is wrong. */
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { compile } from "@signalbox/testkit/Examples"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Chain } from "../src/internal/process/Chain.ts"
import * as Process from "../src/Process.ts"

const task = <const Name extends string, I extends Process.PayloadSchema, O extends Process.PayloadSchema>(
  name: Name,
  input: I,
  output: O
): Process.TaskLike<Name, I, O> => ({ name, input, output })

const Airport = Schema.Struct({ code: Schema.String })
const Dated = Schema.Struct({ code: Schema.String, year: Schema.Finite })

const split = task("split", Schema.Struct({ file: Schema.String }), Airport)
const count = task("count", Airport, Schema.Struct({ total: Schema.Finite }))
const archive = task("archive", Dated, Schema.Struct({ total: Schema.Finite }))
const report = task("report", Schema.Struct({ total: Schema.Finite }), Schema.Void)

/** What stands in the place of the second of two steps. */
type Second<A extends Process.TaskLike, B extends Process.TaskLike> = Chain<readonly [A, B]>[1]

describe("the chain of steps", () => {
  it("compiles when each step takes what the one before it puts out", () => {
    const airports = Process.make("airports", { steps: [split, count, report] })
    expectTypeOf(airports.name).toEqualTypeOf<"airports">()
    expectTypeOf<Process.StepName<typeof airports>>().toEqualTypeOf<"split" | "count" | "report">()
    assert.deepStrictEqual(
      airports.steps.map(({ name }) => name),
      ["split", "count", "report"]
    )
  })

  it("has the payload of its first step and the output of its last", () => {
    const airports = Process.make("airports", { steps: [split, count] })
    expectTypeOf<Process.Payload<typeof airports>>().toEqualTypeOf<{ readonly file: string }>()
    expectTypeOf<Process.Output<typeof airports>>().toEqualTypeOf<{ readonly total: number }>()
    assert.strictEqual(airports.input, split.input)
    assert.strictEqual(airports.output, count.output)
  })

  it("may be one step", () => {
    const only = Process.make("only", { steps: [split] })
    expectTypeOf<Process.Output<typeof only>>().toEqualTypeOf<{ readonly code: string }>()
    assert.strictEqual(only.output, split.output)
  })

  it("has one step at least", () => {
    // @ts-expect-error there is none
    const empty = () => Process.make("empty", { steps: [] })
    assert.isFunction(empty)
  })

  it("names both steps and the member that the first one lacks", () => {
    expectTypeOf<
      Second<typeof split, typeof archive>
    >().toEqualTypeOf<"the output of step 'split' does not fit the input of step 'archive': member 'year'">()
    // @ts-expect-error the output of step 'split' does not fit the input of step 'archive': member 'year'
    assert.isDefined(Process.make("wrong", { steps: [split, archive] }))
  })

  it("names the member that has another type", () => {
    const text = task("text", Schema.Void, Schema.Struct({ total: Schema.String }))
    expectTypeOf<
      Second<typeof text, typeof report>
    >().toEqualTypeOf<"the output of step 'text' does not fit the input of step 'report': member 'total'">()
  })

  it("finds the step that does not fit wherever it stands, and leaves the others", () => {
    type Steps = Chain<readonly [typeof split, typeof count, typeof archive]>
    expectTypeOf<Steps[0]>().toEqualTypeOf<typeof split>()
    expectTypeOf<Steps[1]>().toEqualTypeOf<typeof count>()
    expectTypeOf<Extract<Steps[2], string>>().toEqualTypeOf<
      | "the output of step 'count' does not fit the input of step 'archive': member 'code'"
      | "the output of step 'count' does not fit the input of step 'archive': member 'year'"
    >()
    // @ts-expect-error the third step does not take what the second puts out
    assert.isDefined(Process.make("wrong", { steps: [split, count, archive] }))
  })

  it("takes more members than the next step reads", () => {
    const dated = task("dated", Schema.Void, Dated)
    assert.isDefined(Process.make("more", { steps: [dated, count] }))
  })

  it("refuses a member that may be absent where the next step needs it", () => {
    const maybe = task("maybe", Schema.Void, Schema.Struct({ code: Schema.optionalKey(Schema.String) }))
    expectTypeOf<
      Second<typeof maybe, typeof count>
    >().toEqualTypeOf<"the output of step 'maybe' does not fit the input of step 'count': member 'code'">()
    // @ts-expect-error the output of step 'maybe' does not fit the input of step 'count': member 'code'
    assert.isDefined(Process.make("wrong", { steps: [maybe, count] }))
  })

  it("takes the lack of a member that the next step does not need", () => {
    const lenient = task(
      "lenient",
      Schema.Struct({ code: Schema.String, note: Schema.optionalKey(Schema.String) }),
      Schema.Void
    )
    assert.isDefined(Process.make("lack", { steps: [split, lenient] }))
  })

  it("takes one of the alternatives that the next step reads", () => {
    const either = task("either", Schema.Union([Airport, Schema.Struct({ city: Schema.String })]), Schema.Void)
    assert.isDefined(Process.make("either", { steps: [split, either] }))
  })

  it("refuses alternatives of which the next step does not read all", () => {
    const either = task("either", Schema.Void, Schema.Union([Airport, Schema.Struct({ city: Schema.String })]))
    expectTypeOf<
      Second<typeof either, typeof count>
    >().toEqualTypeOf<"the output of step 'either' does not fit the input of step 'count': member 'code'">()
    // @ts-expect-error an output may have a city instead of a code
    assert.isDefined(Process.make("wrong", { steps: [either, count] }))
  })

  it("refuses null where the next step does not read it", () => {
    const nullable = task("nullable", Schema.Void, Schema.NullOr(Airport))
    // @ts-expect-error the output of step 'nullable' does not fit the input of step 'count'
    assert.isDefined(Process.make("wrong", { steps: [nullable, count] }))
  })

  it("compares encoded sides, not what tasks work with", () => {
    const written = task("written", Schema.Void, Schema.Struct({ total: Schema.FiniteFromString }))
    const read = task("read", Schema.Struct({ total: Schema.String }), Schema.Void)
    assert.isDefined(Process.make("encoded", { steps: [written, read] }))
    expectTypeOf<
      Second<typeof written, typeof report>
    >().toEqualTypeOf<"the output of step 'written' does not fit the input of step 'report': member 'total'">()
  })

  it("names no member where payloads are no objects", () => {
    const text = task("text", Schema.Void, Schema.String)
    const number = task("number", Schema.Finite, Schema.Void)
    expectTypeOf<
      Second<typeof text, typeof number>
    >().toEqualTypeOf<"the output of step 'text' does not fit the input of step 'number'">()
  })

  it("refuses two steps of one name", () => {
    const again = task("split", Airport, Schema.Void)
    expectTypeOf<
      Second<typeof split, typeof again>
    >().toEqualTypeOf<"two steps have the name 'split': name one of them with Process.step(task, { name })">()
    // @ts-expect-error two steps have the name 'split'
    assert.isDefined(Process.make("wrong", { steps: [split, again] }))
    assert.isDefined(Process.make("right", { steps: [split, Process.step(again, { name: "again" })] }))
  })

  it("takes a description of anything whose name is not a literal", () => {
    const anything = Schema.Any
    const named: Process.TaskLike<string, typeof anything, typeof anything> = {
      name: "named",
      input: anything,
      output: anything
    }
    assert.isDefined(Process.make("named", { steps: [named, split, count, named] }))
  })
})

describe("a step with options", () => {
  it("has the name, input and output of its task, and its options", () => {
    const step = Process.step(count, { max_parallel: 4, retry: { max_attempts: 3, delay_seconds: 1 } })
    expectTypeOf(step).toEqualTypeOf<Process.Step<"count", typeof count>>()
    expectTypeOf<Process.TaskOf<typeof step>>().toEqualTypeOf<typeof count>()
    assert.deepStrictEqual(step.options, { max_parallel: 4, retry: { max_attempts: 3, delay_seconds: 1 } })
  })

  it("is checked under its own name", () => {
    const renamed = Process.step(archive, { name: "shelve" })
    expectTypeOf<
      Second<typeof split, typeof renamed>
    >().toEqualTypeOf<"the output of step 'split' does not fit the input of step 'shelve': member 'year'">()
    assert.strictEqual(renamed.name, "shelve")
  })

  it("keeps its name in the steps of a process", () => {
    const airports = Process.make("airports", {
      steps: [Process.step(split, { max_parallel: 2 }), Process.step(count, { name: "total" })]
    })
    expectTypeOf<Process.StepName<typeof airports>>().toEqualTypeOf<"split" | "total">()
    assert.strictEqual(airports.steps[1].name, "total")
  })

  it("takes the options of the contract and no others", () => {
    // @ts-expect-error it is max_parallel
    assert.isDefined(Process.step(count, { maxParallel: 4 }))
    // @ts-expect-error items or previous_step
    assert.isDefined(Process.step(count, { start_after: "never" }))
  })
})

describe("a task of a package", () => {
  it("is checked like any other", () => {
    const post = Process.packageTask({ package: "invoices", task: "Post to ERP", input: Dated, output: Schema.Void })
    expectTypeOf<
      Second<typeof split, typeof post>
    >().toEqualTypeOf<"the output of step 'split' does not fit the input of step 'Post to ERP': member 'year'">()
    assert.strictEqual(post.package, "invoices")
  })
})

describe("the default work item", () => {
  it("has the payload of the first step", () => {
    assert.isDefined(Process.make("d", { steps: [split], default_work_item: { payload: { file: "a.csv" } } }))
    // @ts-expect-error a file is text
    assert.isDefined(Process.make("d", { steps: [split], default_work_item: { payload: { file: 1 } } }))
  })

  it("may be left out, and is of no later step", () => {
    // @ts-expect-error the first step reads a file
    assert.isDefined(Process.make("d", { steps: [split, count], default_work_item: { payload: { code: "VIE" } } }))
  })
})

it.live("the compiler says it in one line", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const program = `
import * as Schema from "effect/Schema"
import * as Process from "@signalbox/api/Process"
const Airport = Schema.Struct({ code: Schema.String })
const split = Process.packageTask({ package: "p", task: "split", input: Schema.Void, output: Airport })
const count = Process.packageTask({ package: "p", task: "count", input: Schema.Struct({ year: Schema.Finite }), output: Airport })
export const wrong = Process.make("wrong", { steps: [split, count] })
`
    const file = join(yield* fs.makeTempDirectoryScoped(), "example.md")
    yield* fs.writeFileString(file, `\`\`\`ts${program}\`\`\`\n`)
    const { output } = yield* compile({ files: [file], within: fileURLToPath(new URL(".", import.meta.url)) })
    const [only, ...others] = output.trim().split("\n")
    assert.deepStrictEqual(others, [])
    assert.match(
      only ?? "",
      /is not assignable to type '"the output of step 'split' does not fit the input of step 'count': member 'year'"'\.$/
    )
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
