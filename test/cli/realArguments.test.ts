/**
 * What people type for tools of published servers, whose schemas are in `schemas.json`: each line by hand with what it has
 * to become, in all the ways in which an argument can be given.
 */
import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import * as Arguments from "../../src/cli/toolArguments.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

const schemas = new Map(Object.entries(
  JSON.parse(readFileSync(new URL("schemas.json", import.meta.url), "utf8")) as Record<string, JsonRpc.JsonObject>
))

/** The files that the lines name. */
const files: Readonly<Record<string, string>> = {
  "chart.mmd": "graph TD\n  A-->B\n",
  "q.sql": "select 1",
  "main.py": "print('@')\n",
  "mail.txt": "Dear all,\n\nsee you.\n",
  "org.json": "{\"name\":\"Ann\",\"children\":[{\"name\":\"Bob\"}]}",
  "columns.json": "[{\"name\":\"id\",\"type\":\"INTEGER\",\"primaryKey\":true},{\"name\":\"at\",\"type\":\"TEXT\"}]",
  "query.json": "{\"query\":{\"match_all\":{}},\"size\":5}",
  "actions.json": "[{\"type\":\"message\",\"label\":\"Hi\",\"text\":\"hello\"}]",
  "page.html": "<p class=\"a\">1 = 1</p>"
}

/** As `call` reads it: files are put in before the schema is asked, and `--args` is what the rest is put over. */
const build = (tool: string, words: ReadonlyArray<string>) =>
  Either.gen(function*() {
    const given = words.find((word) => word.startsWith("--args="))
    const base = given === undefined ? undefined : yield* Arguments.object(given.slice("--args=".length), "--args")
    const read = yield* Either.all(words.filter((word) => word !== given).map(Arguments.read))
    const assignments = read.map((one) => one.isFile ? { ...one, value: files[one.value]! } : one)
    return yield* Arguments.build(schemas.get(tool)!, assignments, base)
  })

const typed: ReadonlyArray<readonly [tool: string, words: ReadonlyArray<string>, args: JsonRpc.JsonObject]> = [
  [
    "antv_mcp-server-chart/generate_organization_chart",
    ["data:=@org.json", "orient=horizontal", "style.texture=rough", "width=640"],
    {
      data: { name: "Ann", children: [{ name: "Bob" }] },
      orient: "horizontal",
      style: { texture: "rough" },
      width: 640
    }
  ],
  [
    "antv_mcp-server-chart/generate_district_map",
    ["title=2024", "data.name=Oslo", "data.colors=#fff", "data.colors=#000", "data.showAllSubdistricts=true"],
    { title: "2024", data: { name: "Oslo", colors: ["#fff", "#000"], showAllSubdistricts: true } }
  ],
  [
    "brave_brave-search-mcp-server/brave_llm_context",
    ["query=a=b", "country=NO", "count=5", "spellcheck=false", "goggles=one"],
    { query: "a=b", country: "NO", count: 5, spellcheck: false, goggles: "one" }
  ],
  [
    "brave_brave-search-mcp-server/brave_web_search",
    ["query=42", "freshness=pw", "result_filter=news", "result_filter=faq", "units=metric", "offset=0"],
    { query: "42", freshness: "pw", result_filter: ["news", "faq"], units: "metric", offset: 0 }
  ],
  [
    "browsermcp_mcp/browser_type",
    ["element=Search box", "ref=e12", "text=true", "submit=true"],
    { element: "Search box", ref: "e12", text: "true", submit: true }
  ],
  [
    "browsermcp_mcp/browser_select_option",
    ["element=Size", "ref=7", "values=3"],
    { element: "Size", ref: "7", values: ["3"] }
  ],
  [
    "bytebase_dbhub/search_objects",
    ["object_type=table", "pattern=user%", "detail_level=full", "limit=10"],
    { object_type: "table", pattern: "user%", detail_level: "full", limit: 10 }
  ],
  ["bytebase_dbhub/execute_sql", ["sql=@q.sql"], { sql: "select 1" }],
  [
    "circleci_mcp-server-circleci/run_pipeline",
    ["params.projectSlug=gh/a/b", "params.branch=main"],
    { params: { projectSlug: "gh/a/b", branch: "main" } }
  ],
  [
    "circleci_mcp-server-circleci/run_rollback_pipeline",
    [
      "--args={\"params\":{\"environmentName\":\"prod\",\"componentName\":\"api\",\"namespace\":\"x\"}}",
      "params.currentVersion=1.10",
      "params.targetVersion=1.9",
      "params.parameters.force:=true"
    ],
    {
      params: {
        environmentName: "prod",
        componentName: "api",
        namespace: "x",
        currentVersion: "1.10",
        targetVersion: "1.9",
        parameters: { force: true }
      }
    }
  ],
  [
    "cyanheads_git-mcp-server/git_branch",
    ["mode=create", "branchName=7", "force=true", "limit=3"],
    { mode: "create", branchName: "7", force: true, limit: 3 }
  ],
  [
    "cyanheads_git-mcp-server/git_push",
    ["remote=origin", "branch=@@main", "dryRun=true", "tags=false"],
    { remote: "origin", branch: "@main", dryRun: true, tags: false }
  ],
  [
    "dynatrace-oss_dynatrace-mcp-server/send_email",
    ["toRecipients=a@bee.org", "toRecipients=d@bee.org", "subject=Hello: you", "body=@mail.txt"],
    { toRecipients: ["a@bee.org", "d@bee.org"], subject: "Hello: you", body: "Dear all,\n\nsee you.\n" }
  ],
  [
    "dynatrace-oss_dynatrace-mcp-server/get_kubernetes_events",
    ["timeframe=12h", "eventType=CUSTOM_INFO", "maxEventsToDisplay=1.5e1"],
    { timeframe: "12h", eventType: "CUSTOM_INFO", maxEventsToDisplay: 15 }
  ],
  [
    "elastic_mcp-server-elasticsearch/search",
    ["index=logs-*", "queryBody:=@query.json", "profile=false"],
    { index: "logs-*", queryBody: { query: { match_all: {} }, size: 5 }, profile: false }
  ],
  ["elastic_mcp-server-elasticsearch/list_indices", ["indexPattern=*"], { indexPattern: "*" }],
  ["eslint_mcp/lint-files", ["filePaths=a.ts", "filePaths=b c.ts"], { filePaths: ["a.ts", "b c.ts"] }],
  [
    "fetch-mcp/fetch_url",
    ["url=https://a.b/?x=1&y:=2", "raw=null", "max_length=1000"],
    { url: "https://a.b/?x=1&y:=2", raw: null, max_length: 1000 }
  ],
  ["fetch-mcp/fetch_youtube_transcript", ["url=https://y.t/w?v=1"], { url: "https://y.t/w?v=1" }],
  [
    "firecrawl-mcp/firecrawl_agent",
    ["prompt=find it", "urls:=[\"https://a.b\"]", "effort=low", "maxCredits=7", "exchange.onTermsRequired=ask"],
    {
      prompt: "find it",
      urls: ["https://a.b"],
      effort: "low",
      maxCredits: 7,
      exchange: { onTermsRequired: "ask" }
    }
  ],
  [
    "firecrawl-mcp/firecrawl_parse",
    [
      "filePath=a.pdf",
      "formats=markdown",
      "formats=links",
      "parsers=pdf",
      "pdfOptions.maxPages=3",
      "onlyMainContent=true"
    ],
    {
      filePath: "a.pdf",
      formats: ["markdown", "links"],
      parsers: ["pdf"],
      pdfOptions: { maxPages: 3 },
      onlyMainContent: true
    }
  ],
  [
    "hubspot_mcp-server/hubspot-search-objects",
    ["objectType=contacts", "limit=5", "sorts.0.propertyName=name", "sorts.0.direction=ASCENDING"],
    { objectType: "contacts", limit: 5, sorts: [{ propertyName: "name", direction: "ASCENDING" }] }
  ],
  [
    "hubspot_mcp-server/hubspot-create-property",
    [
      "objectType=deals",
      "name=size",
      "label=Size",
      "groupName=dealinformation",
      "type=string",
      "options.0.label=S",
      "options.0.value=1",
      "options.0.displayOrder=-1",
      "options.1.label=L",
      "options.1.value=2"
    ],
    {
      objectType: "deals",
      name: "size",
      label: "Size",
      groupName: "dealinformation",
      type: "string",
      options: [{ label: "S", value: "1", displayOrder: -1 }, { label: "L", value: "2" }]
    }
  ],
  [
    "larksuiteoapi_lark-mcp/bitable_v1_appTable_create",
    ["path.app_token=app1", "data.table.name=Tasks", "useUAT=true"],
    { path: { app_token: "app1" }, data: { table: { name: "Tasks" } }, useUAT: true }
  ],
  [
    "larksuiteoapi_lark-mcp/im_v1_chat_create",
    ["data.name=Room", "data.user_id_list=u1", "data.user_id_list=u2", "data.i18n_names.en_us=Room"],
    { data: { name: "Room", user_id_list: ["u1", "u2"], i18n_names: { en_us: "Room" } } }
  ],
  [
    "line_line-bot-mcp-server/create_rich_menu",
    ["chatBarText=Menu", "actions:=@actions.json"],
    { chatBarText: "Menu", actions: [{ type: "message", label: "Hi", text: "hello" }] }
  ],
  ["line_line-bot-mcp-server/push_text_message", ["message.text=5"], { message: { text: "5" } }],
  [
    "mcp-mermaid/generate_mermaid_diagram",
    ["mermaid=@chart.mmd", "theme=dark", "outputType=svg"],
    { mermaid: "graph TD\n  A-->B\n", theme: "dark", outputType: "svg" }
  ],
  [
    "mcp-server-code-runner/run-code",
    ["code=@main.py", "languageId=python"],
    { code: "print('@')\n", languageId: "python" }
  ],
  ["mcp-server-fetch-typescript/get_raw_text", ["url=http://a.b/c"], { url: "http://a.b/c" }],
  [
    "mcp-server-sqlite/create-table",
    ["name=events", "columns:=@columns.json", "ifNotExists=true"],
    {
      name: "events",
      columns: [{ name: "id", type: "INTEGER", primaryKey: true }, { name: "at", type: "TEXT" }],
      ifNotExists: true
    }
  ],
  [
    "mcp-server-sqlite/update-record",
    ["table=events", "data.done:=true", "data.note=true", "where=id = 1"],
    { table: "events", data: { done: true, note: "true" }, where: "id = 1" }
  ],
  [
    "microsoft_clarity-mcp-server/query-analytics-dashboard",
    ["query=sessions last 3 days"],
    { query: "sessions last 3 days" }
  ],
  [
    "modelcontextprotocol_server-aws-kb-retrieval/retrieve_from_aws_kb",
    ["query=x", "knowledgeBaseId=0123", "n=3"],
    { query: "x", knowledgeBaseId: "0123", n: 3 }
  ],
  [
    "modelcontextprotocol_server-brave-search/brave_local_search",
    ["--args={\"query\":\"pizza\",\"count\":1}", "count=5"],
    { query: "pizza", count: 5 }
  ],
  [
    "modelcontextprotocol_server-everything/get-annotated-message",
    ["messageType=debug", "includeImage=true"],
    { messageType: "debug", includeImage: true }
  ],
  [
    "modelcontextprotocol_server-everything/gzip-file-as-resource",
    ["name=a.gz", "data=@page.html", "outputType=resource"],
    { name: "a.gz", data: "<p class=\"a\">1 = 1</p>", outputType: "resource" }
  ],
  [
    "modelcontextprotocol_server-github/create_pull_request_review",
    [
      "owner=o",
      "repo=r",
      "pull_number=7",
      "body=fine",
      "event=COMMENT",
      "comments:=[{\"path\":\"a.ts\",\"line\":3,\"body\":\"?\"}]"
    ],
    {
      owner: "o",
      repo: "r",
      pull_number: 7,
      body: "fine",
      event: "COMMENT",
      comments: [{ path: "a.ts", line: 3, body: "?" }]
    }
  ],
  [
    "modelcontextprotocol_server-github/list_issues",
    ["owner=effect-ts", "repo=effect", "state=open", "labels=bug", "labels=7", "per_page=5"],
    { owner: "effect-ts", repo: "effect", state: "open", labels: ["bug", "7"], per_page: 5 }
  ],
  [
    "modelcontextprotocol_server-google-maps/maps_distance_matrix",
    ["origins=Oslo", "destinations=Bergen", "destinations=Tromsø", "mode=transit"],
    { origins: ["Oslo"], destinations: ["Bergen", "Tromsø"], mode: "transit" }
  ],
  [
    "modelcontextprotocol_server-google-maps/maps_elevation",
    ["locations.0.latitude=59.9", "locations.0.longitude=-.5"],
    { locations: [{ latitude: 59.9, longitude: -0.5 }] }
  ],
  ["modelcontextprotocol_server-postgres/query", ["--args={\"sql\":\"select 2\"}"], { sql: "select 2" }],
  [
    "modelcontextprotocol_server-puppeteer/puppeteer_screenshot",
    ["name=1", "width=800", "encoded=false"],
    { name: "1", width: 800, encoded: false }
  ],
  [
    "modelcontextprotocol_server-puppeteer/puppeteer_navigate",
    ["url=http://a", "launchOptions:={\"headless\":true}", "allowDangerous=false"],
    { url: "http://a", launchOptions: { headless: true }, allowDangerous: false }
  ],
  [
    "mongodb-mcp-server/export",
    [
      "connectionId=c",
      "database=d",
      "collection=e",
      "exportTitle=t",
      "exportTarget:=[{\"name\":\"find\",\"arguments\":{}}]",
      "jsonExportFormat=relaxed"
    ],
    {
      connectionId: "c",
      database: "d",
      collection: "e",
      exportTitle: "t",
      exportTarget: [{ name: "find", arguments: {} }],
      jsonExportFormat: "relaxed"
    }
  ],
  [
    "notionhq_notion-mcp-server/API-update-a-block",
    ["block_id=b1", "archived=true"],
    { block_id: "b1", archived: true }
  ],
  [
    "perplexity-ai_mcp-server/perplexity_ask",
    ["messages.0.role=user", "messages.0.content=42", "search_context_size=low", "search_domain_filter=a.b"],
    { messages: [{ role: "user", content: "42" }], search_context_size: "low", search_domain_filter: ["a.b"] }
  ],
  [
    "playwright_mcp/browser_emulate_media",
    ["colorScheme=dark", "media=null", "contrast=no-preference"],
    { colorScheme: "dark", media: null, contrast: "no-preference" }
  ],
  [
    "playwright_mcp/browser_fill_form",
    [
      "fields.0.target=e1",
      "fields.0.name=Age",
      "fields.0.type=textbox",
      "fields.0.value=42",
      "fields.1.target=e2",
      "fields.1.name=Agree",
      "fields.1.type=checkbox",
      "fields.1.value=true"
    ],
    {
      fields: [
        { target: "e1", name: "Age", type: "textbox", value: "42" },
        { target: "e2", name: "Agree", type: "checkbox", value: "true" }
      ]
    }
  ],
  [
    "sentry_mcp-server/search_events",
    ["organizationSlug=acme", "dataset=errors", "fields=title", "fields=count()", "projectSlug:=null", "limit=10"],
    { organizationSlug: "acme", dataset: "errors", fields: ["title", "count()"], projectSlug: null, limit: 10 }
  ],
  [
    "sentry_mcp-server/update_issue",
    ["issueId=PROJ-1", "status=ignored", "ignoreMode=forDuration", "ignoreDurationMinutes=90"],
    { issueId: "PROJ-1", status: "ignored", ignoreMode: "forDuration", ignoreDurationMinutes: 90 }
  ],
  [
    "shadcn/search_items_in_registries",
    ["registries=@@shadcn", "query=button", "limit=5"],
    { registries: ["@shadcn"], query: "button", limit: 5 }
  ],
  [
    "shopify_dev-mcp/validate",
    ["conversationId=1", "api=admin", "code.0.content=@page.html", "code.0.revision=2", "code.0.language=html"],
    {
      conversationId: "1",
      api: "admin",
      code: [{ content: "<p class=\"a\">1 = 1</p>", revision: 2, language: "html" }]
    }
  ],
  [
    "upstash_context7-mcp/query-docs",
    ["libraryId=/effect-ts/effect", "query=Layer.scoped"],
    { libraryId: "/effect-ts/effect", query: "Layer.scoped" }
  ]
]

const validator = new Ajv({ strict: false, logger: false, validateFormats: false })

describe("what is typed for a tool of a published server", () => {
  it("is more than forty lines for the tools of more than ten servers, in all ways", () => {
    const tools = new Set(typed.map(([tool]) => tool))
    assert.isAtLeast(tools.size, 40)
    assert.isAtLeast(new Set(Array.from(tools, (tool) => tool.split("/")[0])).size, 10)
    const words = typed.flatMap(([, words]) => words)
    for (const way of [/^[\w.]+=[^@]/, /^[\w.]+:=[^@]/, /^[\w.]+=@[^@]/, /^[\w.]+:=@/, /^--args=/]) {
      assert.isAtLeast(words.filter((word) => way.test(word)).length, 3, String(way))
    }
  })

  for (const [tool, words, args] of typed) {
    it(`${tool} ${words.join(" ").slice(0, 90)}`, () => {
      assert.deepStrictEqual(Either.getOrThrow(build(tool, words)), args)
      const { $schema: _, ...schema } = schemas.get(tool)!
      assert.isTrue(validator.validate(schema, args), validator.errorsText())
    })
  }
})

const faults: ReadonlyArray<readonly [tool: string, words: ReadonlyArray<string>, said: string]> = [
  [
    "modelcontextprotocol_server-github/list_issues",
    ["owner=o", "repo=r", "sate=open"],
    "the tool has no argument \"sate\" Did you mean \"state\"?"
  ],
  [
    "modelcontextprotocol_server-github/list_issues",
    ["owner=o", "repo=r", "state=opne"],
    "invalid value \"opne\" for \"state\" Did you mean \"open\"?"
  ],
  [
    "modelcontextprotocol_server-github/list_issues",
    ["owner=o", "repo=r", "page=two"],
    "invalid value \"two\" for \"page\": expected number"
  ],
  [
    "modelcontextprotocol_server-github/create_pull_request_review",
    ["owner=o", "repo=r", "body=b", "event=COMMENT"],
    "missing pull_number (number) Add pull_number=…"
  ],
  [
    "browsermcp_mcp/browser_type",
    ["element=a", "ref=b", "text=c", "submit=yes"],
    "invalid value \"yes\" for \"submit\": expected boolean"
  ],
  [
    "playwright_mcp/browser_emulate_media",
    ["colorScheme=drak"],
    "invalid value \"drak\" for \"colorScheme\" Did you mean \"dark\"?"
  ],
  [
    "cyanheads_git-mcp-server/git_push",
    ["dry_run=true"],
    "the tool has no argument \"dry_run\" Did you mean \"dryRun\"?"
  ],
  [
    "circleci_mcp-server-circleci/run_pipeline",
    ["params.brnach=main"],
    "the tool has no argument \"params.brnach\" Did you mean \"params.branch\"?"
  ],
  [
    "mcp-server-sqlite/create-table",
    ["name=a", "columns:=[{]"],
    "invalid JSON in \"columns\": \"[{]\" Put JSON in single quotes."
  ],
  [
    "mcp-server-code-runner/run-code",
    ["code=1", "languageId=pyton"],
    "invalid value \"pyton\" for \"languageId\" Did you mean \"python\"?"
  ],
  ["bytebase_dbhub/execute_sql", ["sql=a", "sql=b"], "argument \"sql\" can be used only once"],
  ["bytebase_dbhub/execute_sql", ["--args=[1]"], "--args is not a JSON object Use {\"name\": value}."],
  [
    "bytebase_dbhub/execute_sql",
    ["select 1"],
    "invalid argument \"select 1\" Use key=value, key:=json, key=@file, or - to read JSON from stdin."
  ]
]

describe("what is mistyped for one", () => {
  for (const [tool, words, said] of faults) {
    it(`${tool} ${words.join(" ")} is answered with what was meant`, () => {
      const { detail, next } = Either.getOrThrow(Either.flip(build(tool, words)))
      assert.strictEqual(`${detail} ${next ?? ""}`.trim(), said)
    })
  }

  /** The name with two of its letters in the wrong order. */
  const slipped = (name: string): string | undefined => {
    const at = Array.from(name.slice(1, -1)).findIndex((letter, index) => letter !== name[index + 2])
    return at === -1 ? undefined : name.slice(0, at + 1) + name[at + 2]! + name[at + 1]! + name.slice(at + 3)
  }

  for (const [tool, schema] of schemas) {
    it(`each argument of ${tool} is found again behind a slip of the finger`, () => {
      const names = Object.keys(schema["properties"] as JsonRpc.JsonObject)
      const closed = schema["additionalProperties"] === undefined || schema["additionalProperties"] === false
      assert.isTrue(closed, "such a schema would need words of its own here")
      for (const name of names) {
        const wrong = slipped(name)
        if (name.length < 4 || wrong === undefined || names.includes(wrong)) continue
        const { detail, next } = Either.getOrThrow(Either.flip(build(tool, [`${wrong}=x`])))
        assert.strictEqual(detail, `the tool has no argument "${wrong}"`)
        assert.include(next, `"${name}"`)
      }
    })
  }
})
