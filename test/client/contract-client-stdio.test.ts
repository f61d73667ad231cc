import { contract } from "./contract/suite.ts"

contract({ adapter: "client", kind: "1.x", transport: "stdio" })
contract({ adapter: "client", kind: "2.x", transport: "stdio" })
contract({ adapter: "client", kind: "2.x-stateless", transport: "stdio" })
