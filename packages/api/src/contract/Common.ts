/** Schemas that several resources share. */
import * as Schema from "effect/Schema"

/** ISO 8601 in UTC with milliseconds, such as `2026-11-20T08:15:30.000Z`. Sorts as text. */
export const Timestamp = Schema.String.annotate({ format: "date-time" })

/** Whether a date such as `2027-02-30` exists, which `Date.parse` takes for a day of March. */
export const isDay = (date: string): boolean => {
  const time = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(`${date}T`)
}

/** A time that cannot be written as text that sorts: its year in UTC has no four digits. */
const isOutside = (time: number) => new Date(time).toISOString().length !== 24

/** A time in a request: ISO 8601 with a zone, such as `2026-11-20T08:15:30Z` or `2026-11-20T08:15+02:00`. */
export const TimestampInput = Timestamp.check(
  Schema.isPattern(
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/,
    { message: "is not a valid time: Expected one with its zone, such as 2026-11-20T08:15:30Z" }
  ),
  Schema.makeFilter((text) => {
    const time = Date.parse(text)
    return isDay(text.slice(0, 10)) && !Number.isNaN(time) && !isOutside(time)
      ? undefined
      : "is not a valid time: there is no such day"
  })
)

/** A value of an enumeration that this version of the contract does not know. A service of ours never sends one. */
export const Unrecognised = Schema.String.pipe(Schema.brand("Unrecognised"))
export type Unrecognised = typeof Unrecognised.Type

/** The schema of an enumeration in responses. */
export interface OpenEnum<L extends ReadonlyArray<string>> extends Schema.Union<
  readonly [Schema.Literals<L>, typeof Unrecognised]
> {}

/** An enumeration in responses: a known literal, or any other string, unchanged. */
export const OpenEnum = <const L extends ReadonlyArray<string>>(literals: L): OpenEnum<L> =>
  Schema.Union([Schema.Literals(literals), Unrecognised])

const storable = Schema.isPattern(/^[^\0\p{Cs}]*$/u, {
  message: "Expected text without NUL and without lone surrogates"
})

/** Text that every database stores unchanged: no NUL, no lone surrogate. */
export const Text = Schema.String.check(storable)

/** A time in a request that is checked by whoever reads the whole, such as the definition of a schedule. */
export const TimestampText = Timestamp.check(storable)

/** The tag of a union's variant in responses that this version does not know: any string but the known ones. */
export const UnrecognisedTag = (known: ReadonlyArray<string>) =>
  Unrecognised.check(Schema.makeFilter((tag) => !known.includes(tag)))

/** A name given by users: 1 to 255 characters. */
export const Name = Text.check(Schema.isBetweenLength(1, 255))

/** A label, within a pattern. */
export const labelPattern = "[A-Za-z0-9][A-Za-z0-9._=:/-]{0,62}"

/** What a worker has or is, such as `gpu` or `site=berlin`: 1 to 63 letters, digits and `. _ - = : /`. */
export const Label = Schema.String.check(
  Schema.isPattern(new RegExp(`^${labelPattern}$`), {
    message: "Expected a label of at most 63 letters, digits and . _ - = : / that begins with a letter or digit"
  })
)

/** At most 32 labels, each once. */
export const Labels = Schema.Array(Label).check(
  Schema.isMaxLength(32),
  Schema.makeFilter((labels) => new Set(labels).size === labels.length || "Expected each label once")
)

/** Query parameters of every list: the size of a page (1 to 500, default 100) and its start. */
export const listQuery = {
  limit: Schema.optional(Schema.Int.check(Schema.isGreaterThan(0))),
  cursor: Schema.optional(Schema.String)
}

/** Extension: only what has exactly this name; not more than one where names are unique. */
const name = Schema.optional(Name.annotate({ description: "Extension: only what has exactly this name" }))

/** Query parameters of lists of what has a name. */
export const namedListQuery = { ...listQuery, name }

/** The query of lists whose pages have a fixed size. */
export const cursorQuery = { cursor: listQuery.cursor }

/** The same, of what has a name. */
export const namedCursorQuery = { ...cursorQuery, name }

/** The schema of a page. */
export interface PageOf<S extends Schema.Constraint> extends Schema.Struct<{
  readonly data: Schema.$Array<S>
  readonly has_more: Schema.Boolean
  readonly next: Schema.NullOr<Schema.String>
}> {}

/** The envelope of every list. `next` is the full URL of the next page, null at the end. */
export const Page = <S extends Schema.Top>(item: S): PageOf<S> =>
  Schema.Struct({
    data: Schema.Array(item),
    has_more: Schema.Boolean,
    next: Schema.NullOr(Schema.String)
  })

/** One page of a list, decoded. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next: string | null
}

/** The schema of a reference to another resource. */
export interface Ref<S extends Schema.Constraint> extends Schema.Struct<{ readonly id: S }> {}

/** A reference to another resource. */
export const Ref = <S extends Schema.Top>(id: S): Ref<S> => Schema.Struct({ id })

/** The schema of a reference with the name that the other resource has. */
export interface NamedRef<S extends Schema.Constraint> extends Schema.Struct<{
  readonly id: S
  readonly name: Schema.String
}> {}

/** A reference to another resource, with its name. */
export const NamedRef = <S extends Schema.Top>(id: S): NamedRef<S> => Schema.Struct({ id, name: Schema.String })

/** The schema of the response to deleting a resource. */
export interface DeletedOf<S extends Schema.Constraint> extends Schema.Struct<{
  readonly id: S
  readonly deleted: Schema.Literal<true>
}> {}

/** The response to deleting a resource. */
export const Deleted = <S extends Schema.Top>(id: S): DeletedOf<S> =>
  Schema.Struct({ id, deleted: Schema.Literal(true) })

/** The decoded response to deleting a resource. */
export interface Deleted<Id> {
  readonly id: Id
  readonly deleted: true
}

/** A resource by its name. */
export interface Named<Id> {
  readonly id: Id
  readonly name: string
}

/** Whether something was asked for in time. */
export interface Accepted {
  readonly accepted: boolean
}

/** An address that the service calls: `http` or `https`, absolute. */
export const CallbackUrl = Text.check(
  Schema.isMaxLength(2048),
  Schema.isPattern(/^https?:\/\/[^\s/]+\S*$/i, { message: "Expected an absolute http or https address" })
)

/** A path below some folder: relative, with `/`, without `.` and `..`. */
export const RelativePath = Schema.String.check(
  Schema.isBetweenLength(1, 1024),
  Schema.isPattern(/^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\\\p{Cc}\p{Cs}]+$/u, {
    message: "Expected a relative path with `/` and without `..`"
  })
)
