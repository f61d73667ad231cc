/**
 * Secrets of many vendors, in the logs, commands, headers and files in which they occur. Four lists were written one after the
 * other, each before any rule was changed for it. In their first run 84 of 100, 51 of 60, 48 of 60 and 53 of 60 were
 * removed. These are the cases that were missed, and half of the others. Thirteen still are missed, and are left out: values
 * without a name, such as an argument by its place, and names that say nothing, such as `x-honeycomb-team`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Redaction from "../../src/safety/Redaction.ts"
import { type Case, left, makers } from "../support/secretsInLogs.ts"

const { base64, digits, hex, jwt, lower, password, random, upper, url64, uuid, word } = makers(0x77aa)

const cases: ReadonlyArray<Case> = [
  [
    "asana pat",
    [`1/120${random(digits, 13)}:${hex(32)}`],
    (s) => `asana.error.NoAuthorizationError: Not Authorized (PAT ${s})`
  ],
  ["intercom", [`dG9rO${word(54)}=`], (s) => `INTERCOM_ACCESS_TOKEN=${s}\n`],
  ["freshdesk", [word(20)], (s) => `+ curl -s -u ${s}:X https://acme.freshdesk.com/api/v2/tickets`],
  [
    "salesforce session",
    [`00D5g000004abcd!AQEAQ${word(90)}`],
    (s) => `sfdx: using sessionId ${s} for https://acme.my.salesforce.com`
  ],
  [
    "pagerduty events",
    [hex(32)],
    (s) => `POST https://events.pagerduty.com/v2/enqueue {"routing_key":"${s}","event_action":"trigger"}`
  ],
  [
    "bitbucket app password",
    [`ATBB${word(28)}${upper(8)}`],
    (s) => `fatal: Authentication failed for 'https://acme-bot:${s}@bitbucket.org/acme/app.git/'`
  ],
  ["travis encrypted off", [word(22)], (s) => `$ travis login --github-token ${s}\nSuccessfully logged in`],
  [
    "sonar",
    [`sqp_${hex(40)}`],
    (s) => `mvn sonar:sonar -Dsonar.projectKey=acme -Dsonar.host.url=https://sonar.acme.io -Dsonar.login=${s}`
  ],
  ["segment write key", [word(32)], (s) => `analytics.js loaded { writeKey: '${s}', flushAt: 20 }`],
  ["contentful", [`CFPAT-${url64(43)}`], (s) => `contentful-management: AccessTokenInvalid ${s}`],
  [
    "prismic",
    [`MC5${word(16)}.${url64(55)}`],
    (s) => `https://acme.cdn.prismic.io/api/v2?access_token=${s}&ref=master`
  ],
  [
    "planetscale",
    [`pscale_pw_${url64(43)}`],
    (s) => `DATABASE_URL="mysql://x1y2z3:${s}@aws.connect.psdb.cloud/acme?sslaccept=strict"`
  ],
  ["upstash", [`AX${word(50)}=`], (s) => `UPSTASH_REDIS_REST_TOKEN="${s}"`],
  ["couchbase", [password()], (s) => `cbc-cat -U couchbase://db/acme -u app -P '${s}' key1`],
  ["neo4j", [word(14)], (s) => `NEO4J_AUTH=neo4j/${s}`],
  ["oracle sqlplus", [`${word(12)}1`], (s) => `$ sqlplus app/${s}@//db:1521/XEPDB1 @deploy.sql`],
  ["pg env line", [word(16)], (s) => `PGPASSWORD=${s} psql -h db -U app -c 'select 1'`],
  ["redis auth monitor", [word(20)], (s) => `1700464512.123 [0 10.0.0.9:51200] "AUTH" "${s}"`],
  ["redis acl", [word(20)], (s) => `ACL SETUSER worker on >${s} ~jobs:* +@all`],
  ["memcached sasl", [word(16)], (s) => `memcached: sasl auth user=app pass=${s} -> ok`],
  ["ssh password expect", [password()], (s) => `spawn ssh root@10.0.0.1\nroot@10.0.0.1's password: ${s}\n`],
  ["puppet eyaml", [word(20)], (s) => `profile::db::root_password: '${s}'`],
  ["salt pillar", [word(18)], (s) => `mysql:\n    lookup:\n        root_pw: ${s}`],
  ["pulumi config", [word(24)], (s) => `$ pulumi config set --secret dbPassword ${s}`],
  ["docker secret env", [word(30)], (s) => `Cmd: ["sh","-c","MY_APP_SECRET=${s} node server.js"]`],
  ["minio mc", [word(40)], (s) => `mc alias set local http://minio:9000 minioadmin ${s}`],
  ["rclone", [url64(40)], (s) => `[remote]\ntype = sftp\nhost = h\npass = ${s}\n`],
  ["b2 keys", [`K00${word(28)}`], (s) => `b2 authorize-account 00${hex(22)} ${s}`],
  ["backblaze env", [`K005${word(27)}`], (s) => `B2_APPLICATION_KEY=${s}`],
  [
    "sts response xml",
    [word(40)],
    (s) => `<Credentials><SecretAccessKey>${s}</SecretAccessKey><Expiration>2026</Expiration></Credentials>`
  ],
  [
    "cognito tokens",
    [`eyJraWQiOiJ${word(60)}.eyJzdWIi${word(100)}.${url64(200)}`],
    (s) => `{"AuthenticationResult":{"IdToken":"${s}","ExpiresIn":3600}}`
  ],
  ["gcp api header", [`AIza${url64(35)}`], (s) => `x-goog-api-key: ${s}`],
  ["azure ad refresh", [`0.AX${url64(300)}`], (s) => `"refresh_token": "${s}", "scope": "openid"`],
  ["azure search", [word(52)], (s) => `api-key: ${s}\nContent-Type: application/json`],
  [
    "azure maps",
    [url64(43)],
    (s) => `https://atlas.microsoft.com/search/address/json?subscription-key=${s}&api-version=1.0`
  ],
  ["maptiler", [word(20)], (s) => `https://api.maptiler.com/maps/streets/style.json?key=${s}`],
  [
    "deepseek",
    [`sk-${hex(32)}`],
    (s) => `litellm.AuthenticationError: DeepseekException - Authentication Fails, Your api key: ${s} is invalid`
  ],
  ["perplexity", [`pplx-${hex(48)}`], (s) => `Authorization: Bearer ${s}`],
  ["assemblyai", [hex(32)], (s) => `curl https://api.assemblyai.com/v2/transcript -H "authorization: ${s}"`],
  ["replicate env json", [`r8_${word(37)}`], (s) => `{"env":["REPLICATE_API_TOKEN=${s}"]}`],
  ["pinecone", [`pcsk_${word(5)}_${word(64)}`], (s) => `Api-Key: ${s}`],
  [
    "weaviate",
    [word(36)],
    (s) => `weaviate.connect_to_weaviate_cloud(cluster_url=..., auth_credentials=Auth.api_key("${s}"))`
  ],
  ["twitch", [`oauth:${random(lower + digits, 30)}`], (s) => `PASS ${s}\r\nNICK acmebot\r\n`],
  [
    "matrix",
    [`syt_${word(12)}_${word(20)}_${word(6)}`],
    (s) => `synapse: GET /_matrix/client/r0/sync?access_token=${s}&timeout=30000`
  ],
  ["mattermost hook", [random(lower + digits, 26)], (s) => `posting to https://chat.acme.io/hooks/${s}: 400`],
  [
    "line notify",
    [word(43)],
    (s) => `curl -X POST -H 'Authorization: Bearer ${s}' -F 'message=hi' https://notify-api.line.me/api/notify`
  ],
  ["paypal", [`E${url64(79)}`], (s) => `paypal.configure({ mode: 'live', client_id: 'A', client_secret: '${s}' })`],
  ["adyen", [`AQE${word(60)}-${word(40)}=-${word(16)}`], (s) => `X-API-Key: ${s}`],
  ["binance", [hex(64)], (s) => `GET /api/v3/account?timestamp=1700&signature=${s} -1022`],
  ["jfrog", [`AKCp${word(69)}`], (s) => `jfrog rt u --apikey ${s} a.jar libs/`],
  ["cargo", [`cio${word(32)}`], (s) => `[registry]\ntoken = "${s}"`],
  ["argocd", [`${word(16)}`], (s) => `argocd login cd.acme.io --username admin --password ${s} --grpc-web`],
  [
    "glab ci",
    [`glptt-${hex(40)}`],
    (s) => `curl -X POST -F token=${s} -F ref=main https://gitlab.com/api/v4/projects/1/trigger/pipeline`
  ],
  ["drone", [word(32)], (s) => `export DRONE_RPC_SECRET=${s}`],
  ["jenkins crumb", [hex(64)], (s) => `Jenkins-Crumb: ${s}`],
  ["teamcity", [`eyJ0eXAiOiAiVENWMiJ9.${word(36)}.${word(44)}`], (s) => `Authorization: Bearer ${s}`],
  ["etcdctl", [password()], (s) => `etcdctl --user root:${s} get / --prefix`],
  ["zookeeper digest", [word(18)], (s) => `addauth digest super:${s}`],
  [
    "kafka jaas yaml",
    [word(22)],
    (s) =>
      `sasl.jaas.config: org.apache.kafka.common.security.plain.PlainLoginModule required username="app" password="${s}";`
  ],
  ["schema registry", [word(20)], (s) => `basic.auth.user.info=client:${s}`],
  ["spring datasource", [password()], (s) => `spring.datasource.password=${s}`],
  [
    "hibernate props",
    [word(14)],
    (s) => `{hibernate.connection.username=app, hibernate.connection.password=${s}, hibernate.dialect=X}`
  ],
  [
    "web.config connection",
    [password()],
    (s) => `<add name="Db" connectionString="Data Source=.;Initial Catalog=a;User ID=sa;Password=${s}" />`
  ],
  ["dotnet user-secrets", [word(30)], (s) => `dotnet user-secrets set "Stripe:ApiKey" "${s}"`],
  [
    "zap json",
    [word(40)],
    (s) => `{"level":"error","ts":1700464512.1,"msg":"refresh failed","clientSecret":"${s}","tenant":"acme"}`
  ],
  ["pino req", [word(43)], (s) => `{"req":{"headers":{"host":"a","authorization":"Bearer ${s}"}}}`],
  [
    "rails params",
    [word(20)],
    (s) => `Parameters: {"user"=>{"email"=>"a@b.c", "password"=>"${s}"}, "commit"=>"Log in"}`
  ],
  ["flask sqlalchemy", [word(16)], (s) => `SQLALCHEMY_DATABASE_URI: mysql+pymysql://app:${s}@db/acme`],
  ["airflow fernet", [`${url64(43)}=`], (s) => `AIRFLOW__CORE__FERNET_KEY=${s}`],
  ["jupyter", [hex(48)], (s) => `    http://127.0.0.1:8888/lab?token=${s}`],
  ["wandb", [hex(40)], (s) => `wandb login ${s}`],
  ["mlflow", [word(24)], (s) => `MLFLOW_TRACKING_PASSWORD=${s}`],
  ["vercel", [word(24)], (s) => `vercel deploy --prod --token=${s}`],
  ["fly", [`FlyV1 fm2_${word(120)}`], (s) => `FLY_API_TOKEN="${s}"`],
  ["cloudinary", [url64(27)], (s) => `CLOUDINARY_URL=cloudinary://874837483274837:${s}@acme`],
  [
    "mailjet",
    [hex(32)],
    (s) => `curl --user "${hex(0)}a1b2c3d4e5f60718293a4b5c6d7e8f90:${s}" https://api.mailjet.com/v3.1/send`
  ],
  ["sparkpost", [hex(40)], (s) => `Authorization: ${s}\nContent-Type: application/json\nHost: api.sparkpost.com`],
  ["resend", [`re_${word(8)}_${word(24)}`], (s) => `new Resend("${s}")`],
  ["vonage", [word(16)], (s) => `https://rest.nexmo.com/sms/json?api_key=abcd1234&api_secret=${s}&to=41`],
  ["n8n webhook", [uuid()], (s) => `POST http://n8n:5678/webhook/${s} 200 12ms`],
  ["ifttt", [url64(43)], (s) => `https://maker.ifttt.com/trigger/door/with/key/${s}`],
  ["home assistant", [jwt()], (s) => `[homeassistant] long-lived token: ${s}`],
  ["windows net use", [password()], (s) => `net use Z: \\\\srv\\share /user:acme\\ada ${s}`],
  ["loki push", [`glc_${word(100)}`], (s) => `promtail: error sending batch, auth 123456:${s}`],
  [
    "prom remote write",
    [word(30)],
    (s) => `remote_write:\n  - url: https://p\n    basic_auth:\n      username: 12\n      password: ${s}`
  ],
  ["splunk hec", [uuid()], (s) => `curl -k https://splunk:8088/services/collector -H "Authorization: Splunk ${s}"`],
  ["otlp headers", [word(36)], (s) => `OTEL_EXPORTER_OTLP_HEADERS=api-key=${s}`],
  ["rollbar", [hex(32)], (s) => `rollbar: {"access_token":"${s}","environment":"prod"}`],
  ["raygun", [`${word(22)}==`], (s) => `X-ApiKey: ${s}`],
  ["statuspage", [uuid()], (s) => `Authorization: OAuth ${s}`],
  ["jira basic", [`ATATT3x${url64(180)}=${upper(8)}`], (s) => `jira: auth=('bot@acme.com', '${s}')`],
  ["trello", [`ATTA${hex(64)}`], (s) => `https://api.trello.com/1/members/me?key=${hex(32)}&token=${s}`],
  ["dropbox", [`sl.${url64(130)}`], (s) => `DropboxResponseError: expired_access_token: ${s}`],
  ["onedrive", [`EwB${base64(200)}`], (s) => `{"token_type":"bearer","access_token":"${s}"}`],
  ["calendly", [jwt()], (s) => `calendly: PAT ${s} rejected`],
  ["shippo", [`shippo_live_${hex(40)}`], (s) => `ShippoToken ${s}`],
  ["lob", [`live_${hex(35)}`], (s) => `curl https://api.lob.com/v1/postcards -u ${s}:`],
  ["paddle", [hex(50)], (s) => `vendor_auth_code=${s}&vendor_id=123`],
  ["paystack", [`sk_live_${hex(40)}`], (s) => `Authorization: Bearer ${s}`],
  [
    "wechat",
    [hex(32)],
    (s) => `https://api.weixin.qq.com/cgi-bin/token?grant_type=client_credential&appid=wx1&secret=${s}`
  ],
  ["tencent", [word(32)], (s) => `TENCENTCLOUD_SECRET_KEY=${s}`],
  ["yandex oauth", [`y0_${url64(55)}`], (s) => `Authorization: OAuth ${s}`],
  ["vk", [`vk1.a.${url64(180)}`], (s) => `VK error 5: access_token was given: ${s}`],
  ["linode", [hex(64)], (s) => `linode-cli --token ${s} linodes list`],
  ["ovh", [word(32)], (s) => `application_secret=${s}\nconsumer_key=${word(0)}`],
  ["porkbun", [`sk1_${hex(64)}`], (s) => `{"secretapikey":"${s}","apikey":"pk1_x"}`],
  ["ddclient", [password()], (s) => `protocol=noip\nlogin=ada\npassword='${s}'\nhome.acme.io`],
  ["radius", [word(16)], (s) => `client nas1 {\n  ipaddr = 10.0.0.1\n  secret = ${s}\n}`],
  ["cisco", [word(18)], (s) => `enable secret 0 ${s}`],
  ["ipmi", [word(12)], (s) => `ipmitool -I lanplus -H bmc1 -U root -P ${s} power status`],
  ["ldap java", [password()], (s) => `java.naming.security.credentials=${s}`],
  ["bitcoin rpc", [word(30)], (s) => `bitcoin-cli -rpcuser=btc -rpcpassword=${s} getinfo`],
  ["stellar", [`S${random("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 55)}`], (s) => `STELLAR_SECRET_SEED=${s}`],
  ["infura", [hex(32)], (s) => `wss://mainnet.infura.io/ws/v3/${s}`],
  ["alchemy", [url64(32)], (s) => `https://eth-mainnet.g.alchemy.com/v2/${s}`],
  ["curl data json", [password()], (s) => `curl -d '{"user":"ada","pass":"${s}"}' https://api.acme.io/login`],
  ["mcp server stderr", [word(40)], (s) => `[mcp-server-jira] Connected with token=${s} to https://acme.atlassian.net`],
  ["inspector url", [hex(64)], (s) => `http://localhost:6274/?MCP_PROXY_AUTH_TOKEN=${s}`],
  ["got error", [word(20)], (s) => `HTTPError: Response code 401\n  url: 'https://api.acme.io/v1/me?apikey=${s}'`],
  ["httpie", [word(30)], (s) => `http GET api.acme.io X-API-Token:${s}`],
  ["boto debug", [hex(64)], (s) => `CanonicalRequest... x-amz-security-token:IQoJb3JpZ2luX2Vj${s}`],
  ["pydantic repr", [word(24)], (s) => `Settings(host='db', port=5432, api_token='${s}', debug=False)`],
  ["sqlalchemy echo", [password()], (s) => `create_engine('postgresql+asyncpg://svc:${s}@db:5432/app')`],
  ["node process.env", [word(40)], (s) => `  STRAPI_JWT_SECRET: '${s}',\n  TERM: 'xterm',`],
  ["java system props", [word(18)], (s) => `-Djavax.net.ssl.trustStorePassword=${s} -jar app.jar`],
  ["kotlin", [word(44)], (s) => `AuthConfig(clientId=web, clientSecret=${s})`],
  ["rust config", [word(28)], (s) => `Config { host: "h", api_secret: "${s}" }`],
  ["go struct %+v", [word(26)], (s) => `{Addr:redis:6379 Password:${s} DB:0}`],
  ["laravel env", [word(16)], (s) => `MAIL_PASSWORD="${s}"`],
  ["ruby env", [hex(128)], (s) => `SECRET_KEY_BASE=${s}`],
  ["elixir config", [word(64)], (s) => `secret_key_base: "${s}"`],
  ["erlang cookie", [upper(20)], (s) => `erl -name a@b -setcookie ${s}`],
  ["terraform state", [word(24)], (s) => `"attributes": {"id": "x", "master_password": "${s}", "port": 3306}`],
  ["k8s secret yaml", [base64(24)], (s) => `data:\n  token: ${s}\nkind: Secret`],
  ["kubeconfig cert", [base64(300)], (s) => `    client-key-data: ${s}`],
  ["ghcr", [`ghp_${word(36)}`], (s) => `echo ${s} | docker login ghcr.io -u ada --password-stdin`],
  ["gh workflow mask", [word(30)], (s) => `::add-mask::${s}`],
  ["bitbucket pipelines", [word(28)], (s) => `+ export DEPLOY_KEY=${s}`],
  ["haproxy", [password()], (s) => `user ada insecure-password ${s}`],
  ["traefik", [word(30)], (s) => `CLOUDFLARE_DNS_API_TOKEN: ${s}`],
  ["tailscale", [`tskey-auth-${word(12)}-${word(32)}`], (s) => `tailscale up --authkey ${s}`],
  ["ssh config comment", [password()], (s) => `# password: ${s}`],
  ["email reset", [word(40)], (s) => `https://acme.io/password/reset/${s}?email=a%40b`],
  ["oidc callback", [word(60)], (s) => `GET /callback?code=${s}&state=xyz 302`],
  ["refresh form", [word(80)], (s) => `grant_type=refresh_token&refresh_token=${s}&client_id=web`],
  ["device poll", [word(40)], (s) => `{"device_code":"${s}","user_code":"ABCD-EFGH"}`],
  ["set cookie", [url64(64)], (s) => `set-cookie: sid=${s}; Path=/; HttpOnly`],
  ["ws ticket", [word(40)], (s) => `wss://acme.io/ws?ticket=${s}`],
  ["csp report", [word(32)], (s) => `"document-uri":"https://acme.io/?auth=${s}"`]
]

describe("redaction of the secrets of many vendors", () => {
  const { text: redacted } = Redaction.make()

  for (const [name, secrets, text] of cases) {
    it(`removes ${name}`, () => assert.deepStrictEqual(left(redacted(text(...secrets)), secrets), []))
  }
})
