/** Stands in for the service of customers during development. Like a busy one, it refuses the first request for each customer. */
import { createServer } from "node:http"

const customers = new Map([
  ["ada", "Ada"],
  ["grace", "Grace"]
])
const asked = new Set<string>()

const url = process.env["CUSTOMERS_URL"] ?? "http://127.0.0.1:4801"

createServer((request, response) => {
  const customer = decodeURIComponent(request.url?.split("/").at(-1) ?? "")
  if (!asked.has(customer)) {
    asked.add(customer)
    return response.writeHead(503, { "retry-after": "1" }).end()
  }
  const name = customers.get(customer)
  if (name === undefined) return response.writeHead(404).end()
  return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ name }))
}).listen(Number(new URL(url).port), "127.0.0.1", () => console.log(url))
