/**
 * The scopes that the sandbox has a use for: what `.default` stands for, and what an app has that names no roles.
 */
export const supportedScopes: ReadonlyArray<string> = [
  "User.Read",
  "User.ReadBasic.All",
  "User.Read.All",
  "GroupMember.Read.All",
  "Files.ReadWrite.All",
  "Mail.ReadWrite",
  "Mail.ReadWrite.Shared",
  "Mail.Send",
  "Mail.Send.Shared",
  "Sites.ReadWrite.All",
  "Sites.Manage.All"
]
