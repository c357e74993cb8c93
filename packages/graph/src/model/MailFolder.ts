/**
 * Folders of a mailbox.
 */
import * as Schema from "effect/Schema"
import { maybe } from "./Common.ts"

const text = maybe(Schema.String)
const count = maybe(Schema.Finite)

/** Identifies a folder in its mailbox; it does not change when the folder is moved. */
export const MailFolderId = Schema.String.pipe(Schema.brand("MailFolderId"))
export type MailFolderId = typeof MailFolderId.Type

export class MailFolder extends Schema.Opaque<MailFolder>()(
  Schema.Struct({
    id: MailFolderId,
    displayName: text,
    parentFolderId: text,
    childFolderCount: count,
    totalItemCount: count,
    unreadItemCount: count,
    isHidden: maybe(Schema.Boolean)
  })
) {}
