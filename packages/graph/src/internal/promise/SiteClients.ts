/** People, sites, lists and calls of any kind, as functions with promises. */
import type { AnySchema } from "@signalbox/api/StandardSchema"
import * as Batch from "../../Batch.ts"
import * as Lists from "../../Lists.ts"
import type { Drive } from "../../model/Drive.ts"
import type { Site } from "../../model/Site.ts"
import type { User } from "../../model/User.ts"
import * as Raw from "../../Raw.ts"
import * as Sites from "../../Sites.ts"
import * as Users from "../../Users.ts"
import type { ListOptions, Selection } from "../requests/Options.ts"
import type { CallOptions, Members } from "./Members.ts"
import { type BatchResult, presentAll, presentNamed } from "./Results.ts"

/** Which fields of people come. */
export interface SelectUser extends Selection<User> {}

/** Which users, and how. */
export interface UserListOptions extends ListOptions<User> {
  /** For filters with `endswith`, `ne` or `not`, and for filters that are ordered. */
  readonly advanced?: boolean | undefined
}

/** The people of the organisation. */
export interface UsersClient {
  /**
   * The account that is signed in.
   * @example const { displayName } = await graph.users.me({ select: ["displayName"] })
   */
  readonly me: (select?: SelectUser, options?: CallOptions) => Promise<User>
  /**
   * A user by id or principal name; rejects with `NotFound`.
   * @example const { mail } = await graph.users.get("mia@contoso.example")
   */
  readonly get: (user: string, select?: SelectUser, options?: CallOptions) => Promise<User>
  /**
   * The users of the organisation, over all pages.
   * @example
   * const filter = "accountEnabled eq true"
   * for await (const { mail } of graph.users.stream({ filter })) console.log(mail)
   */
  readonly stream: (list?: UserListOptions, options?: CallOptions) => AsyncIterable<User>
  /**
   * All users that match a text, over all pages.
   * @example for await (const { mail } of graph.users.search("mia")) console.log(mail)
   */
  readonly search: (text: string, search?: Users.SearchOptions, options?: CallOptions) => AsyncIterable<User>
  /**
   * The manager of a user; rejects with `NotFound` when none is set.
   * @example const { mail } = await graph.users.manager(user, { select: ["mail"] })
   */
  readonly manager: (user: string, select?: SelectUser, options?: CallOptions) => Promise<User>
  /**
   * The users who report to a user.
   * @example for await (const { mail } of graph.users.directReports(user)) console.log(mail)
   */
  readonly directReports: (user: string, select?: SelectUser, options?: CallOptions) => AsyncIterable<User>
  /** The bytes of the photo of a user. */
  readonly photo: (user: string, options?: CallOptions) => Promise<Uint8Array>
}

export const users: Members<UsersClient> = {
  me: { of: Users.me, parameters: 1 },
  get: { of: Users.get, parameters: 2 },
  stream: { of: Users.stream, parameters: 1 },
  search: { of: Users.search, parameters: 2 },
  manager: { of: Users.manager, parameters: 2 },
  directReports: { of: Users.directReports, parameters: 2 },
  photo: { of: Users.photo, parameters: 1 }
}

/** Which fields of a site come, and whose site `root` is. */
export interface SiteOptions extends Selection<Site> {
  readonly resource?: string | undefined
}

/** Team sites. */
export interface SitesClient {
  /**
   * A site by any address in it, by its id, or by host and path; rejects with `NotFound`.
   * @example const site = await graph.sites.get("https://contoso.sharepoint.com/sites/team")
   */
  readonly get: (site: Sites.SiteAddress, select?: SiteOptions, options?: CallOptions) => Promise<Site>
  /** The sites whose names hold a text. */
  readonly search: (text: string, options?: CallOptions) => AsyncIterable<Site>
  /** The sites below a site. */
  readonly subsites: (site: string, options?: CallOptions) => AsyncIterable<Site>
  /** The sites that the signed-in account follows. */
  readonly followed: (options?: CallOptions) => AsyncIterable<Site>
  /** The document libraries of a site. */
  readonly drives: (site: string, options?: CallOptions) => AsyncIterable<Drive>
  /** The default document library of a site. */
  readonly drive: (site: string, options?: CallOptions) => Promise<Drive>
}

export const sites: Members<SitesClient> = {
  get: { of: Sites.get, parameters: 2 },
  search: { of: Sites.search, parameters: 1 },
  subsites: { of: Sites.subsites, parameters: 1 },
  followed: { of: Sites.followed, parameters: 0 },
  drives: { of: Sites.drives, parameters: 1 },
  drive: { of: Sites.drive, parameters: 1 }
}

/** What of a list is changed. */
export interface ListChanges {
  readonly displayName?: string | undefined
  readonly description?: string | undefined
}

/** Which fields of a list come. */
export interface SelectList extends Selection<Lists.SiteList> {}

/** Internal names of the columns to fetch; default: all of them. */
export interface SelectFields {
  readonly fields?: ReadonlyArray<string> | undefined
}

/** How the items of a list are read, with the type of a schema or without. */
export interface ReadItems {
  <S extends AnySchema>(
    site: string,
    list: string,
    items: Lists.ItemsOptions & Lists.WithSchema<S>,
    options?: CallOptions
  ): AsyncIterable<Lists.TypedItem<S>>
  (site: string, list: string, items?: Lists.ItemsOptions, options?: CallOptions): AsyncIterable<Lists.ListItem>
}

/** How an item of a list is read, with the type of a schema or without. */
export interface ReadItem {
  <S extends AnySchema>(
    site: string,
    list: string,
    id: string,
    select: SelectFields & Lists.WithSchema<S>,
    options?: CallOptions
  ): Promise<Lists.TypedItem<S>>
  (site: string, list: string, id: string, select?: SelectFields, options?: CallOptions): Promise<Lists.ListItem>
}

/** Lists of a site, their columns and their items. A list is named by its id or its display name. */
export interface ListsClient {
  /**
   * Makes a list; rejects with `NameAlreadyExists`.
   * @example await graph.lists.create(site, { displayName: "Invoices" })
   */
  readonly create: (site: string, data: Lists.NewList, options?: CallOptions) => Promise<Lists.SiteList>
  /**
   * A list; rejects with `NotFound`.
   * @example const { id } = await graph.lists.get(site, "Invoices")
   */
  readonly get: (site: string, list: string, select?: SelectList, options?: CallOptions) => Promise<Lists.SiteList>
  /** The lists of a site. */
  readonly stream: (site: string, options?: CallOptions) => AsyncIterable<Lists.SiteList>
  /**
   * Changes the name or the description of a list.
   * @example await graph.lists.update(site, list, { description: "all of 2026" })
   */
  readonly update: (site: string, list: string, changes: ListChanges, options?: CallOptions) => Promise<Lists.SiteList>
  /** Deletes a list with its items. */
  readonly remove: (site: string, list: string, options?: CallOptions) => Promise<void>
  /** The columns of a list. */
  readonly columns: (site: string, list: string, options?: CallOptions) => AsyncIterable<Lists.Column>
  /**
   * Adds a column.
   * @example await graph.lists.addColumn(site, list, { name: "Total", number: {} })
   */
  readonly addColumn: (
    site: string,
    list: string,
    column: Lists.NewColumn,
    options?: CallOptions
  ) => Promise<Lists.Column>
  /**
   * Changes a column, named by its id, and returns it.
   * @example await graph.lists.updateColumn(site, list, "0e2f...", { displayName: "Sum" })
   */
  readonly updateColumn: (
    site: string,
    list: string,
    column: string,
    changes: Lists.ColumnChanges,
    options?: CallOptions
  ) => Promise<Lists.Column>
  /** Deletes a column, named by its id, with the values that items have in it. */
  readonly removeColumn: (site: string, list: string, column: string, options?: CallOptions) => Promise<void>
  /** The names of the columns that can be written: internal ones, and those that people see. */
  readonly columnNames: (site: string, list: string, options?: CallOptions) => Promise<Lists.ColumnNames>
  /**
   * The items of a list with their fields, over all pages; typed by a `schema`, which they may not fit (`UnexpectedFields`).
   * @example
   * for await (const row of graph.lists.items(site, list, { fields: ["Total"] }))
   *   console.log(row.fields)
   */
  readonly items: ReadItems
  /**
   * An item with its fields; rejects with `NotFound`, and with `UnexpectedFields` when they do not fit a `schema`.
   * @example const { fields } = await graph.lists.item(site, list, id, { fields: ["Total"] })
   */
  readonly item: ReadItem
  /**
   * Makes an item; `fields` have internal names.
   * @example await graph.lists.createItem(site, list, { Title: "May", Total: 12.5 })
   */
  readonly createItem: <Row extends Lists.FieldsOf<Row>>(
    site: string,
    list: string,
    fields: Row,
    options?: CallOptions
  ) => Promise<Lists.ListItem>
  /**
   * Makes an item of each row, in requests of twenty; each has its result, in the order of the rows.
   * @example
   * const rows = [{ Title: "May" }, { Title: "June" }]
   * const results = await graph.lists.createItems(site, list, rows)
   */
  readonly createItems: <Row extends Lists.FieldsOf<Row>>(
    site: string,
    list: string,
    rows: Iterable<Row>,
    options?: CallOptions
  ) => Promise<ReadonlyArray<BatchResult<Lists.ListItem>>>
  /**
   * Changes some fields of an item and returns all of them.
   * @example await graph.lists.updateItem(site, list, id, { Total: 13 })
   */
  readonly updateItem: <Row extends Lists.FieldsOf<Row>>(
    site: string,
    list: string,
    id: string,
    fields: Row,
    match?: { readonly ifMatch?: string | undefined },
    options?: CallOptions
  ) => Promise<Lists.Fields>
  /** Deletes an item. */
  readonly removeItem: (site: string, list: string, id: string, options?: CallOptions) => Promise<void>
}

export const lists: Members<ListsClient> = {
  create: { of: Lists.create, parameters: 2 },
  get: { of: Lists.get, parameters: 3 },
  stream: { of: Lists.stream, parameters: 1 },
  update: { of: Lists.update, parameters: 3 },
  remove: { of: Lists.remove, parameters: 2 },
  columns: { of: Lists.columns, parameters: 2 },
  addColumn: { of: Lists.addColumn, parameters: 3 },
  updateColumn: { of: Lists.updateColumn, parameters: 4 },
  removeColumn: { of: Lists.removeColumn, parameters: 3 },
  columnNames: { of: Lists.columnNames, parameters: 2 },
  items: { of: Lists.items, parameters: 3 },
  item: { of: Lists.item, parameters: 4 },
  createItem: { of: Lists.createItem, parameters: 3 },
  createItems: { of: Lists.createItems, parameters: 3, present: presentAll },
  updateItem: { of: Lists.updateItem, parameters: 5 },
  removeItem: { of: Lists.removeItem, parameters: 3 }
}

/** Calls with names, that travel together. */
export type PartCalls = Readonly<Record<string, Batch.PartCall>>

/** Many calls in few requests. */
export interface BatchClient {
  /**
   * Sends named calls, twenty in one request, and returns what became of each.
   * @example
   * const { first } = await graph.batch.send({ first: { path: "/me/drive" } })
   * if (first.outcome === "done") console.log(first.value.body)
   */
  readonly send: <P extends PartCalls>(
    calls: P,
    options?: CallOptions
  ) => Promise<{ readonly [K in keyof P]: BatchResult<Batch.PartAnswer> }>
  /**
   * Sends a call for each row, twenty in one request, and returns what became of each, in the order of the rows.
   * @example
   * const results = await graph.batch.all(["u1", "u2"], (id) => ({
   *   path: path`/users/${id}`
   * }))
   */
  readonly all: <Row>(
    rows: Iterable<Row>,
    toCall: (row: Row, index: number) => Batch.PartCall,
    options?: CallOptions
  ) => Promise<ReadonlyArray<BatchResult<Batch.PartAnswer>>>
}

export const batch: Members<BatchClient> = {
  send: {
    of: (calls: PartCalls) =>
      Batch.send(Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, Batch.raw(call)]))),
    parameters: 1,
    present: presentNamed
  },
  all: {
    of: (rows: Iterable<unknown>, toCall: (row: unknown, index: number) => Batch.PartCall) =>
      Batch.all(rows, (row, index) => Batch.raw(toCall(row, index))),
    parameters: 2,
    present: presentAll
  }
}

/** Calls that no module has. */
export interface RawClient {
  /**
   * Sends a call; the answer comes as it is.
   * @example const { body } = await graph.raw.send({ path: "/me/drive" })
   */
  readonly send: (call: Raw.RawCall, options?: CallOptions) => Promise<Raw.RawAnswer>
  /**
   * The items of all pages of a list.
   * @example
   * for await (const group of graph.raw.stream({ path: "/groups" }))
   *   console.log(group)
   */
  readonly stream: (call: Raw.RawCall, options?: CallOptions) => AsyncIterable<unknown>
}

export const raw: Members<RawClient> = {
  send: { of: Raw.send, parameters: 1 },
  stream: { of: Raw.stream, parameters: 1 }
}
