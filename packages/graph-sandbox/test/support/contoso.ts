/**
 * What the tests start with.
 */
import type { Seed } from "../../src/Seed.ts"

export const contoso: Seed = {
  apps: [
    {
      clientId: "web-app",
      name: "Web app",
      secret: "s3cret",
      platform: "web",
      redirectUris: ["http://localhost/callback"]
    },
    { clientId: "cli", name: "Command", platform: "public", redirectUris: ["http://localhost"] },
    { clientId: "page", name: "Page", platform: "spa", redirectUris: ["http://localhost/page"] }
  ],
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      givenName: "Ann",
      surname: "Lee",
      mail: "ann@contoso.test",
      department: "Sales",
      manager: "joan@contoso.test",
      drive: {
        "Docs/a #1%.txt": "hello world",
        "Docs/O'Brien & co.txt": "a letter",
        "Docs/Deep/er/x.txt": "deep",
        "Empty/": "",
        Notes: { package: "oneNote" },
        "Plan of Joan.txt": { shared: { from: "joan@contoso.test", path: "Plans/Plan.txt" } }
      }
    },
    {
      userPrincipalName: "joan@contoso.test",
      displayName: "Joan OneVideo",
      mail: "joan@contoso.test",
      drive: { "Plans/Plan.txt": "the plan" }
    },
    { userPrincipalName: "bo@contoso.test", displayName: "Bo Jones", mail: null }
  ],
  groups: [{ displayName: "Team", id: "g1", members: ["ann@contoso.test", "bo@contoso.test"], site: "/sites/team" }],
  sites: [
    { path: "", displayName: "Home" },
    {
      path: "/sites/team",
      displayName: "Team",
      drives: { Documents: { "Report.txt": "42" }, Archive: { "Old.txt": "old" } },
      lists: [
        {
          displayName: "A/B #1",
          columns: [
            { name: "Page Count", number: {} },
            { name: "Code", indexed: true, text: {} }
          ],
          items: [
            { Title: "one", Page_x0020_Count: 3, Code: "x" },
            { Title: "two", Page_x0020_Count: 5, Code: "y" }
          ]
        }
      ]
    },
    { path: "/sites/team/sub", displayName: "Sub" }
  ]
}
