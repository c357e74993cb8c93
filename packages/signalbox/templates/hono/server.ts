/** The server: which endpoint does what. */
import { createAdaptorServer } from "@hono/node-server"
import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { Hono, type HonoRequest } from "hono"
import { once } from "node:events"
import type { Runtime, Settings } from "./program.ts"
import * as Welcomes from "./welcomes.ts"

const send = ({ body, status }: Welcomes.Answer) => Response.json(body, { status })

/** The body, or undefined when it is no JSON, which fits nothing. */
const bodyOf = (request: HonoRequest): Promise<unknown> => request.json().catch(() => undefined)

/** Listens, and returns the function that ends the server after its last response. */
export const serve = async (runtime: Runtime, { host, port, token }: Settings) => {
  const handlers = Effect.all([FlowManagement.toWebHandler({ token, prefix: "/flows" }), FlowCallbacks.toWebHandler])
  const [manage, receive] = await runtime.runPromise(Scope.provide(handlers, runtime.scope))

  const app = new Hono()
  app.post("/welcomes", async ({ req }) => send(await runtime.runPromise(Welcomes.start(await bodyOf(req)))))
  app.get("/welcomes/:customer", async ({ req }) =>
    send(await runtime.runPromise(Welcomes.find(req.param("customer"))))
  )
  app.post("/welcomes/:customer/approval", async ({ req }) =>
    send(await runtime.runPromise(Welcomes.decide(req.param("customer"), await bodyOf(req))))
  )
  app.all("/flows/*", ({ req }) => manage(req.raw))
  app.post("/callbacks", ({ req }) => receive(req.raw))

  const server = createAdaptorServer({ fetch: app.fetch }).listen(port, host)
  await once(server, "listening")
  return async () => {
    server.close()
    await once(server, "close")
  }
}
