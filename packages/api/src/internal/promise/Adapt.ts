/** What a program without Effect gives, as what the modules take. */
import type * as Brand from "effect/Brand"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type SizedBytes, type UploadSource, UploadSourceError } from "../../Upload.ts"

/** Bytes to upload of a known size that can be read again: a `File`, or a `Blob` (`openAsBlob` of `node:fs`) with a name. */
export type BlobSource = File | NamedBlob

/** A blob, and what the file is called. */
export interface NamedBlob {
  readonly name: string
  readonly blob: Blob
}

/** What is one value, though it is an object. */
type Value = Uint8Array | Date | Duration.Duration | DateTime.DateTime

/** An argument without brands, with plain functions where the client takes effects, and with blobs where it takes streams. */
export type Plain<T> = [Schema.Json] extends [T]
  ? T
  : T extends SizedBytes
    ? T | BlobSource
    : T extends (...args: infer A) => Effect.Effect<infer _A, infer _E, infer _R>
      ? (...args: A) => void | PromiseLike<void>
      : T extends string & Brand.Brand<string>
        ? string
        : T extends Value | Redacted.Redacted<infer _A> | Stream.Stream<infer _A, infer _E, infer _R>
          ? T
          : T extends object
            ? { readonly [K in keyof T]: Plain<T[K]> }
            : T

const sizedBytes = (name: string, blob: Blob): SizedBytes => ({
  name,
  size: blob.size,
  stream: Stream.suspend(() =>
    Stream.fromReadableStream({
      evaluate: () => blob.stream(),
      onError: (error) => new UploadSourceError({ name, message: `${name} cannot be read: ${String(error)}` })
    })
  )
})

/** A blob as what can be uploaded; undefined for everything else. */
const blobOf = (source: unknown): SizedBytes | undefined => {
  if (source instanceof File) return sizedBytes(source.name, source)
  if (!Predicate.isObject(source) || !("blob" in source && source.blob instanceof Blob && "name" in source))
    return undefined
  return sizedBytes(String(source.name), source.blob)
}

/** The source of an upload as the modules take it. */
export const adaptSource = (source: UploadSource | BlobSource): UploadSource =>
  // What is no blob is one of the others.
  blobOf(source) ?? (source as UploadSource)

type Listener = (...args: ReadonlyArray<unknown>) => unknown

/** Such as `onProgress`. Schemas may be functions, too. */
const isListener = (name: string, value: unknown): value is Listener =>
  typeof value === "function" && /^on[A-Z]/.test(name)

/** Blobs become what can be uploaded, and functions such as `onProgress` effects, which is what the modules take. */
export const adapt = (argument: unknown): unknown => {
  const source = blobOf(argument)
  if (source !== undefined) return source
  if (!Predicate.isObject(argument) || argument instanceof Uint8Array) return argument
  const entries = Object.entries(argument)
  if (!entries.some(([name, value]) => isListener(name, value))) return argument
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      isListener(name, value) ? (...args: ReadonlyArray<unknown>) => Effect.promise(async () => value(...args)) : value
    ])
  )
}
