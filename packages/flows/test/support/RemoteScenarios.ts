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

/** Whether a request waits until time has passed: `wait` is in its query or its body. */
const waits = async (request: Request): Promise<boolean> => {
  if (new URL(request.url).searchParams.has("wait")) return true
  const text = await request.clone().text()
  const body: { readonly wait?: number } | null = text === "" ? null : JSON.parse(text)
  return body?.wait !== undefined
}

/**
 * The clients of a program that serves its executions: with every right, or with those of a token for some verbs and flows.
 * `answered` waits for the responses that need no more time of the scenario, so that none passes while a request is on its way.
 */
export const clients = (grant: Omit<FlowManagement.TokenOptions, "token"> = {}) => {
  const underWay = new Set<Promise<unknown>>()
  const answered = Effect.promise(() => Promise.allSettled(underWay))
  const layer = Layer.unwrap(
    Effect.gen(function* () {
      const serve = yield* FlowManagement.toWebHandler({
        token: Redacted.make(tokenOfProgram),
        tokens: [{ token: Redacted.make(tokenOfClient), ...grant }]
      })
      const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
        const request = new Request(input, init)
        const response = waits(request).then((itWaits) => {
          if (itWaits) underWay.delete(response)
          return serve(request)
        })
        underWay.add(response)
        return response.finally(() => underWay.delete(response))
      }
      const http = FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)))
      const options = { url: "http://flows.example", token: Redacted.make(tokenOfClient) }
      return Layer.provide(Layer.merge(FlowClient.layer(options), FlowManagementClient.layer(options)), http)
    })
  )
  return { answered, layer }
}
