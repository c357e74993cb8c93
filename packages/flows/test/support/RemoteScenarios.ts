/** Clients of another program, in scenarios: over HTTP, without a socket, so that time may be virtual. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { FlowClient } from "../../src/FlowClient.ts"
import * as FlowManagement from "../../src/FlowManagement.ts"
import { FlowManagementClient } from "../../src/FlowManagementClient.ts"

const tokenOfProgram = "a token of some length"
const tokenOfClient = "a token for a web application"

/** The clients of a program that serves its executions: with every right, or with those of a token for some verbs and flows. */
export const clients = (grant: Omit<FlowManagement.TokenOptions, "token"> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const serve = yield* FlowManagement.toWebHandler({
        token: Redacted.make(tokenOfProgram),
        tokens: [{ token: Redacted.make(tokenOfClient), ...grant }]
      })
      const http = FetchHttpClient.layer.pipe(
        Layer.provide(
          Layer.succeed(FetchHttpClient.Fetch, (input: RequestInfo | URL, init?: RequestInit) =>
            serve(new Request(input, init))
          )
        )
      )
      const options = { url: "http://flows.example", token: Redacted.make(tokenOfClient) }
      return Layer.provide(Layer.merge(FlowClient.layer(options), FlowManagementClient.layer(options)), http)
    })
  )
