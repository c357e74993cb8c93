/** Starts the program and its server, and ends them in order on SIGTERM and Ctrl-C: the server first, then the flows. */
import { makeRuntime, settings } from "./program.ts"
import { serve } from "./server.ts"

const runtime = makeRuntime()
const options = await runtime.runPromise(settings)
const close = await serve(runtime, options)
console.log(`http://${options.host}:${options.port}`)

const end = async () => {
  await close()
  await runtime.dispose()
}
process.once("SIGTERM", end)
process.once("SIGINT", end)
