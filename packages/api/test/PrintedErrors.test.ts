/**
 * Errors as people see them: by `console.log`, and uncaught in plain Node.
 */
import { spawnSync } from "node:child_process"
import { inspect } from "node:util"
import { assert, describe, it } from "vitest"
import { ControlRoomError, NotFound, Unreachable } from "../src/ControlRoomError.ts"

const request = { method: "GET", path: "/processes/1", attempts: 1, requestId: null }

describe("an error of the client", () => {
  it("is logged with its class, message and place, and what else it holds", () => {
    const error = new NotFound({ code: "NOT_FOUND", message: "there is no process", request })
    assert.match(inspect(error), /^NotFound: there is no process\n {4}at [^]*code: 'NOT_FOUND'/)
  })

  it("is logged with its reason", () => {
    const reason = new Unreachable({ message: "nothing answers", sent: "no" })
    const error = new ControlRoomError({ reason, request })
    assert.match(inspect(error), /^ControlRoomError: Unreachable: nothing answers, on GET \/processes\/1\n {4}at /)
    assert.match(inspect(error), /reason: Unreachable: nothing answers/)
  })

  it("is logged with its cause", () => {
    const error = new NotFound({ code: "NOT_FOUND", message: "there is none", request })
    error.cause = new RangeError("the cause")
    assert.match(inspect(error), /cause\]?: RangeError: the cause/)
  })

  it("says the same uncaught, in plain Node", () => {
    const source = `
      import { NotFound } from "@signalbox/api/ControlRoomError"
      throw new NotFound({ code: "NOT_FOUND", message: "there is no process", request: ${JSON.stringify(request)} })`
    const args = ["--input-type=module", "--eval", source]
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" })
    assert.strictEqual(status, 1)
    assert.match(stderr, /\nNotFound: there is no process\n/)
  })
})
