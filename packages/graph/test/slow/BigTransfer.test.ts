/**
 * Memory does not grow with the file, through a proxy and whatever fails on the way.
 */
import { assert, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { startHttpProxy } from "@signalbox/testkit/HttpProxy"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { fileURLToPath } from "node:url"
import { askedOfFiles, faults, GraphSandbox, inSandbox } from "../support/Sandbox.ts"

const MiB = 1024 * 1024
/** More than the room between what the program takes anyway and what it may. */
const size = sized(160 * MiB, 10 * 1024 * MiB)
const most = sized(260 * MiB, 320 * MiB)
/** The service needs its time with so large a file, and is not to be taken for one that stalls. */
const idleMillis = sized(2_000, 30_000)
const program = fileURLToPath(new URL("../support/BigTransfer.ts", import.meta.url))

it.live(
  `a file of ${Math.round(size / MiB)} MiB goes up and down through a proxy in memory of a fixed size, whatever fails on the way`,
  () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, filesOrigin, origin } = yield* GraphSandbox
        const [graphPort, filesPort] = [new URL(origin).port, new URL(filesOrigin).port]
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() =>
            startHttpProxy({ hosts: { "graph.test": Number(graphPort), "files.test": Number(filesPort) } })
          ),
          ({ close }) => Effect.promise(close)
        )
        const put = { host: "files", method: "PUT" } as const
        const get = { host: "files", method: "GET", path: "/download/" } as const
        yield* faults(
          // Every tenth request fails, one way or the other.
          { fault: "drop", every: 20 },
          { fault: "status", status: 503, every: 20, skip: 10 },
          // It stands still once on the way up, once in the middle of the way down, and once before an answer.
          { fault: "stall", ...put, skip: 4, times: 1 },
          { fault: "stall", ...get, times: 1, bytes: Math.floor(size / 4) },
          { fault: "stall", ...get, skip: 1, times: 1 },
          // And the bytes break off twice on their way down.
          { fault: "truncate", ...get, skip: 2, times: 2, bytes: Math.floor(size / 5) }
        )
        const token = yield* accessToken()
        const child = yield* ChildProcess.make(
          process.execPath,
          ["--max-old-space-size=64", program, graphPort, filesPort, token, String(size), String(idleMillis)],
          { stderr: "inherit", env: { HTTP_PROXY: proxy.url, NO_PROXY: "" }, extendEnv: true }
        )
        const output = yield* Stream.mkString(Stream.decodeText(child.stdout))
        assert.strictEqual(Number(yield* child.exitCode), 0)
        const told: { readonly size: number; readonly early: number; readonly most: number } = JSON.parse(output)
        assert.strictEqual(told.size, size)
        assert.isBelow(told.most, most)

        const seen = yield* askedOfFiles
        for (const { authorization } of seen) assert.isFalse(authorization)
        const stalls = seen.filter(({ faults }) => faults.includes("stall"))
        assert.sameMembers(
          stalls.map(({ method }) => method),
          ["PUT", "GET", "GET"]
        )
        // All of it went through the proxy.
        assert.isAtLeast(proxy.asked().filter((line) => line.includes("http://files.test/")).length, seen.length)
        if (!soak) return
        // Nine tenths of the way up and all of the way down add next to nothing.
        assert.isBelow(told.most - told.early, 64 * MiB)
        yield* Effect.logInfo("memory in bytes", told)
      }).pipe(Effect.provide(NodeServices.layer))
    ),
  sized(600_000, 3_600_000)
)
