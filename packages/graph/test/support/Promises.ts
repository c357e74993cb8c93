/**
 * What calls with promises come to.
 */
import { assert } from "@effect/vitest"

/** What a call rejects with. */
export const rejection = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => assert.fail("it did not reject"),
    (error: unknown) => error
  )

/** All items of an iteration. */
export const all = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const item of items) found.push(item)
  return found
}
