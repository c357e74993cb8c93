/** The server: which endpoint does what. */
import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import express, { type ErrorRequestHandler, type Response } from "express"
import { once } from "node:events"
import { createServer } from "node:http"
import type { Runtime, Settings } from "./program.ts"
import * as Welcomes from "./welcomes.ts"

const send = (response: Response, { body, status }: Welcomes.Answer) => response.status(status).json(body)

/** For what Express refuses itself, such as a body that is no JSON, and for defects. */
const refuse: ErrorRequestHandler = (error, _request, response, _next) => {
  const status: number = error.status ?? 500
  if (status >= 500) console.error(error)
  response.status(status).json({ code: status < 500 ? "InvalidRequest" : "UnexpectedError" })
}

/** Listens, and returns the function that ends the server after its last response. */
export const serve = async (runtime: Runtime, { host, port, token }: Settings) => {
  const handlers = Effect.all([FlowManagement.toNodeHandler({ token, prefix: "/flows" }), FlowCallbacks.toNodeHandler])
  const [manage, receive] = await runtime.runPromise(Scope.provide(handlers, runtime.scope))

  const app = express()
  // Before the parser of JSON: these two read the bodies of their requests themselves.
  app.use("/flows", manage)
  app.post("/callbacks", receive)

  app.use(express.json())
  app.post("/welcomes", async ({ body }, response) => {
    send(response, await runtime.runPromise(Welcomes.start(body)))
  })
  app.get("/welcomes/:customer", async ({ params }, response) => {
    send(response, await runtime.runPromise(Welcomes.find(params.customer)))
  })
  app.post("/welcomes/:customer/approval", async ({ body, params }, response) => {
    send(response, await runtime.runPromise(Welcomes.decide(params.customer, body)))
  })

  app.use(refuse)

  const server = createServer(app).listen(port, host)
  await once(server, "listening")
  return async () => {
    server.close()
    await once(server, "close")
  }
}
