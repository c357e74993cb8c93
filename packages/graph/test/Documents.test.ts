/**
 * What files have beside their contents, against the sandbox.
 */
import { assert, describe, it } from "@effect/vitest"
import { AccessTokens } from "../src/AccessTokens.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as NodeTransport from "@signalbox/transport/node"
import * as Documents from "../src/Documents.ts"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import { Graph } from "../src/Graph.ts"
import * as Lists from "../src/Lists.ts"
import * as Sites from "../src/Sites.ts"
import * as Uploads from "../src/Uploads.ts"
import { GraphSandbox, inSandbox } from "./support/Sandbox.ts"

const report = { path: "/Report.txt" }
const library = Effect.map(Sites.get(["contoso.sharepoint.test", "/sites/team"]), ({ id }) => ({
  site: id,
  drive: Drive.of({ site: id })
}))

/** Runs as another person. */
const asJoan = <A, E>(effect: Effect.Effect<A, E, Graph>) =>
  Effect.gen(function* () {
    const { accessToken, origin } = yield* GraphSandbox
    const token = Redacted.make(yield* accessToken("joan@contoso.test"))
    const layer = Graph.layerHttpClient({ graphUrl: origin, loginUrl: origin }).pipe(
      Layer.provide(AccessTokens.layerFixed(token)),
      Layer.provide(NodeTransport.layer)
    )
    return yield* Effect.provide(effect, layer)
  })

describe("columns of files", () => {
  it.live("are read and changed by their internal names", () =>
    inSandbox(
      Effect.gen(function* () {
        const { drive, site } = yield* library
        yield* Lists.addColumn(site, "Documents", { name: "State", text: {} })
        const changed = yield* Documents.updateFields(drive, report, { State: "paid" })
        assert.strictEqual(changed["State"], "paid")
        const { fields } = yield* Documents.asListItem(drive, report)
        assert.strictEqual(fields?.["State"], "paid")
        assert.strictEqual(fields?.["FileLeafRef"], "Report.txt")
      })
    )
  )

  it.live("are those of libraries of sites", () =>
    inSandbox(
      Effect.gen(function* () {
        const error = yield* Effect.flip(Documents.asListItem(Drive.me, { path: "/nothing.bin" }))
        assert.strictEqual(error.reason._tag, "NotFound")
      })
    )
  )
})

describe("a file that is checked out", () => {
  it.live("is locked for others until it is checked in", () =>
    inSandbox(
      Effect.gen(function* () {
        const { drive } = yield* library
        const change = Uploads.upload(drive, report, new TextEncoder().encode("by Joan"))
        yield* Documents.checkOut(drive, report)
        const { publication } = yield* Drives.item(drive, report)
        assert.strictEqual(publication?.level, "checkout")
        for (const refused of [change, Documents.checkOut(drive, report), Drives.remove(drive, report)]) {
          const error = yield* asJoan(Effect.flip(refused))
          assert.strictEqual(error.reason._tag, "Locked")
        }
        yield* Uploads.upload(drive, report, new TextEncoder().encode("by Ann"))
        yield* Documents.checkIn(drive, report, { comment: "as decided" })
        assert.isUndefined((yield* Drives.item(drive, report)).publication)
        yield* asJoan(change)
      })
    )
  )

  it.live("is as before when the check-out is discarded", () =>
    inSandbox(
      Effect.gen(function* () {
        const { drive } = yield* library
        yield* Documents.checkOut(drive, report)
        yield* Uploads.upload(drive, report, new TextEncoder().encode("a draft"))
        yield* Documents.discardCheckOut(drive, report)
        assert.strictEqual(new TextDecoder().decode(yield* Downloads.bytes(drive, report)), "42")
        const error = yield* Effect.flip(Documents.checkIn(drive, report))
        assert.strictEqual(error.reason._tag, "InvalidRequest")
      })
    )
  )
})

it.live("what is deleted permanently is gone, and pictures of a file may be none", () =>
  inSandbox(
    Effect.gen(function* () {
      const file = { path: "/nothing.bin" }
      assert.deepStrictEqual(yield* Stream.runCollect(Documents.thumbnails(Drive.me, file)), [])
      yield* Documents.removePermanently(Drive.me, file)
      assert.strictEqual((yield* Effect.flip(Drives.item(Drive.me, file))).reason._tag, "NotFound")
    })
  )
)
