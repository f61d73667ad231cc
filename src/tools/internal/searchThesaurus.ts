/**
 * Words that people use for one another when they ask a program for something. General English only, and nothing about
 * any server.
 *
 * @internal
 */
import { stem } from "./searchStem.ts"

const groups: ReadonlyArray<string> = [
  "create add new make build generate insert",
  "delete remove drop erase destroy purge",
  "update edit change modify alter patch",
  "list show enumerate display view browse",
  "get fetch retrieve read obtain load download",
  "search find look lookup query seek locate discover",
  "send post push publish deliver",
  "run execute start launch trigger invoke",
  "stop cancel abort terminate halt end",
  "copy duplicate clone fork replicate",
  "merge combine join unite",
  "save store export keep archive stash shelve backup",
  "upload attach import",
  "check verify validate lint inspect",
  "compare comparison diff difference change versus",
  "undo revert rollback reset restore back",
  "summarize summary digest overview",
  "explain describe explanation",
  "resolve fix repair solve",
  "click press tap",
  "fill type enter input",
  "wait pause sleep delay",
  "watch monitor observe track notify notification alert subscribe remind tell",
  "share grant permission collaborator",
  "convert transform turn parse extract",
  "count number many total quantity",
  "predict forecast projection future",
  "picture image photo",
  "video clip movie film",
  "internet web online",
  "website site webpage",
  "news headline",
  "paper article publication scientific academic",
  "bug issue problem ticket",
  "error exception failure fault crash",
  "fail failure break broken",
  "people person user member",
  "company organization business",
  "folder directory",
  "file document",
  "row record entry",
  "column field property attribute",
  "database db",
  "repository repo project codebase",
  "comment remark reply note annotation",
  "review approve approval",
  "point dot marker pin",
  "chart plot graph diagram visualize visualization draw",
  "place location position poi",
  "route direction navigation itinerary",
  "price cost billing expense",
  "credit balance quota remaining left limit",
  "message chat text",
  "mail email",
  "event appointment meeting",
  "task todo",
  "secret credential password",
  "vulnerability security cve weakness",
  "version release revision",
  "author authorship writer wrote written",
  "latest recent newest current",
  "previous back earlier prior",
  "popup dialog alert modal",
  "log trace console",
  "environment env",
  "setting configuration config option preference",
  "documentation docs doc manual reference guide",
  "library package module dependency",
  "example sample demo usage",
  "code source program snippet script function method",
  "component widget element",
  "workflow automation pipeline",
  "javascript js",
  "typescript ts",
  "python py",
  "kubernetes k8s",
  "postgres postgresql",
  "visitor session recording",
  "everybody everyone all broadcast",
  "colleague collaborator teammate",
  "distribution frequency",
  "proportion percentage share fraction",
  "relation relationship correlation association link",
  "schema structure type definition mapping",
  "time duration long",
  "schedule recurring periodic cron",
  "elevation altitude height high",
  "distance far",
  "drive driving travel journey trip",
  "slow speed fast performance latency optimize",
  "weather temperature climate",
  "translate translation language",
  "payment charge invoice refund",
  "customer client",
  "order purchase",
  "team group channel",
  "login signin authenticate authentication auth",
  "zip compress gzip compression",
  "size storage space bytes",
  "deploy deployment rollout",
  "server host machine instance resource",
  "statistic metric analytics measurement",
  "screenshot capture screengrab",
  "tag label",
  "history past log",
  "assign assignment owner assignee",
  "status state progress condition",
  "hierarchy tree nested",
  "variable parameter argument",
  "rename move relocate",
  "sum plus add calculate compute arithmetic",
  "query sql select statement",
  "idle unused underused oversized waste",
  "popular trending top",
  "restaurant cafe shop business store",
  "hour opening",
  "crawl scrape spider",
  "rotate turn",
  "swap exchange replace",
  "transaction atomic",
  "help support assistance",
  "request call traffic",
  "cluster node",
  "key shortcut keyboard",
  "attach attachment enclose",
  "reply answer respond response",
  "invite invitation join member",
  "room channel conversation thread",
  "address street postal",
  "buy purchase checkout cart",
  "product item article",
  "ban block mute",
  "enable activate turn",
  "disable deactivate",
  "random dice",
  "draft unpublished",
  "reminder alarm timer",
  "sound audio music song",
  "slide deck presentation",
  "money currency exchange",
  "stock share ticker",
  "flight plane airline",
  "hotel accommodation lodging",
  "goal objective target",
  "sprint iteration milestone",
  "duplicate same",
  "encrypt encryption cipher",
  "zoom scale resize",
  "scroll swipe"
]

const abbreviations: ReadonlyArray<readonly [string, string]> = [
  ["pr", "pull request"],
  ["prs", "pull request"],
  ["mr", "merge request"],
  ["mrs", "merge request"],
  ["ci", "build pipeline"],
  ["dm", "direct message"],
  ["screengrab", "screenshot"],
  ["repo", "repository"],
  ["k8s", "kubernetes"]
]

const concepts: ReadonlyMap<string, ReadonlyArray<string>> = (() => {
  const map = new Map<string, Array<string>>()
  for (const [at, group] of groups.entries()) {
    for (const word of new Set(group.split(" ").map(stem))) {
      const known = map.get(word)
      if (known === undefined) map.set(word, [`=${at}`])
      else known.push(`=${at}`)
    }
  }
  return map
})()

const spelledOut = new Map(abbreviations)

const none: ReadonlyArray<string> = []

/**
 * What a stem means beside itself, as terms that no word can be.
 *
 * @internal
 */
export const meanings = (stem: string): ReadonlyArray<string> => concepts.get(stem) ?? none

/**
 * What an abbreviation stands for.
 *
 * @internal
 */
export const spellOut = (word: string): ReadonlyArray<string> => spelledOut.get(word)?.split(" ") ?? none
