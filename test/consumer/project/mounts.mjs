// The control room below a path of Express, Fastify and Hono, beside pages of their own.
import { serve } from "@hono/node-server"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import { strictEqual } from "node:assert"
import { mkdtempSync } from "node:fs"
import { createServer } from "node:http"
import * as Mounted from "signalbox/Mounted"
import { greet } from "./greet.mjs"
import { tasks } from "./tasks.mjs"

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const options = (name, port) => ({
  data: mkdtempSync(`${name}-`),
  publicUrl: `http://127.0.0.1:${port}/automation`,
  tasks
})

const listening = (server) => new Promise((resolve) => server.once("listening", () => resolve(server)))

const mounts = {
  express: async (port) => {
    const automation = await Mounted.toNodeHandler(options("express", port))
    const app = express()
    app.use("/automation", automation.handler)
    app.get("/own", (_request, response) => response.send("own"))
    const server = await listening(app.listen(port, "127.0.0.1"))
    return { automation, close: () => new Promise((resolve) => server.close(resolve)) }
  },
  fastify: async (port) => {
    const automation = await Mounted.toNodeHandler(options("fastify", port))
    const app = Fastify()
    await app.register(async (robots) => {
      robots.removeAllContentTypeParsers()
      robots.addContentTypeParser("*", (_request, _payload, done) => done(null))
      robots.all("/automation/*", (request, reply) => {
        reply.hijack()
        automation.handler(request.raw, reply.raw)
      })
    })
    app.get("/own", () => "own")
    await app.listen({ port, host: "127.0.0.1" })
    return { automation, close: () => app.close() }
  },
  hono: async (port) => {
    const automation = await Mounted.toWebHandler(options("hono", port))
    const app = new Hono()
    app.all("/automation/*", (context) => automation.handler(context.req.raw))
    app.get("/own", (context) => context.text("own"))
    const server = await listening(serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }))
    return { automation, close: () => new Promise((resolve) => server.close(resolve)) }
  }
}

for (const [name, mount] of Object.entries(mounts)) {
  const port = await freePort()
  const { automation, close } = await mount(port)
  await greet(automation.credentials)
  strictEqual(await (await fetch(`http://127.0.0.1:${port}/own`)).text(), "own")
  await automation.dispose()
  await close()
  console.log(name)
}
