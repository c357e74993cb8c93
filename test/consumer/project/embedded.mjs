// A whole control room in this program, connected to over loopback.
import { Effect } from "effect"
import { mkdtempSync } from "node:fs"
import * as Embedded from "signalbox/Embedded"
import { greet } from "./greet.mjs"
import { tasks } from "./tasks.mjs"

await Effect.gen(function* () {
  const { credentials } = yield* Embedded.Embedded
  yield* Effect.promise(() => greet(credentials))
}).pipe(Effect.provide(Embedded.layer({ data: mkdtempSync("embedded-"), port: 0, tasks })), Effect.runPromise)
console.log("greeted")
