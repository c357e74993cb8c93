/**
 * Memory does not grow with the file.
 */
import { assert, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { fileURLToPath } from "node:url"
import { askedOfFiles, faults, GraphSandbox, inSandbox } from "./support/Sandbox.ts"

const MiB = 1024 * 1024
/** More than the room between what the program takes anyway and what it may. */
const size = sized(256 * MiB, 2048 * MiB)
const program = fileURLToPath(new URL("support/BigTransfer.ts", import.meta.url))

it.live(
  `a file of ${Math.round(size / MiB)} MiB goes up and down in memory of a fixed size, whatever fails on the way`,
  () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        // Every tenth request fails, one way or the other, and the bytes break off twice on their way down.
        yield* faults(
          { fault: "drop", every: 20 },
          { fault: "status", status: 503, every: 20, skip: 10 },
          { fault: "truncate", host: "files", method: "GET", bytes: Math.floor(size / 3), times: 2 }
        )
        const child = yield* ChildProcess.make(
          process.execPath,
          ["--max-old-space-size=64", program, origin, yield* accessToken(), String(size)],
          { stderr: "inherit" }
        )
        const output = yield* Stream.mkString(Stream.decodeText(child.stdout))
        assert.strictEqual(Number(yield* child.exitCode), 0)
        const told: { readonly size: number; readonly memory: number } = JSON.parse(output)
        assert.strictEqual(told.size, size)
        assert.isBelow(told.memory, 320 * MiB)
        const seen = yield* askedOfFiles
        for (const { authorization } of seen) assert.isFalse(authorization)
        // The three parts of the download, at the least.
        assert.isAtLeast(seen.filter(({ method }) => method === "GET").length, 3)
      }).pipe(Effect.provide(NodeServices.layer))
    ),
  600_000
)
