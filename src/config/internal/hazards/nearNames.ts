import { isOneEdit } from "../../../text/nearest.ts"

/** Scopes and packages that many people have, and that somebody could hope to be taken for. */
const known: ReadonlyArray<string> = [
  "@anthropic-ai",
  "@azure",
  "@browserbasehq",
  "@cloudflare",
  "@elastic",
  "@github",
  "@google",
  "@google-cloud",
  "@microsoft",
  "@modelcontextprotocol",
  "@mongodb-js",
  "@notionhq",
  "@openai",
  "@playwright",
  "@sentry",
  "@shopify",
  "@stripe",
  "@supabase",
  "@upstash",
  "@vercel",
  "chrome-devtools-mcp",
  "context7-mcp",
  "exa-mcp-server",
  "fastmcp",
  "figma-developer-mcp",
  "firecrawl-mcp",
  "mcp-proxy",
  "mcp-remote",
  "mcp-server-fetch",
  "mcp-server-git",
  "mcp-server-kubernetes",
  "mcp-server-sqlite",
  "mcp-server-time",
  "mongodb-mcp-server",
  "postgres-mcp",
  "puppeteer-mcp-server",
  "serena-agent",
  "supergateway",
  "tavily-mcp",
  "task-master-ai"
]

/** Of scopes that have many packages, those that people start. */
const scoped: ReadonlyArray<string> = [
  ...[
    "brave-search",
    "everart",
    "everything",
    "filesystem",
    "gdrive",
    "github",
    "gitlab",
    "google-maps",
    "memory",
    "postgres",
    "puppeteer",
    "redis",
    "sequential-thinking",
    "slack"
  ].map((name) => `@modelcontextprotocol/server-${name}`),
  "@browserbasehq/mcp",
  "@elastic/mcp-server-elasticsearch",
  "@notionhq/notion-mcp-server",
  "@playwright/mcp",
  "@sentry/mcp-server",
  "@supabase/mcp-server-supabase",
  "@upstash/context7-mcp"
]

const exactly = new Set([...known, ...scoped])

/**
 * The well-known name that a package's name, or its scope, is one slip of the finger away from.
 *
 * @internal
 */
export const nearName = (name: string): string | undefined => {
  const slash = name.startsWith("@") ? name.indexOf("/") : -1
  const part = slash === -1 ? name : name.slice(0, slash)
  // longer than any of them: not worth a look
  if (name.length > 128 || exactly.has(name.toLowerCase())) return undefined
  return exactly.has(part.toLowerCase())
    ? scoped.find((one) => isOneEdit(name, one))
    : known.find((one) => isOneEdit(part, one))
}
