/** Uploads of task packages to a service that is killed: each is a whole version, or nothing at all. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, it } from "@effect/vitest"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { createHash } from "node:crypto"
import * as Child from "../support/Child.ts"
import { blobsIn, onPostgres, temporaryFolder } from "../support/Service.ts"

const kills = sized(1, 15)
const writers = 4

const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

it.live(`uploads survive ${kills} kills whole, or leave nothing`, () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    let node = yield* Child.start(folder)
    let sent = 0
    let versions = 0
    for (let n = 1; n <= kills; n++) {
      // Each its own package, which has fewer versions than are kept.
      const { id } = yield* Effect.provide(TaskPackages.create(`killed ${n}`), node.client)
      const confirmed = new Set<string>()
      const upload = Effect.gen(function* () {
        const bytes = yield* zipOf({ "robot.yaml": robotYaml("Run"), content: `${sent++}`.repeat(20_000) })
        yield* TaskPackages.upload(id, { name: "p.zip", bytes })
        confirmed.add(digestOf(bytes))
      })
      const all = Effect.all(
        Array.from({ length: writers }, () => Effect.forever(upload)),
        { concurrency: "unbounded" }
      )
      const writing = yield* Effect.forkChild(Effect.provide(all, node.client))
      // Each time at another place of the uploads that are under way.
      yield* Effect.repeat(Effect.delay(Effect.void, "1 millis"), { until: () => confirmed.size > n % 8 })
      yield* node.kill
      yield* Fiber.interrupt(writing)
      node = yield* Child.start(folder)
      const found = yield* Effect.provide(
        Effect.flatMap(TaskPackages.listVersions(id), ({ data }) =>
          Effect.forEach(data, ({ version }) => TaskPackages.getVersion(id, version))
        ),
        node.client
      )
      versions += found.length
      assert.deepStrictEqual(
        found.map(({ version }) => version),
        found.map((_, index) => found.length - index)
      )
      assert.strictEqual(found[0]?.state, "current")
      const digests = new Set(found.map(({ digest }) => digest))
      assert.strictEqual(digests.size, found.length)
      for (const one of confirmed) assert.isTrue(digests.has(one), one)
      for (const { digest, download } of found) {
        const bytes = yield* Effect.promise(async () => (await fetch(download.url)).bytes())
        assert.strictEqual(digestOf(bytes), digest)
      }
      // Several nodes of a Postgres leave what is young: another may be about to name it.
      const { kept, staged } = yield* blobsIn(folder)
      if (!onPostgres) assert.deepStrictEqual([kept.length, staged.length], [versions, 0])
    }
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)
