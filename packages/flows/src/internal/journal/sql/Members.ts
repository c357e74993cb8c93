/**
 * Members of the model as columns: a member has the name of its column in camel case, so a new one is a line of its table.
 *
 * All of this runs with each write. Objects are copies of one with all names, because adding names one by one makes garbage.
 */
import type { Columns, Row, RowOf, StoredRow, Values } from "@signalbox/sql/Table"

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S

/** The members of the model that are these columns. */
export type MembersOf<C extends Columns> = { readonly [K in keyof C & string as Camel<K>]: RowOf<C>[K] }

/** Some of them; an undefined one is not there. */
export type SomeOf<C extends Columns> = { readonly [K in keyof MembersOf<C>]?: MembersOf<C>[K] | undefined }

/** The columns that are no member of `A` as they are. */
type Others<C extends Columns, A> = keyof {
  [K in keyof C & string as Camel<K> extends keyof A ? (A[Camel<K>] extends RowOf<C>[K] ? never : K) : K]: true
} &
  keyof C

/** Computes columns: those that are no members, and any other. */
type Computed<C extends Columns, A> = { readonly [K in Others<C, A>]: (value: A) => RowOf<C>[K] } & {
  readonly [K in keyof C]?: (value: A) => RowOf<C>[K]
}

const camel = (column: string) => column.replaceAll(/_(.)/g, (_, first: string) => first.toUpperCase())

const named = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name): [string, unknown] => [name, null]))

/** Returns how a row becomes the members of the model that are these columns. */
export const reader = <C extends Columns>({ list }: Row<C>): ((row: RowOf<C>) => MembersOf<C>) => {
  const names = list.map(([column]) => [column, camel(column)] as const)
  const all = named(names.map(([, member]) => member))
  return (row) => {
    const members = { ...all }
    for (const [column, member] of names) members[member] = row[column]
    // Each member is the column of its name.
    return members as MembersOf<C>
  }
}

/** Returns how a value of the model becomes a stored row: each column is the member of its name, unless it is computed. */
export const writer =
  <A extends object>() =>
  <C extends Columns>({ list }: Row<C>, computed: Computed<C, A>): ((value: A) => StoredRow<C>) => {
    const all = named(list.map(([column]) => column))
    const columns = list.map(([column, { encode }]) => {
      // By the type of `computed`, it has what is no member.
      const compute = computed[column] as ((value: A) => unknown) | undefined
      return [column, camel(column), compute, encode] as const
    })
    return (value) => {
      const row = { ...all }
      for (const [column, member, compute, encode] of columns) {
        const one: unknown = compute === undefined ? Reflect.get(value, member) : compute(value)
        row[column] = encode === null ? one : encode(one)
      }
      // Each column was encoded, or is stored as it is.
      return row as StoredRow<C>
    }
  }

/** Returns how some members become values of their columns. */
export const updater = <C extends Columns>({ list }: Row<C>): ((members: SomeOf<C>) => Values<C>) => {
  const names = new Map(list.map(([column]) => [camel(column), column]))
  return (members) => {
    const values: Record<string, unknown> = {}
    for (const member in members) {
      const column = names.get(member)
      if (column !== undefined) values[column] = members[member]
    }
    // As in `reader`.
    return values as Values<C>
  }
}
