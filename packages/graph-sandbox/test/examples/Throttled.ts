import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import * as Effect from "effect/Effect"

const program = Effect.gen(function* () {
  const sandbox = yield* GraphSandbox
  const token = yield* sandbox.accessToken("ann@contoso.test")
  yield* sandbox.setFaults({
    rules: [
      {
        fault: "throttle",
        path: "/me$",
        times: 1,
        retryAfter: "decimal",
        seconds: 0.1
      }
    ]
  })
  const ask = Effect.promise(() =>
    fetch(`${sandbox.graphUrl}/me`, {
      headers: { authorization: `Bearer ${token}` }
    })
  )
  const statuses = [(yield* ask).status, (yield* ask).status]
  return { statuses, requests: yield* sandbox.requests }
})

export const ran = program.pipe(
  Effect.provide(
    GraphSandbox.layer({
      seed: {
        users: [
          {
            userPrincipalName: "ann@contoso.test",
            displayName: "Ann Lee",
            drive: { "Reports/May.txt": "42 orders" }
          }
        ]
      }
    })
  )
)
