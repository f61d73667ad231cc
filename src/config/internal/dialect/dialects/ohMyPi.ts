/**
 * oh-my-pi: lists of names that switch servers off and on, and values that are the output of a program.
 *
 * @internal
 */
import * as hostPolicy from "../../policy/hostPolicy.ts"
import { type HostTable, otherLogin } from "./table.ts"

/** @internal */
export const ohMyPi: HostTable = {
  host: "oh-my-pi",
  title: "oh-my-pi",
  format: "json",
  locations: [
    {
      scope: "project",
      origin: "workspace",
      path: ["{root}/.omp/mcp.json", "{root}/.omp/.mcp.json", "{root}/mcp.json", "{root}/.mcp.json"]
    },
    { scope: "user", origin: "home", path: "~/.omp/agent/mcp.json" }
  ],
  aside: ["disabledServers", "enabledServers"],
  typeless: "streamable-http",
  variables: { syntax: { bare: true, bang: true } },
  fields: {
    timeout: { is: "requestTimeout", unit: "ms", zeroIsOff: true },
    auth: { is: "extra", lacking: otherLogin },
    requestIdFormat: { is: "extra" },
    instructions: { is: "extra" }
  },
  policy: (root, context) => hostPolicy.ohMyPi(root, { ...context, provider: "oh-my-pi" }).policy,
  inspect: (root, context) => hostPolicy.issues(hostPolicy.ohMyPi(root, { ...context, provider: "oh-my-pi" })),
  switches: (root) => ({ off: [], on: hostPolicy.names(root.get("enabledServers")) })
}
