/** Processes of the operating system: which have ended is seen by those beside them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { hasEnded, isBeside, placeOfSelf } from "../src/internal/ownership/Place.ts"

describe("the place of a process", { skip: process.platform !== "linux" }, () => {
  const self = Effect.map(placeOfSelf, (place) => {
    assert.isNotNull(place)
    return place
  })

  it.effect("is the same each time, and the process has not ended", () =>
    Effect.gen(function* () {
      const place = yield* self
      assert.deepStrictEqual(yield* placeOfSelf, place)
      assert.strictEqual(place.pid, process.pid)
      assert.isFalse(yield* hasEnded(place))
    })
  )

  it.effect("shows that a process has ended, and that another one has its pid", () =>
    Effect.gen(function* () {
      const place = yield* self
      const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"], { stdio: "ignore" })
      const pid = child.pid ?? 0
      assert.isTrue(yield* hasEnded({ ...place, pid, startedAt: "1" }))
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      assert.isTrue(yield* hasEnded({ ...place, pid }))
    })
  )

  it.live("shows that a process has ended that its parent has not waited for", () =>
    Effect.gen(function* () {
      const place = yield* self
      // The shell becomes a program that waits for no child.
      const parent = spawn("sh", ["-c", "cat <&3 & echo $!; exec sleep 600"], {
        stdio: ["ignore", "pipe", "ignore", "pipe"]
      })
      const { stdout } = parent
      assert(stdout !== null)
      const [line] = yield* Effect.promise(() => once(stdout, "data"))
      const pid = Number(line)
      while (readFileSync(`/proc/${parent.pid}/comm`, "utf8") !== "sleep\n") yield* Effect.sleep("5 millis")
      const [, startedAt = ""] = /(\d+)(?: \S+){30}$/.exec(readFileSync(`/proc/${pid}/stat`, "utf8").trim()) ?? []
      assert.isFalse(yield* hasEnded({ ...place, pid, startedAt }))
      parent.stdio[3]?.destroy()
      while (!(yield* hasEnded({ ...place, pid, startedAt }))) yield* Effect.sleep("5 millis")
      assert.isTrue(process.kill(pid, 0))
      parent.kill("SIGKILL")
    })
  )

  it.effect("is beside those of the same host, boot and namespace alone", () =>
    Effect.gen(function* () {
      const place = yield* self
      assert.isTrue(isBeside(place, { ...place, pid: 1, startedAt: "1" }))
      for (const other of [{ host: "other" }, { boot: "other" }, { namespace: "pid:[1]" }]) {
        assert.isFalse(isBeside(place, { ...place, ...other }))
      }
    })
  )
})
