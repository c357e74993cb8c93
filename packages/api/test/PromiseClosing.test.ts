/** How clients with promises, and their streams, end. */
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { type Client, Closed, connect, ControlRoomError } from "../src/Promise.ts"
import { answer, type FaultServer } from "./support/FaultServer.ts"
import { collect, optionsOf, rejectionOf, withRoom } from "./support/PromiseRoom.ts"

/** A response to the request for an item, whose file is the rest of the script. */
const download = (server: FaultServer) => ({ download: { url: `${server.origin}/file`, expires_at: "" } })

const stalled = { _tag: "Stall", body: "the first bytes" } as const

describe("a client that is closed", () => {
  it("rejects every call, stream and effect with Closed, and sends nothing", () =>
    withRoom(async (room, server) => {
      server.script([answer(200, {})])
      await room.close()
      for (const call of [
        room.workItems.get("item"),
        room.with({ policy: {} }).workspaces.get(),
        room.run(Effect.void),
        collect(room.workItems.stream())
      ]) {
        const error = await rejectionOf(call)
        assert.instanceOf(error, Closed)
        assert.instanceOf(error, ControlRoomError)
        assert.include(error, { _tag: "Closed", status: null, attempts: 0 })
        assert.match(error.message, /^the client is closed, on \w+/)
      }
      assert.deepStrictEqual(server.received(), [])
    }))

  it("rejects what was active", () =>
    withRoom(async (room, server) => {
      server.script([{ _tag: "Hang" }])
      const closed = server.nextClosed()
      const call = rejectionOf(room.workItems.get("item"))
      const page = rejectionOf(collect(room.workItems.stream()))
      while (server.received().length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
      await room.close()
      assert.instanceOf(await call, Closed)
      assert.instanceOf(await page, Closed)
      await closed
    }))

  it("closes a download that nobody reads any more", () =>
    withRoom(async (room, server) => {
      server.script([stalled])
      const bytes = room.files.download(download(server))[Symbol.asyncIterator]()
      await bytes.next()
      const closed = server.nextClosed()
      await room.close()
      await closed
      assert.instanceOf(await rejectionOf(bytes.next()), Closed)
      assert.deepStrictEqual(await bytes.next(), { done: true, value: undefined })
    }))

  it("may be closed again", () =>
    withRoom(async (room) => {
      await Promise.all([room.close(), room.close()])
      await room.close()
    }))

  it("is one at the end of its block", () =>
    withRoom(async (_, server) => {
      const rooms: Array<Client> = []
      {
        await using room = connect(optionsOf(server))
        rooms.push(room)
      }
      for (const room of rooms) assert.instanceOf(await rejectionOf(room.workItems.get("item")), Closed)
    }))
})

describe("an iterator", () => {
  it("that ends early closes what is open", () =>
    withRoom(async (room, server) => {
      server.script([stalled])
      const closed = server.nextClosed()
      for await (const bytes of room.files.download(download(server))) {
        assert.strictEqual(new TextDecoder().decode(bytes), stalled.body)
        break
      }
      await closed
    }))

  it("that is returned while it waits closes what is open, and ends", () =>
    withRoom(async (room, server) => {
      server.script([stalled])
      const closed = server.nextClosed()
      const bytes = room.files.download(download(server))[Symbol.asyncIterator]()
      await bytes.next()
      const waiting = bytes.next()
      await bytes.return?.()
      await closed
      assert.deepStrictEqual(await waiting, { done: true, value: undefined })
    }))

  it("whose body throws closes what is open", () =>
    withRoom(async (room, server) => {
      server.script([stalled])
      const closed = server.nextClosed()
      const thrown = new Error("of the program")
      const read = async () => {
        for await (const _ of room.files.download(download(server))) throw thrown
      }
      assert.strictEqual(await rejectionOf(read()), thrown)
      await closed
    }))

  it("of a signal that is aborted closes what is open, also while nobody reads", () =>
    withRoom(async (room, server) => {
      server.script([stalled])
      const closed = server.nextClosed()
      const controller = new AbortController()
      const bytes = room.files.download(download(server), { signal: controller.signal })[Symbol.asyncIterator]()
      await bytes.next()
      controller.abort(new Error("enough"))
      await closed
      assert.strictEqual(await rejectionOf(bytes.next()), controller.signal.reason)
    }))

  it("runs the stream anew each time", () =>
    withRoom(async (room, server) => {
      server.script([answer(200, { data: [], next: null, has_more: false })])
      const items = room.workItems.stream()
      assert.deepStrictEqual([await collect(items), await collect(items)], [[], []])
      assert.lengthOf(server.received(), 2)
    }))
})
