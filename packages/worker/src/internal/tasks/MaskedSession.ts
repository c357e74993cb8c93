/**
 * The secrets and items of a task in this process: values that it reads are hidden in the exceptions of its items.
 */
import type { StepRunSession } from "@signalbox/api/robot/StepRunSession"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ItemSource } from "../items/ItemSource.ts"
import type { Mask } from "../agent/Mask.ts"

export const vault = (of: StepRunSession["vault"], mask: Mask): StepRunSession["vault"] => ({
  ...of,
  get: (name) => Effect.tap(of.get(name), ({ items }) => Effect.sync(() => mask.add(Redacted.value(items))))
})

export const items = <E>(of: ItemSource<E>, mask: Mask): ItemSource<E> => ({
  ...of,
  advance: (settled, more) => {
    if (settled === null || settled.release.state === "COMPLETED") return of.advance(settled, more)
    const { exception } = settled.release
    const shown = { ...exception, code: mask.text(exception.code), message: mask.text(exception.message) }
    return of.advance({ ...settled, release: { ...settled.release, exception: shown } }, more)
  }
})
