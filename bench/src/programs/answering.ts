/**
 * A server that answers every request with the same JSON, for measuring clients. The response satisfies all contenders: an object
 * with the fields of a work item.
 */
import { createServer } from "node:http"
import { serve } from "../harness/Program.ts"

const workItem = JSON.stringify({
  id: "01a1fdad-f7fb-7550-b1c8-2a7d99939de9",
  object: "customer",
  created_at: "2026-11-21T10:36:39.291Z",
  state: "done",
  state_updated_at: "2026-11-21T10:36:39.380Z",
  process: { id: "01a1fdad-f7f3-7475-9e3e-2d183f9abf25" },
  process_run: { id: "01a1fdad-f80f-7564-84e9-30bbac468253" },
  step: { id: "01a1fdad-f7f3-7475-9e3e-2d1a0fc556ea" },
  step_run: { id: "01a1fdad-f82e-758d-a04a-0bec6715b86e" },
  exception: null,
  payload: {
    order: 17,
    lines: [
      { sku: "a", n: 1 },
      { sku: "b", n: 2 }
    ],
    customer: "Ada"
  },
  files: []
})

const server = createServer((request, response) => {
  request.resume()
  request.once("end", () => {
    response.writeHead(200, { "content-type": "application/json", "x-request-id": "bench" })
    response.end(workItem)
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  serve(() => Promise.resolve(null), { ready: typeof address === "object" && address !== null ? address.port : 0 })
})
