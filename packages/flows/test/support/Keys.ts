/** Keys for tests, and codecs with them. */
import * as Redacted from "effect/Redacted"
import * as FlowValues from "../../src/FlowValues.ts"

/** A key of 32 equal bytes. */
export const keyOf = (id: string, byte = id.charCodeAt(0)): FlowValues.Key => ({
  id,
  key: Redacted.make(new Uint8Array(32).fill(byte))
})

/** A codec with one ring of these keys. */
export const ring = (...ids: ReadonlyArray<string>): FlowValues.FlowValues =>
  FlowValues.aes({ keys: ids.map((id) => keyOf(id)) })

/** A codec with a ring for each tenant, the member `tenant` of an input. Rings in `erased` are gone. */
export const tenants = (erased: ReadonlySet<string>): FlowValues.FlowValues =>
  FlowValues.aes({
    keys: (name) => (erased.has(name) ? null : [keyOf("k", name.length)]),
    keyOf: ({ input }) =>
      typeof input === "object" && input !== null && "tenant" in input ? String(input.tenant) : "nobody"
  })
