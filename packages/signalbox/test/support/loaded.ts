/** Preloaded into the command: writes what it loads to standard error. */
import { registerHooks } from "node:module"

registerHooks({
  load: (url, context, next) => {
    process.stderr.write(`loaded ${url}\n`)
    return next(url, context)
  }
})
