/** What calls with promises reject with: one class for each kind, and all that a program asks of an error. */
import * as Effect from "effect/Effect"
import { inspect } from "node:util"
import { assert, describe, it } from "vitest"
import { UploadSourceError } from "../src/Upload.ts"
import * as Tagged from "../src/ControlRoomError.ts"
import * as Errors from "../src/Promise.ts"
import * as Workspaces from "../src/Workspaces.ts"
import { answer, type Fault } from "./support/FaultServer.ts"
import { collect, rejectionOf, withRoom } from "./support/PromiseRoom.ts"

const envelope = (code: string, message: string) => ({ error: { code, message }, message })
const withId = { "x-request-id": "req-1" }

interface Expected {
  readonly what: string
  readonly faults: ReadonlyArray<Fault>
  readonly is: new (fields: { readonly message: string }) => Errors.ControlRoomError
  readonly has: Partial<Errors.ControlRoomError>
  readonly policy?: object
}

const table: ReadonlyArray<Expected> = [
  {
    what: "a 404",
    faults: [answer(404, envelope("NOT_FOUND", "there is no such item"), withId)],
    is: Errors.NotFound,
    has: { _tag: "NotFound", status: 404, code: "NOT_FOUND", requestId: "req-1", attempts: 1 }
  },
  {
    what: "a 401",
    faults: [answer(401, envelope("UNAUTHORIZED", "no key"))],
    is: Errors.Unauthorized,
    has: { _tag: "Unauthorized", status: 401, code: "UNAUTHORIZED", requestId: null }
  },
  {
    what: "a 403",
    faults: [answer(403, envelope("FORBIDDEN", "not yours"))],
    is: Errors.Forbidden,
    has: { _tag: "Forbidden", status: 403, code: "FORBIDDEN" }
  },
  {
    what: "a 429 after the last attempt",
    faults: [answer(429, envelope("RATE_LIMITED", "slow down"), { "retry-after": "7", ...withId })],
    is: Errors.RateLimited,
    has: {
      _tag: "RateLimited",
      status: 429,
      code: "RATE_LIMITED",
      requestId: "req-1",
      attempts: 1,
      retryAfterMillis: 7000
    }
  },
  {
    what: "a 503 after the last attempt",
    faults: [answer(503, {})],
    is: Errors.Unavailable,
    has: { _tag: "Unavailable", status: 503, code: null, attempts: 4, retryAfterMillis: null }
  },
  {
    what: "no response in time",
    faults: [{ _tag: "Hang" }],
    is: Errors.Timeout,
    has: { _tag: "Timeout", status: null, attempts: 1 },
    policy: { attempts: 1, attemptTimeoutMillis: 20 }
  },
  {
    what: "a connection that breaks",
    faults: [{ _tag: "Reset" }],
    is: Errors.Unreachable,
    has: { _tag: "Unreachable", status: null, requestId: null, attempts: 4 }
  },
  {
    what: "a response of another shape",
    faults: [answer(200, { id: 1 }, withId)],
    is: Errors.Malformed,
    has: { _tag: "Malformed", status: 200, requestId: "req-1", attempts: 1 }
  },
  {
    what: "any other status",
    faults: [answer(418, envelope("TEAPOT", "short and stout"))],
    is: Errors.Unexpected,
    has: { _tag: "Unexpected", status: 418, code: "TEAPOT" }
  }
]

describe("a call with promises rejects", () => {
  for (const { faults, has, is, policy, what } of table) {
    it(`with ${is.name} for ${what}`, () =>
      withRoom(async (room, server) => {
        server.script(faults)
        const error = await rejectionOf(room.with({ policy }).workItems.get("item"))
        assert.instanceOf(error, is)
        assert.instanceOf(error, Errors.ControlRoomError)
        assert.instanceOf(error, Error)
        assert.strictEqual(error.operation, "workItems.get")
        assert.strictEqual(error.name, is.name)
        for (const [name, value] of Object.entries(has)) assert.propertyVal(error, name, value)
      }))
  }

  it("with Conflict and InvalidRequest where an operation declares them", () =>
    withRoom(async (room, server) => {
      server.script([answer(409, envelope("CONFLICT", "in use")), answer(413, envelope("TOO_LARGE", "too much"))])
      const create = () => rejectionOf(room.workItems.create({ process: "process" }))
      const conflict = await create()
      assert.instanceOf(conflict, Errors.Conflict)
      assert.include(conflict, { status: 409, code: "CONFLICT", operation: "workItems.create" })
      const invalid = await create()
      assert.instanceOf(invalid, Errors.InvalidRequest)
      assert.include(invalid, { status: 413, code: "TOO_LARGE" })
    }))

  it("with no status and no attempts when nothing was sent", () =>
    withRoom(async (room) => {
      const error = await rejectionOf(room.workItems.get(".."))
      assert.instanceOf(error, Errors.NotFound)
      assert.include(error, { status: null, attempts: 0, requestId: null })
    }))

  it("with the same classes in a stream", () =>
    withRoom(async (room, server) => {
      server.script([answer(403, envelope("FORBIDDEN", "not yours"))])
      const error = await rejectionOf(collect(room.workItems.stream()))
      assert.instanceOf(error, Errors.Forbidden)
      assert.strictEqual(error.operation, "workItems.stream")
    }))

  it("with the same classes in an effect that it runs, and with the program's own errors as they are", () =>
    withRoom(async (room, server) => {
      server.script([answer(403, envelope("FORBIDDEN", "not yours"))])
      const error = await rejectionOf(room.run(Workspaces.get))
      assert.instanceOf(error, Errors.Forbidden)
      assert.strictEqual(error.operation, "run")
      const own = Object.assign(new Error("mine"), { _tag: "Mine" })
      const { stack } = own
      assert.strictEqual(await rejectionOf(room.run(Effect.fail(own))), own)
      assert.strictEqual(own.stack, stack)
    }))

  it("with a message for people: what the service said, the function, and what to ask about", () =>
    withRoom(async (room, server) => {
      server.script([answer(503, envelope("UNAVAILABLE", "the database restarts"), withId)])
      const error = await rejectionOf(room.workspaces.get())
      assert.strictEqual(
        String(error),
        "Unavailable: the database restarts, on workspaces.get (503 UNAVAILABLE, 4 attempts, request req-1)"
      )
    }))

  it("with the error of the Effect form as its cause, and the reason that programs read before", () =>
    withRoom(async (room, server) => {
      server.script([answer(403, envelope("FORBIDDEN", "not yours"))])
      const error = await rejectionOf(room.workspaces.get())
      assert.instanceOf(error, Errors.ControlRoomError)
      assert.instanceOf(error.cause, Tagged.ControlRoomError)
      assert.strictEqual(error.reason._tag, "Forbidden")
      server.script([answer(404, envelope("NOT_FOUND", "there is none"))])
      const missing = await rejectionOf(room.workspaces.get())
      assert.instanceOf(missing, Errors.NotFound)
      assert.instanceOf(missing.cause, Tagged.NotFound)
      assert.strictEqual(missing.reason, missing.cause)
    }))

  it("with PartlyCreated, whose cause is of these classes, when a request fails after others", () =>
    withRoom(async (room, server) => {
      const ids = Array.from({ length: 1000 }, (_, n) => ({ id: `i${n}` }))
      server.script([answer(200, { work_items: ids }), answer(409, envelope("CONFLICT", "in use"), withId)])
      const payloads = Array.from({ length: 1500 }, (_, n) => n)
      const error = await rejectionOf(room.workItems.createMany({ process: "process", payloads }))
      assert.instanceOf(error, Errors.PartlyCreated)
      assert.instanceOf(error, Errors.ControlRoomError)
      assert.instanceOf(error.cause, Errors.Conflict)
      assert.deepStrictEqual([error.ids.length, error.ids[999], error.total], [1000, "i999", 1500])
      assert.include(error, { status: 409, code: "CONFLICT", requestId: "req-1", operation: "workItems.createMany" })
      assert.strictEqual(
        error.message,
        "1000 of 1500 work items were created; continue from index 1000: in use, on workItems.createMany (409 CONFLICT, request req-1)"
      )
    }))

  it("with other errors of the modules as they are", () =>
    withRoom(async (room) => {
      const error = await rejectionOf(room.workItems.attachFile("item", "./a-path"))
      assert.instanceOf(error, UploadSourceError)
    }))

  it("with what a function of the program throws", () =>
    withRoom(async (room, server) => {
      server.script([answer(200, { id: "run", state: "in_progress" })])
      const thrown = new RangeError("of the program")
      const { stack } = thrown
      server.script([
        answer(200, {
          id: "run",
          state: "in_progress",
          created_at: "2026-11-20T00:00:00.000Z",
          started_at: null,
          ended_at: null,
          process: { id: "process", name: "process" },
          started_by: { type: "api", details: null },
          duration: null
        })
      ])
      const onPoll = () => {
        throw thrown
      }
      assert.strictEqual(await rejectionOf(room.processRuns.awaitEnd("run", { onPoll })), thrown)
      assert.strictEqual(thrown.stack, stack)
    }))
})

describe("an error with promises", () => {
  it("is made by hand, for tests of a program", () => {
    const error = new Errors.RateLimited({ message: "slow down", status: 429, retryAfterMillis: 100 })
    assert.include(error, { message: "slow down", status: 429, retryAfterMillis: 100, code: null, attempts: 0 })
    assert.strictEqual(error.reason, error)
  })

  it("is logged with its class, message and place, and what else it says", () => {
    const error = new Errors.NotFound({ message: "there is none", status: 404 })
    assert.match(inspect(error), /^NotFound: there is none\n {4}at [^]*status: 404/)
  })
})
