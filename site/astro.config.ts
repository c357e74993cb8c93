import starlight from "@astrojs/starlight"
import { defineConfig } from "astro/config"
import { join } from "node:path"
import starlightLinksValidator from "starlight-links-validator"
import starlightOpenAPI, { openAPISidebarGroups } from "starlight-openapi"
import { finish, scrollable } from "./src/finish.ts"
import { root, sections, slugOf } from "./src/pages.ts"
import { document } from "./src/reference/contract.ts"

export default defineConfig({
  outDir: join(root, "site", "dist"),
  // It has a native part, which cannot be bundled.
  vite: { ssr: { external: ["satteri"] } },
  integrations: [
    // A map of the site needs its address, which is up to whoever serves it; in place of the one that Starlight adds.
    { name: "@astrojs/sitemap", hooks: {} },
    finish,
    starlight({
      disable404Route: true,
      title: "Signalbox",
      description: "Workflow-as-code for automation control rooms",
      customCss: ["./src/style.css"],
      favicon: "/images/favicon.svg",
      head: [{ tag: "script", content: scrollable }],
      expressiveCode: { minSyntaxHighlightingColorContrast: 7 },
      plugins: [
        starlightOpenAPI([{ base: "reference/http", schema: document, sidebar: { label: "HTTP" } }]),
        starlightLinksValidator()
      ],
      sidebar: sections.map(({ files, folders = {}, label, slugs = [] }) => ({
        label,
        collapsed: label === "Packages" || label === "Project",
        items: [
          ...files.map((file) => slugOf(file)),
          ...slugs,
          ...Object.entries(folders).map(([label, directory]) => ({
            label,
            collapsed: true,
            items: [{ autogenerate: { directory } }]
          })),
          ...(label === "Reference" ? openAPISidebarGroups : [])
        ]
      }))
    })
  ]
})
