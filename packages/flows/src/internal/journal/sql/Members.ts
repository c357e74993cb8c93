/**
 * Members of the model as columns: a member has the name of its column in camel case, so a new one is a line of its table.
 */
import type { Columns, Row, RowOf, Values } from "@signalbox/sql/Table"

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S

/** The members of the model that are these columns. */
export type MembersOf<C extends Columns> = { readonly [K in keyof C & string as Camel<K>]: RowOf<C>[K] }

/** Some of them; an undefined one is not there. */
export type SomeOf<C extends Columns> = { readonly [K in keyof MembersOf<C>]?: MembersOf<C>[K] | undefined }

export interface Members<C extends Columns> {
  /** Returns the members of a row. */
  readonly of: (row: RowOf<C>) => MembersOf<C>
  /** Returns the row of members. */
  readonly row: (members: MembersOf<C>) => RowOf<C>
  /** Returns the columns of some members. */
  readonly values: (members: SomeOf<C>) => Values<C>
}

const camel = (column: string) => column.replaceAll(/_(.)/g, (_, first: string) => first.toUpperCase())

/** Copies what is defined under other names; `A` has these names and the same values. */
const renamed = <A>(from: object, names: ReadonlyArray<readonly [string, string]>): A => {
  // Only read.
  const given = from as Readonly<Record<string, unknown>>
  const copy: Record<string, unknown> = {}
  for (const [name, other] of names) {
    const value = given[name]
    if (value !== undefined) copy[other] = value
  }
  // As above.
  return copy as A
}

/** Converts between rows of these columns and members of the model. */
export const members = <C extends Columns>(row: Row<C>): Members<C> => {
  const names = Object.keys(row.fields).map((column) => [column, camel(column)] as const)
  const columns = names.map(([column, member]) => [member, column] as const)
  return {
    of: (given) => renamed(given, names),
    row: (given) => renamed(given, columns),
    values: (given) => renamed(given, columns)
  }
}
