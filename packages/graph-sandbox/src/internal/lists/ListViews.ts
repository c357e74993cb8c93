/**
 * Lists and their items as the wire shows them.
 */
import { type GraphRequest, time } from "../requests/GraphRequest.ts"
import * as Ids from "../model/Ids.ts"
import type { Item, List, ListItem, Properties, Site } from "../model/Model.ts"
import * as Views from "../drive/Views.ts"

const tag = (list: List) => `"${list.id},${list.version}"`

const webUrl = (site: Site, list: List) =>
  list.library?.webUrl ?? `https://${site.host}${site.path}/Lists/${encodeURIComponent(list.name)}`

export const list =
  (site: Site) =>
  (list: List): Properties => ({
    "@odata.etag": tag(list),
    id: list.id,
    name: list.name,
    displayName: list.displayName,
    description: list.description,
    eTag: tag(list),
    webUrl: webUrl(site, list),
    createdDateTime: time(list.createdAt),
    lastModifiedDateTime: time(list.modifiedAt),
    createdBy: { user: list.createdBy },
    parentReference: { siteId: site.id },
    list: { contentTypesEnabled: list.library !== null, hidden: false, template: list.template }
  })

export const itemTag = (list: List, item: ListItem) =>
  item.file === null ? `"${Ids.uuid(`${list.id} ${item.id}`)},${item.version}"` : Views.eTag(item.file)

const contentTypeOf = ({ file }: ListItem) => {
  if (file === null) return { id: "0x0100AA", name: "Item" }
  return file.kind === "folder" ? { id: "0x0120", name: "Folder" } : { id: "0x0101", name: "Document" }
}

/** What the library says of a file by itself. */
const fileFields = (file: Item): Properties => {
  const below = [...file.children.values()]
  const folders = below.filter(({ kind }) => kind === "folder").length
  return {
    FileLeafRef: file.name,
    LinkFilename: file.name,
    LinkFilenameNoMenu: file.name,
    DocIcon: file.kind === "folder" ? undefined : file.name.split(".").at(-1),
    FileSizeDisplay: file.kind === "folder" ? undefined : String(file.size),
    ItemChildCount: String(below.length - folders),
    FolderChildCount: String(folders)
  }
}

/** The fields as stored, and those that every item has. Columns that are blank are left out. */
export const fields = (list: List, item: ListItem): Properties => {
  const title = item.fields["Title"]
  return {
    "@odata.etag": itemTag(list, item),
    ...Object.fromEntries(Object.entries(item.fields).filter(([, value]) => value !== null && value !== "")),
    id: item.id,
    ContentType: contentTypeOf(item).name,
    Modified: time(item.modifiedAt),
    Created: time(item.createdAt),
    AuthorLookupId: "6",
    EditorLookupId: "6",
    _UIVersionString: `${item.version}.0`,
    Attachments: false,
    Edit: "",
    LinkTitleNoMenu: title,
    LinkTitle: title,
    ItemChildCount: "0",
    FolderChildCount: "0",
    ...(item.file === null ? {} : fileFields(item.file))
  }
}

export const item =
  (site: Site, list: List) =>
  (item: ListItem): Properties => ({
    "@odata.etag": itemTag(list, item),
    id: item.id,
    createdDateTime: time(item.createdAt),
    eTag: itemTag(list, item),
    lastModifiedDateTime: time(item.modifiedAt),
    webUrl: item.file === null ? `${webUrl(site, list)}/${item.id}_.000` : Views.webUrl(item.file),
    createdBy: { user: item.createdBy },
    lastModifiedBy: { user: item.modifiedBy },
    parentReference: { id: list.id, siteId: site.id },
    contentType: contentTypeOf(item)
  })

/** What `$expand` says of fields: nothing, all of them, or some. */
export const expansion = (request: GraphRequest): ReadonlyArray<string> | "all" | null => {
  const match = /(?:^|,)fields(?:\(\$?select=([^)]*)\))?/i.exec(request.options.get("expand") ?? "")
  if (match === null) return null
  return match[1] === undefined ? "all" : match[1].split(",").map((name) => name.trim())
}

export const pick = (fields: Properties, names: ReadonlyArray<string> | "all") =>
  names === "all"
    ? fields
    : Object.fromEntries(Object.entries(fields).filter(([name]) => name === "@odata.etag" || names.includes(name)))

/** An item with the fields that the query asks for. */
export const expanded = (site: Site, list: List, request: GraphRequest) => {
  const names = expansion(request)
  const show = item(site, list)
  return (item: ListItem): Properties => ({
    ...show(item),
    "fields@odata.context":
      names === null ? undefined : `${request.base}/$metadata#lists('${list.id}')/items/fields/$entity`,
    fields: names === null ? undefined : pick(fields(list, item), names)
  })
}

/** An item with all of its fields. */
export const whole = (site: Site, list: List) => {
  const show = item(site, list)
  return (item: ListItem): Properties => ({ ...show(item), fields: fields(list, item) })
}
