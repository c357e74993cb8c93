import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as Lock from "../src/internal/environments/Lock.ts"

layer(NodeServices.layer, { excludeTestServices: true, timeout: "4 minutes" })("the lock of an environment", (it) => {
  it.effect("is held by one when the last holder releases it while others look", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const listed = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      const taken = yield* Deferred.make<void>()
      let isFirst = true
      /** Reads who holds the lock when it has just been released, and goes on only when another has taken it. */
      const slow = FileSystem.FileSystem.of({
        ...fs,
        readFileString: (path, encoding) => {
          if (!isFirst || !path.endsWith("lock.1")) return fs.readFileString(path, encoding)
          isFirst = false
          return Effect.gen(function* () {
            yield* Deferred.succeed(listed, undefined)
            while (yield* fs.exists(path)) yield* Effect.sleep("5 millis")
            const text = yield* Effect.exit(fs.readFileString(path, encoding))
            yield* Deferred.succeed(released, undefined)
            yield* Deferred.await(taken)
            return yield* text
          })
        }
      })
      let holders = 0
      let most = 0
      const hold = (until: Effect.Effect<unknown>) =>
        Effect.gen(function* () {
          most = Math.max(most, ++holders)
          yield* until
          holders--
        })
      const first = yield* Effect.forkChild(Lock.withLock(folder, Effect.void, hold(Deferred.await(listed))))
      while (!(yield* fs.exists(join(folder, "lock.1")))) yield* Effect.sleep("5 millis")
      const second = yield* Effect.forkChild(
        Effect.provideService(Lock.withLock(folder, Effect.void, hold(Effect.void)), FileSystem.FileSystem, slow)
      )
      yield* Fiber.join(first)
      yield* Deferred.await(released)
      yield* Lock.withLock(
        folder,
        Effect.void,
        hold(Effect.andThen(Deferred.succeed(taken, undefined), Effect.sleep("300 millis")))
      )
      yield* Fiber.join(second)
      assert.strictEqual(most, 1)
    })
  )
})
