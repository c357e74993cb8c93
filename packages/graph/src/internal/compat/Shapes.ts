/**
 * What the compatibility module returns: the names that programs of this field know. Times are instants.
 */
import type { Identity, IdentitySet } from "../../model/Common.ts"
import type { Drive, DriveItem } from "../../model/Drive.ts"
import type { Column, ListItem, SiteList } from "../../model/List.ts"
import type { Site } from "../../model/Site.ts"
import type { User } from "../../model/User.ts"

const time = (text: string | null | undefined): Date | null =>
  text === undefined || text === null ? null : new Date(text)

const identity = (value: Identity | null | undefined) =>
  value === undefined || value === null
    ? null
    : { object_id: value.id ?? null, display_name: value.displayName ?? "", email: value.email ?? null }

/** A person; a group or an app when no person did it. */
const actor = (set: IdentitySet | null | undefined) => identity(set?.user ?? set?.group ?? set?.application)

/** The service has no empty date: it says the first day of all. */
const moment = (text: string | null | undefined): Date | null => {
  const at = time(text)
  return at === null || at.getUTCFullYear() <= 1 ? null : at
}

/** The fields that have a value. */
const trimmed = <Fields extends object>(fields: Fields) =>
  // What is left is a part of what was there.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as {
    readonly [Name in keyof Fields]?: NonNullable<Fields[Name]>
  }

export const toUser = (user: User) => ({
  object_id: user.id,
  type: user["@odata.type"] ?? null,
  user_principal_name: user.userPrincipalName ?? null,
  display_name: user.displayName ?? "",
  given_name: user.givenName ?? "",
  surname: user.surname ?? "",
  full_name: `${user.givenName ?? ""} ${user.surname ?? ""}`.trim(),
  mail: user.mail ?? null,
  business_phones: user.businessPhones ?? [],
  job_title: user.jobTitle ?? null,
  mobile_phone: user.mobilePhone ?? null,
  office_location: user.officeLocation ?? null,
  preferred_language: user.preferredLanguage ?? null,
  // The service returns these only when they are selected; those that were not are left out, and not empty.
  ...trimmed({
    about_me: user.aboutMe,
    account_enabled: user.accountEnabled,
    age_group: user.ageGroup,
    assigned_licenses: user.assignedLicenses,
    assigned_plans: user.assignedPlans,
    birthday: moment(user.birthday),
    city: user.city,
    company_name: user.companyName,
    country: user.country,
    created: moment(user.createdDateTime),
    department: user.department,
    employee_id: user.employeeId,
    fax_number: user.faxNumber,
    hire_date: moment(user.hireDate),
    im_addresses: user.imAddresses,
    interests: user.interests,
    is_resource_account: user.isResourceAccount,
    last_password_change: moment(user.lastPasswordChangeDateTime),
    mail_nickname: user.mailNickname,
    my_site: user.mySite,
    other_mails: user.otherMails,
    password_policies: user.passwordPolicies,
    past_projects: user.pastProjects,
    postal_code: user.postalCode,
    preferred_name: user.preferredName,
    proxy_addresses: user.proxyAddresses,
    responsibilities: user.responsibilities,
    schools: user.schools,
    show_in_address_list: user.showInAddressList,
    skills: user.skills,
    state: user.state,
    street_address: user.streetAddress,
    usage_location: user.usageLocation,
    user_type: user.userType
  })
})
export interface CompatUser extends Readonly<ReturnType<typeof toUser>> {}

export const toDrive = (drive: Drive) => ({
  object_id: drive.id,
  name: drive.name ?? "Default Drive",
  description: drive.description ?? "",
  drive_type: drive.driveType ?? null,
  web_url: drive.webUrl ?? null,
  owner: actor(drive.owner),
  quota: drive.quota ?? null,
  created: time(drive.createdDateTime),
  modified: time(drive.lastModifiedDateTime)
})
export interface CompatDrive extends Readonly<ReturnType<typeof toDrive>> {}

const has = (facet: unknown): boolean => facet !== undefined && facet !== null

const extensionOf = (name: string): string => /(?<=.)\.[^.]+$/.exec(name)?.[0] ?? ""

export const toDriveItem = (item: DriveItem) => {
  const { remoteItem: remote } = item
  const { file, folder, size, specialFolder } = { ...remote, ...item }
  const { image, photo } = item
  const is_folder = has(folder)
  return {
    object_id: item.id,
    name: item.name ?? "",
    description: item.description ?? "",
    web_url: item.webUrl ?? null,
    created_by: actor(item.createdBy),
    modified_by: actor(item.lastModifiedBy),
    created: time(item.createdDateTime),
    modified: time(item.lastModifiedDateTime),
    size: size ?? 0,
    shared: item.shared?.scope ?? null,
    parent_id: item.parentReference?.id ?? null,
    parent_path: item.parentReference?.path ?? null,
    drive_id: item.parentReference?.driveId ?? null,
    /** Where a shortcut leads to. */
    remote_item: has(remote?.id)
      ? { object_id: remote?.id ?? null, drive_id: remote?.parentReference?.driveId ?? null }
      : null,
    is_folder,
    /** An item without any facet counts as a file. */
    is_file: !is_folder,
    is_image: !is_folder && has(image),
    is_photo: !is_folder && has(photo),
    mime_type: file?.mimeType ?? null,
    extension: is_folder ? "" : extensionOf(item.name ?? ""),
    child_count: folder?.childCount ?? 0,
    special_folder: specialFolder?.name ?? null,
    width: image?.width ?? null,
    height: image?.height ?? null,
    dimensions: has(image) ? `${image?.width ?? 0}x${image?.height ?? 0}` : null,
    taken_datetime: time(photo?.takenDateTime),
    camera_make: photo?.cameraMake ?? null,
    camera_model: photo?.cameraModel ?? null,
    exposure_denominator: photo?.exposureDenominator ?? null,
    exposure_numerator: photo?.exposureNumerator ?? null,
    fnumber: photo?.fNumber ?? null,
    focal_length: photo?.focalLength ?? null,
    iso: photo?.iso ?? null
  }
}
export interface CompatDriveItem extends Readonly<ReturnType<typeof toDriveItem>> {}

export const toSite = (site: Site) => ({
  object_id: site.id,
  root: has(site.root),
  name: site.name ?? site.displayName ?? "",
  display_name: site.displayName ?? "",
  description: site.description ?? "",
  web_url: site.webUrl ?? null,
  created: time(site.createdDateTime),
  modified: time(site.lastModifiedDateTime)
})
export interface CompatSite extends Readonly<ReturnType<typeof toSite>> {}

export const toList = (list: SiteList, columns: ReadonlyArray<Column>) => ({
  object_id: list.id,
  name: list.name ?? "",
  display_name: list.displayName ?? "",
  description: list.description ?? "",
  web_url: list.webUrl ?? null,
  created: time(list.createdDateTime),
  modified: time(list.lastModifiedDateTime),
  created_by: actor(list.createdBy),
  modified_by: actor(list.lastModifiedBy),
  content_types_enabled: list.list?.contentTypesEnabled ?? null,
  hidden: list.list?.hidden ?? null,
  template: list.list?.template ?? null,
  /** From display names to internal ones, of the columns that can be written. */
  column_name_cw: Object.fromEntries(
    columns
      .filter(({ readOnly }) => readOnly !== true)
      .map(({ displayName, name }) => [displayName ?? name ?? "", name ?? ""])
  )
})
export interface CompatList extends Readonly<ReturnType<typeof toList>> {}

/** A row of a list: its id, and its fields by their internal names. A column without a value is null. */
export type CompatRow = Readonly<Record<string, unknown>> & { readonly object_id: string }

/** Rows that all have the same columns. */
export const toRows = (items: ReadonlyArray<ListItem>): ReadonlyArray<CompatRow> => {
  const names = [...new Set(items.flatMap(({ fields }) => Object.keys(fields ?? {})))]
  const blank = Object.fromEntries(names.map((name) => [name, null]))
  return items.map(({ fields, id }) => ({ ...blank, ...fields, object_id: id }))
}
