/**
 * PnPjs, with the types that its own declarations lose where modules are resolved as Node does it.
 */
/* oxlint-disable import/no-unassigned-import -- each adds its part to PnPjs by being loaded */
import "@pnp/graph/batching.js"
import type { IDrive, IDrives } from "@pnp/graph/files/index.js"
import "@pnp/graph/files/index.js"
import type { IGroups } from "@pnp/graph/groups/index.js"
import "@pnp/graph/groups/index.js"
import type { IListItems } from "@pnp/graph/list-item/index.js"
import "@pnp/graph/list-item/index.js"
import type { ILists } from "@pnp/graph/lists/index.js"
import "@pnp/graph/lists/index.js"
import "@pnp/graph/attachments/index.js"
import type { IMailFolders, IMessages } from "@pnp/graph/mail/index.js"
import "@pnp/graph/mail/index.js"
import type { IMembers } from "@pnp/graph/members/index.js"
import "@pnp/graph/members/index.js"
import type { IPermissions, IPermissionsInviteInfo } from "@pnp/graph/permissions/index.js"
import "@pnp/graph/permissions/index.js"
import type { IShares } from "@pnp/graph/shares/index.js"
import "@pnp/graph/shares/index.js"
import type { ISites } from "@pnp/graph/sites/index.js"
import "@pnp/graph/sites/index.js"
import type { ISubscriptions } from "@pnp/graph/subscriptions/index.js"
import "@pnp/graph/subscriptions/index.js"
import type { IUser, IUsers } from "@pnp/graph/users/index.js"
import "@pnp/graph/users/index.js"
import type { IWorkbook, IWorkbookWithSession } from "@pnp/graph/workbooks/types.js"
import "@pnp/graph/workbooks/index.js"

/** A permission of one who was invited, or why there is none. */
export interface Invited {
  readonly error?: object
  readonly invitation?: { readonly email: string }
}

declare module "@pnp/graph/fi.js" {
  interface GraphFI {
    readonly drives: IDrives
    readonly groups: IGroups
    readonly me: IUser
    readonly shares: IShares
    readonly sites: ISites
    readonly subscriptions: ISubscriptions
    readonly users: IUsers
    batched(): [GraphFI, () => Promise<void>]
  }
}

declare module "@pnp/graph/files/types.js" {
  interface _DriveItem {
    readonly permissions: IPermissions
    readonly workbook: IWorkbook
    getWorkbookSession(persistChanges: boolean): Promise<IWorkbookWithSession>
    addPermissions(info: IPermissionsInviteInfo): Promise<ReadonlyArray<Invited>>
    createSharingLink(info: {
      readonly type: string
      readonly expirationDateTime?: string
    }): Promise<{ readonly link: { readonly webUrl: string } }>
  }
}

declare module "@pnp/graph/users/types.js" {
  interface _User {
    readonly drive: IDrive
    readonly mailFolders: IMailFolders
    readonly messages: IMessages
    sendMail(message: object, saveToSentItems?: boolean): Promise<void>
  }
}

interface Attachments {
  (): Promise<ReadonlyArray<{ readonly name?: string | null }>>
  addFile(attachment: object, bytes: string): Promise<unknown>
}

declare module "@pnp/graph/mail/messages.js" {
  interface _Message {
    readonly attachments: Attachments
  }
}

declare module "@pnp/graph/groups/types.js" {
  interface _Group {
    readonly members: IMembers
  }
}

declare module "@pnp/graph/sites/types.js" {
  interface _Site {
    readonly drives: IDrives
    readonly lists: ILists
  }
}

declare module "@pnp/graph/lists/types.js" {
  interface _List {
    readonly items: IListItems
  }
}

interface Named {
  readonly name: string
}

/** What its delta returns, and its declarations do not tell. */
export interface Delta {
  readonly values: ReadonlyArray<Named>
  /** The next page; `null` where there is none. */
  readonly next: () => (() => Promise<ReadonlyArray<Named>>) | null
  /** The next round; `null` where there is another page before. */
  readonly delta: () => Promise<object> | null
}

export const deltaOf = (returned: object): Delta => ({
  values: Reflect.get(returned, "values"),
  next: Reflect.get(returned, "next"),
  delta: Reflect.get(returned, "delta")
})

export { graphfi, type GraphFI } from "@pnp/graph"
