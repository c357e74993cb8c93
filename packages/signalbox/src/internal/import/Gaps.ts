/** What cannot be had from a source, and why; collected while it is read, for the report. */
import * as Effect from "effect/Effect"
import type { Kind } from "../apply/Step.ts"
import type { SourceError } from "./Source.ts"

/** Those of `apply`, and what only an import brings; `file`: one for `apply`. */
export type ImportKind = Kind | "work items" | "file"

export interface Gap {
  readonly kind: ImportKind
  readonly name: string
  readonly why: string
}

/** The name of a gap that is a whole kind. */
export const everything = "(all)"

/** Why secret fields do not come along. */
export const hidden = (masked: ReadonlyArray<string>) =>
  `secret fields that the key of the source does not see (${masked.slice(0, 5).join(", ")}${masked.length > 5 ? ", …" : ""}): use one with Processes.read_sensitive`

export class Gaps {
  readonly found: Array<Gap> = []

  add(kind: ImportKind, name: string, why: string) {
    this.found.push({ kind, name, why })
  }

  /** Notes what the key of the source does not see. */
  readonly addMasked = (kind: ImportKind, name: string, masked: ReadonlyArray<string>) => {
    if (masked.length > 0) this.add(kind, name, hidden(masked))
  }

  /** The value; null, and a gap, when the source does not give it. A key that it does not know ends the import. */
  readonly orNull = <A, R>(
    kind: ImportKind,
    name: string,
    read: Effect.Effect<A, SourceError, R>,
    absent = "the source has no interface for it"
  ): Effect.Effect<A | null, SourceError, R> =>
    Effect.catch(read, (error) =>
      error.kind === "unauthorized"
        ? Effect.fail(error)
        : Effect.sync(() => {
            this.add(kind, name, error.kind === "absent" ? absent : error.message)
            return null
          })
    )

  /** All of a kind, none when the source has no interface for it. */
  readonly orNone = <A, R>(kind: ImportKind, read: Effect.Effect<ReadonlyArray<A>, SourceError, R>) =>
    Effect.map(
      this.orNull(kind, everything, read, "the source has no interface for them"),
      (found): ReadonlyArray<A> => found ?? []
    )

  /** Each name once: a room of ours has no two, another may. */
  readonly named = <A extends { readonly name: string }>(kind: ImportKind, all: ReadonlyArray<A>) => {
    const names = new Set<string>()
    return all.filter(({ name }) => {
      const isNew = !names.has(name)
      names.add(name)
      if (!isNew) this.add(kind, name, "the source has another one of this name, which is imported")
      // A key of objects that is none of their own.
      if (name === "__proto__") this.add(kind, name, "the name is not possible here")
      return isNew && name !== "__proto__"
    })
  }
}
