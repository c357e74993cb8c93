/**
 * A person of the organisation. Beyond the first ten, fields come only when they are selected.
 */
import * as Schema from "effect/Schema"
import { maybe, UserId } from "./Common.ts"

const text = maybe(Schema.String)
const texts = maybe(Schema.Array(Schema.String))
const some = Schema.optionalKey(Schema.Array(Schema.String))
const flag = maybe(Schema.Boolean)

export class AssignedLicense extends Schema.Opaque<AssignedLicense>()(
  Schema.Struct({ skuId: text, disabledPlans: some })
) {}

export class AssignedPlan extends Schema.Opaque<AssignedPlan>()(
  Schema.Struct({
    assignedDateTime: text,
    capabilityStatus: text,
    service: text,
    servicePlanId: text
  })
) {}

export class User extends Schema.Opaque<User>()(
  Schema.Struct({
    id: UserId,
    displayName: text,
    givenName: text,
    surname: text,
    mail: text,
    userPrincipalName: text,
    businessPhones: some,
    jobTitle: text,
    mobilePhone: text,
    officeLocation: text,
    preferredLanguage: text,
    /** Of members of groups and the like: `#microsoft.graph.user`. */
    "@odata.type": Schema.optionalKey(Schema.String),
    aboutMe: text,
    accountEnabled: flag,
    ageGroup: text,
    assignedLicenses: Schema.optionalKey(Schema.Array(AssignedLicense)),
    assignedPlans: Schema.optionalKey(Schema.Array(AssignedPlan)),
    birthday: Schema.optionalKey(Schema.String),
    city: text,
    companyName: text,
    country: text,
    createdDateTime: text,
    department: text,
    employeeId: text,
    faxNumber: text,
    hireDate: Schema.optionalKey(Schema.String),
    imAddresses: texts,
    interests: texts,
    isResourceAccount: flag,
    lastPasswordChangeDateTime: text,
    mailNickname: text,
    mySite: text,
    otherMails: some,
    passwordPolicies: text,
    pastProjects: texts,
    postalCode: text,
    preferredName: text,
    proxyAddresses: some,
    responsibilities: texts,
    schools: texts,
    showInAddressList: flag,
    skills: texts,
    state: text,
    streetAddress: text,
    usageLocation: text,
    userType: text
  })
) {}
