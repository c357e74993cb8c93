/**
 * onedrive-api, with the types that its own declarations lose where modules are resolved as Node does it.
 */
import type declared from "onedrive-api"
import { createRequire } from "node:module"

/** The client keeps the address that it asks in a global variable; it is that of the service. */
declare global {
  var appConfig: { apiUrl: string }
}

const loaded: typeof declared.default = createRequire(import.meta.url)("onedrive-api")

/** What it does with items; from now on at this address. */
export const itemsAt = (graphUrl: string) => {
  globalThis.appConfig.apiUrl = `${graphUrl}/`
  return loaded.items
}
