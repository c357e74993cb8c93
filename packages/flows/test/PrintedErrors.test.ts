/**
 * Every public error, as `console.log` shows it.
 */
import { TaggedError as printing } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { inspect } from "node:util"
import { assert, describe, it } from "vitest"
import { NotStarted } from "../src/ControlRoomSteps.ts"
import { ProcessId } from "@signalbox/api/contract/Ids"
import * as FlowErrors from "../src/FlowErrors.ts"
import { FlowDefect } from "../src/FlowDefect.ts"

const errors: ReadonlyArray<readonly [error: Error, line: string]> = [
  [new FlowErrors.ExecutionNotFound({ execution: "1" }), "ExecutionNotFound: the execution 1 does not exist"],
  [new FlowErrors.FlowTimeout({ path: "start", afterMillis: 5 }), "FlowTimeout: start took longer than 5 ms"],
  [new FlowErrors.FlowEngineError({ message: "the file is locked" }), "FlowEngineError: the file is locked"],
  [new FlowDefect({ message: "two steps have one path" }), "FlowDefect: two steps have one path"],
  [new NotStarted({ process: ProcessId.make("p") }), "NotStarted: "]
]

describe("errors of flows", () => {
  for (const [error, line] of errors) {
    it(`are shown with class, message and place: ${error.name}`, () => {
      const [first = "", second = ""] = inspect(error).split("\n")
      assert.isTrue(first.startsWith(line) && first.length > `${error.name}: `.length, first)
      assert.match(second, /^ {4}at /)
    })
  }

  it("are shown with what they hold, and with their cause", () => {
    class Refused extends printing<Refused>()("Refused", { message: Schema.String, key: Schema.String }) {}
    const error = new Refused({ message: "no", key: "k" })
    error.cause = new RangeError("the cause")
    assert.match(inspect(error), /^Refused: no\n[^]*key: 'k'/)
    assert.match(inspect(error), /RangeError: the cause/)
  })
})

const root = join(import.meta.dirname, "../..")
const printed = ["api", "control-room", "flows", "graph", "signalbox", "transport", "worker"]

describe("errors", () => {
  for (const name of printed) {
    it(`of ${name} are made by the constructor that shows them`, () => {
      const source = join(root, name, "src")
      const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
      const plain = files.filter((file) =>
        readFileSync(join(source, file), "utf8").includes("extends Schema.TaggedError<")
      )
      assert.deepStrictEqual(plain, [])
    })
  }
})
