/** Names and examples that are the same in every language. */
export const names = {
  asana: "Asana",
  curl: "curl",
  github: "GitHub",
  gitlab: "GitLab",
  graph: "Microsoft Graph",
  ntfy: "ntfy",
  product: "Signalbox",
  slack: "Slack",
  standardWebhooks: "Standard Webhooks",
  starttls: "STARTTLS",
  teams: "Microsoft Teams",
  tls: "TLS",
  typescript: "TypeScript",
  webhookId: "webhook-id",
  unix: "Linux, macOS",
  exampleMailServer: "smtp.example.com",
  exampleRepository: "https://github.com/owner/name.git",
  exampleUrl: "https://example.com/hook",
  installClient: "npm install @signalbox/api effect"
}
