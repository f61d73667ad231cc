import * as Fingerprint from "../config/Fingerprint.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"

/**
 * What a connection is made of: a change of anything else leaves it alone.
 *
 * @internal
 */
export const essence = (config: ServerConfig.ServerConfig): string =>
  Fingerprint.configuration({
    ...config,
    name: "-",
    title: undefined,
    description: undefined,
    required: undefined,
    trusted: undefined,
    concurrency: undefined,
    enabledTools: undefined,
    disabledTools: undefined,
    autoApprove: undefined,
    provenance: undefined
  })
