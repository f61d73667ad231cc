/** Well-known scopes and packages, whose names others may imitate. */
export const names = `
  @anthropic-ai @azure @browserbasehq @cloudflare @elastic @github @google @google-cloud @microsoft
  @modelcontextprotocol @mongodb-js @notionhq @openai @playwright @sentry @shopify @stripe @supabase @upstash @vercel
  chrome-devtools-mcp context7-mcp exa-mcp-server fastmcp figma-developer-mcp firecrawl-mcp mcp-proxy mcp-remote
  mcp-server-fetch mcp-server-git mcp-server-kubernetes mcp-server-sqlite mcp-server-time mongodb-mcp-server
  postgres-mcp puppeteer-mcp-server serena-agent supergateway tavily-mcp task-master-ai`

/** Well-known packages of scopes that have many. */
export const inScopes = `
  @browserbasehq/mcp @elastic/mcp-server-elasticsearch @modelcontextprotocol/server-brave-search
  @modelcontextprotocol/server-everart @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
  @modelcontextprotocol/server-gdrive @modelcontextprotocol/server-github @modelcontextprotocol/server-gitlab
  @modelcontextprotocol/server-google-maps @modelcontextprotocol/server-memory @modelcontextprotocol/server-postgres
  @modelcontextprotocol/server-puppeteer @modelcontextprotocol/server-redis
  @modelcontextprotocol/server-sequential-thinking @modelcontextprotocol/server-slack @notionhq/notion-mcp-server
  @playwright/mcp @sentry/mcp-server @supabase/mcp-server-supabase @upstash/context7-mcp`
