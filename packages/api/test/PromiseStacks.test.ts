/** Stacks of what calls with promises reject with: they begin where the program called. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { type Client, connect, InvalidSignature, type ListPage, receiveWebhook, verifyWebhook } from "../src/Promise.ts"
import * as Webhook from "../src/Webhook.ts"
import { answer } from "./support/FaultServer.ts"
import { collect, rejectionOf, withRoom } from "./support/PromiseRoom.ts"

const lines = readFileSync(import.meta.filename, "utf8").split("\n")

interface Frame {
  readonly of: string
  readonly file: string
  /** The line of the program at it. */
  readonly source: string
}

const framesOf = (error: unknown): ReadonlyArray<Frame> => {
  assert.instanceOf(error, Error)
  const [head = "", ...frames] = (error.stack ?? "").slice(`${error.name}: ${error.message}`.length).split("\n")
  assert.strictEqual(head, "")
  return frames.map((frame) => {
    const [, of = "", place = "", line = "0"] = /^ {4}at (?:async )?(?:(.*) \()?(.*?):(\d+):\d+\)?$/.exec(frame) ?? []
    const file = place.startsWith("file:") ? fileURLToPath(place) : place
    return { of, file, source: file === import.meta.filename ? (lines[Number(line) - 1] ?? "") : "" }
  })
}

const isForeign = ({ file }: Frame) => /[/\\](effect|@effect)[/\\]|[/\\](api|transport)[/\\](src|dist)[/\\]/.test(file)

const beginsAt = (error: unknown, of: string, source: string) => {
  const frames = framesOf(error)
  assert.strictEqual(frames[0]?.of, of)
  assert.include(frames[0]?.source, source)
  assert.deepStrictEqual(frames.filter(isForeign), [])
}

const bookInvoice = (room: Client) => room.workItems.get("item")

const bookAll = async (room: Client) => {
  for await (const item of room.workItems.stream({ limit: 5 })) assert.fail(item.id)
}

const readOn = (page: ListPage<unknown>) => page.nextPage()

const attachNothing = (room: Client) => room.workItems.attachFile("item", "./a-path")

const askWithMistake = (room: Client) => room.workItems.get("item", undefined, { timeout: -1 })

const followBadly = (room: Client) => room.stepRuns.followConsoleMessages("run", { pollInterval: 0 })

const acceptDelivery = () => verifyWebhook({ headers: {}, body: "", secret: "s" })

const receiveDelivery = () => receiveWebhook({ headers: {}, body: "", secret: "s" })

const connectToNothing = () => connect()

describe("a stack begins at the caller", () => {
  it("of a promise", () =>
    withRoom(async (room, server) => {
      server.script([answer(404)])
      beginsAt(await rejectionOf(bookInvoice(room)), "bookInvoice", "room.workItems.get")
    }))

  it("of a stream", () =>
    withRoom(async (room, server) => {
      server.script([answer(403)])
      beginsAt(await rejectionOf(bookAll(room)), "bookAll", "room.workItems.stream")
    }))

  it("of a call with a view of the client", () =>
    withRoom(async (room, server) => {
      server.script([answer(404)])
      const view = room.with({ headers: { "x-a": "1" } }).withSignal(new AbortController().signal)
      beginsAt(await rejectionOf(bookInvoice(view)), "bookInvoice", "room.workItems.get")
    }))

  it("of the next page", () =>
    withRoom(async (room, server) => {
      server.script([answer(200, { data: [], has_more: true, next: "/list?cursor=c" }), answer(403)])
      beginsAt(await rejectionOf(readOn(await room.workItems.list())), "readOn", "page.nextPage")
    }))

  it("of an error of a module", () =>
    withRoom(async (room) => beginsAt(await rejectionOf(attachNothing(room)), "attachNothing", "attachFile")))

  it("of options that cannot be", () =>
    withRoom(async (room) => {
      beginsAt(await rejectionOf(askWithMistake(room)), "askWithMistake", "timeout: -1")
      beginsAt(await rejectionOf((async () => collect(followBadly(room)))()), "followBadly", "pollInterval: 0")
    }))

  it("of a call after close", () =>
    withRoom(async (room) => {
      await room.close()
      beginsAt(await rejectionOf(bookInvoice(room)), "bookInvoice", "room.workItems.get")
      beginsAt(await rejectionOf(bookAll(room)), "bookAll", "room.workItems.stream")
    }))

  it("of a delivery that is no delivery", async () => {
    const error = await rejectionOf(acceptDelivery())
    assert.instanceOf(error, InvalidSignature)
    beginsAt(error, "acceptDelivery", "verifyWebhook")
    assert.instanceOf(error, Webhook.InvalidSignature)
    const received = await rejectionOf(receiveDelivery())
    assert.instanceOf(received, Webhook.InvalidSignature)
    beginsAt(received, "receiveDelivery", "receiveWebhook")
  })

  it("of a connection without a room", async () => {
    const data = process.env["SIGNALBOX_DATA"]
    process.env["SIGNALBOX_DATA"] = "/nowhere"
    try {
      beginsAt(await rejectionOf((async () => connectToNothing())()), "connectToNothing", "connect()")
    } finally {
      if (data === undefined) delete process.env["SIGNALBOX_DATA"]
      else process.env["SIGNALBOX_DATA"] = data
    }
  })

  it("with as many frames as the program wants", () =>
    withRoom(async (room, server) => {
      server.script([answer(404)])
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 1
      const call = bookInvoice(room)
      Error.stackTraceLimit = stackTraceLimit
      assert.lengthOf(framesOf(await rejectionOf(call)), 1)
    }))
})
