/** The server: which endpoint does what. */
import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import Fastify, { type FastifyReply } from "fastify"
import type { Runtime, Settings } from "./program.ts"
import * as Welcomes from "./welcomes.ts"

const send = (reply: FastifyReply, { body, status }: Welcomes.Answer) => reply.code(status).send(body)

/** Listens, and returns the function that ends the server after its last response. */
export const serve = async (runtime: Runtime, { host, port, token }: Settings) => {
  const handlers = Effect.all([FlowManagement.toNodeHandler({ token, prefix: "/flows" }), FlowCallbacks.toNodeHandler])
  const [manage, receive] = await runtime.runPromise(Scope.provide(handlers, runtime.scope))

  const app = Fastify({ logger: { level: "error" } })
  app.post("/welcomes", async ({ body }, reply) => send(reply, await runtime.runPromise(Welcomes.start(body))))
  app.get<{ Params: { customer: string } }>("/welcomes/:customer", async ({ params }, reply) =>
    send(reply, await runtime.runPromise(Welcomes.find(params.customer)))
  )
  app.post<{ Params: { customer: string } }>("/welcomes/:customer/approval", async ({ body, params }, reply) =>
    send(reply, await runtime.runPromise(Welcomes.decide(params.customer, body)))
  )

  await app.register(async (flows) => {
    // These two read the bodies of their requests themselves.
    flows.removeAllContentTypeParsers()
    flows.addContentTypeParser("*", (_request, _payload, done) => done(null))
    flows.all("/flows/*", (request, reply) => {
      reply.hijack()
      manage(request.raw, reply.raw)
    })
    flows.post("/callbacks", (request, reply) => {
      reply.hijack()
      receive(request.raw, reply.raw)
    })
  })

  await app.listen({ host, port })
  return () => app.close()
}
