/**
 * The errors that end a request and cannot end a connect.
 *
 * @internal
 */
import type * as McpError from "../../McpError.ts"

type OnlyOfRequests = Exclude<McpError.CallError, McpError.ConnectError | McpError.RemoteError>

// A record, so that the compiler notices an error that is missing here.
const tags: Readonly<Record<OnlyOfRequests["_tag"], true>> = {
  Cancelled: true,
  InputRoundsExceeded: true,
  InvalidArguments: true,
  InvalidToolResult: true,
  NotFound: true,
  PaginationLimit: true,
  PermissionDenied: true,
  RequestTimeout: true,
  ToolQuarantined: true
}

/** @internal */
export const isOnlyOfRequests = (error: McpError.CallError): error is OnlyOfRequests => Object.hasOwn(tags, error._tag)
