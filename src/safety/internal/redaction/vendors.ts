/**
 * The tokens that their vendors have given a format of their own, one row for each, after what the vendors publish.
 *
 * @internal
 */

/**
 * Written in the language of `pattern.ts`; the first literal text is what the row is looked for by.
 *
 * @internal
 */
export interface Vendor {
  readonly id: string
  readonly pattern: string
}

const rows: ReadonlyArray<readonly [id: string, ...patterns: ReadonlyArray<string>]> = [
  // clouds
  ["aws-access-key", "AKIA[A-Z2-7]{16}", "ASIA[A-Z2-7]{16}", "ABIA[A-Z2-7]{16}", "ACCA[A-Z2-7]{16}"],
  ["aws-bedrock", "ABSK[A-Za-z0-9+/=]{100,}", "bedrock-api-key-[A-Za-z0-9+/=_-]{40,}"],
  ["google-api-key", "AIza[0-9A-Za-z_-]{35,}"],
  ["google-oauth", "GOCSPX-[0-9A-Za-z_-]{24,}", "ya29.[0-9A-Za-z_.-]{20,}", "1//0[0-9A-Za-z_-]{30,}"],
  ["azure-entra-secret", "[0-9A-Za-z_~.]{3}8Q~[0-9A-Za-z_~.-]{31,37}"],
  ["digitalocean", "dop_v1_[0-9a-f]{64}", "doo_v1_[0-9a-f]{64}", "dor_v1_[0-9a-f]{64}"],
  ["alibaba", "LTAI[0-9A-Za-z]{12,30}"],
  ["tencent", "AKID[0-9A-Za-z]{13,40}"],
  ["heroku", "HRKU-[0-9A-Za-z_-]{36,}"],
  ["fly", "fo1_[0-9A-Za-z_-]{40,}", "fm1r_[0-9A-Za-z+/=_-]{60,}", "fm2_[0-9A-Za-z+/=_-]{60,}"],
  ["render", "rnd_[0-9A-Za-z]{24,}"],
  ["vercel", "vcp_[0-9A-Za-z]{24,}", "vercel_blob_rw_[0-9A-Za-z_]{30,}"],
  ["netlify", "nfp_[0-9A-Za-z]{36,}", "nfc_[0-9A-Za-z]{36,}", "nfo_[0-9A-Za-z]{36,}", "nfu_[0-9A-Za-z]{36,}"],
  ["cloudflare", "v1.0-[0-9a-f]{24}-[0-9a-f]{146}", "cfat_[0-9A-Za-z_-]{32,}", "cfut_[0-9A-Za-z_-]{32,}"],
  // code and packages
  [
    "github",
    "ghp_[0-9A-Za-z]{36,}",
    "gho_[0-9A-Za-z]{36,}",
    "ghu_[0-9A-Za-z]{36,}",
    "ghs_[0-9A-Za-z._-]{36,}",
    "ghr_[0-9A-Za-z]{36,}",
    "github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59,}"
  ],
  [
    "gitlab",
    "glpat-[0-9A-Za-z_.-]{20,}",
    "gldt-[0-9A-Za-z_-]{20,}",
    "glrt-[0-9A-Za-z_.-]{20,}",
    "glrtr-[0-9A-Za-z_-]{20,}",
    "glcbt-[0-9A-Za-z_-]{20,}",
    "glptt-[0-9A-Za-z_-]{20,}",
    "glft-[0-9A-Za-z_-]{20,}",
    "glsoat-[0-9A-Za-z_-]{20,}",
    "glimt-[0-9A-Za-z_-]{20,}",
    "glagent-[0-9A-Za-z_-]{20,}",
    "glffct-[0-9A-Za-z_-]{20,}",
    "gloas-[0-9A-Za-z_-]{32,}",
    "GR1348941[0-9A-Za-z_-]{20,}"
  ],
  ["atlassian", "ATATT3[0-9A-Za-z_=-]{28,}", "ATBB[0-9A-Za-z_=-]{28,}", "ATCTT3[0-9A-Za-z_=-]{28,}"],
  ["npm", "npm_[0-9A-Za-z]{36,}"],
  ["pypi", "pypi-AgE[0-9A-Za-z_-]{50,}"],
  ["rubygems", "rubygems_[0-9a-f]{48}"],
  ["nuget", "oy2[0-9a-z]{43}"],
  ["jfrog", "AKCp[0-9A-Za-z]{50,}", "cmVmdGtu[0-9A-Za-z+/=]{40,}"],
  ["docker", "dckr_pat_[0-9A-Za-z_-]{27,}", "dckr_oat_[0-9A-Za-z_-]{27,}"],
  ["sonar", "sqp_[0-9a-f]{40}", "squ_[0-9a-f]{40}", "sqa_[0-9a-f]{40}"],
  ["sourcegraph", "sgp_[0-9A-Za-z_]{40,}"],
  ["buildkite", "bkua_[0-9a-f]{40}"],
  ["circleci", "CCIPAT_[0-9A-Za-z]{20,}", "CCIPRJ_[0-9A-Za-z]{20,}"],
  ["terraform", "[0-9A-Za-z]{14}.atlasv1.[0-9A-Za-z_=-]{60,}"],
  ["pulumi", "pul-[0-9a-f]{40}"],
  ["vault", "hvs.[0-9A-Za-z_-]{24,}", "hvb.[0-9A-Za-z_-]{24,}", "hvr.[0-9A-Za-z_-]{24,}"],
  [
    "doppler",
    "dp.pt.[0-9A-Za-z]{40,}",
    "dp.st.[0-9A-Za-z_.-]{40,}",
    "dp.sa.[0-9A-Za-z]{40,}",
    "dp.ct.[0-9A-Za-z]{40,}"
  ],
  ["1password", "ops_eyJ[0-9A-Za-z+/=_-]{100,}", "A3-[A-Z0-9]{6}-[A-Z0-9]{11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"],
  ["1password", "A3-[A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"],
  ["infisical", "st.[0-9a-f]{24}.[0-9a-f]{32,}"],
  ["age", "AGE-SECRET-KEY-1[0-9A-Z]{50,}", "AGE-PLUGIN-[A-Z0-9]{2,20}-1[0-9A-Z]{40,}"],
  ["postman", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"],
  ["readme", "rdme_[0-9a-z]{60,}"],
  // models
  ["anthropic", "sk-ant-[0-9A-Za-z_-]{24,}"],
  [
    "openai",
    "sk-proj-[0-9A-Za-z_-]{20,}",
    "sk-svcacct-[0-9A-Za-z_-]{20,}",
    "sk-admin-[0-9A-Za-z_-]{20,}",
    "sk-None-[0-9A-Za-z_-]{20,}",
    "sk-[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20}"
  ],
  ["openrouter", "sk-or-v1-[0-9a-f]{64}"],
  ["langfuse", "sk-lf-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
  ["model-provider", "sk-[0-9A-Za-z]{32,}"],
  ["xai", "xai-[0-9A-Za-z]{60,}"],
  ["groq", "gsk_[0-9A-Za-z]{40,}"],
  ["perplexity", "pplx-[0-9A-Za-z]{40,}"],
  ["huggingface", "hf_[0-9A-Za-z]{30,}"],
  ["replicate", "r8_[0-9A-Za-z]{37,}"],
  ["nvidia", "nvapi-[0-9A-Za-z_-]{60,}"],
  ["cerebras", "csk-[0-9a-z]{40,}"],
  ["langsmith", "lsv2_pt_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_sk_[0-9a-f]{32}_[0-9a-f]{10}"],
  ["tavily", "tvly-[0-9A-Za-z_-]{24,}"],
  ["firecrawl", "fc-[0-9a-f]{32}"],
  ["browserbase", "bb_live_[0-9A-Za-z_-]{20,}"],
  ["e2b", "e2b_[0-9a-f]{40}"],
  ["elevenlabs", "sk_[0-9a-f]{48}"],
  ["pinecone", "pcsk_[0-9A-Za-z_]{50,}"],
  // talk
  [
    "slack",
    "xoxa-[0-9A-Za-z-]{10,}",
    "xoxb-[0-9A-Za-z-]{10,}",
    "xoxc-[0-9A-Za-z-]{10,}",
    "xoxd-[0-9A-Za-z%+/=-]{10,}",
    "xoxe-[0-9A-Za-z-]{10,}",
    "xoxe.xoxb-[0-9A-Za-z-]{10,}",
    "xoxe.xoxp-[0-9A-Za-z-]{10,}",
    "xoxo-[0-9A-Za-z-]{10,}",
    "xoxp-[0-9A-Za-z-]{10,}",
    "xoxr-[0-9A-Za-z-]{10,}",
    "xoxs-[0-9A-Za-z-]{10,}",
    "xapp-\\d-[0-9A-Z]{9,}-\\d{9,}-[0-9A-Za-z]{20,}",
    "xwfp-[0-9A-Za-z-]{20,}",
    "hooks.slack.com/services/[0-9A-Z]{8,}/[0-9A-Z]{8,}/[0-9A-Za-z]{20,}",
    "hooks.slack.com/workflows/[0-9A-Z]{8,}/[0-9A-Z]{8,}/\\d{10,}/[0-9A-Za-z]{20,}",
    "hooks.slack.com/triggers/[0-9A-Z]{8,}/\\d{10,}/[0-9A-Za-z]{20,}"
  ],
  ["discord-webhook", "discord.com/api/webhooks/\\d{17,20}/[0-9A-Za-z_-]{60,}"],
  ["discord-webhook", "discordapp.com/api/webhooks/\\d{17,20}/[0-9A-Za-z_-]{60,}"],
  ["teams-webhook", "webhook.office.com/webhookb2/[0-9a-fA-F@/A-Za-z-]{80,}"],
  ["telegram", "\\d{8,10}:AA[0-9A-Za-z_-]{33,}"],
  ["mailgun", "key-[0-9a-f]{32}"],
  ["sendgrid", "SG.[0-9A-Za-z_-]{20,24}.[0-9A-Za-z_-]{39,50}"],
  ["sendinblue", "xkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}", "xsmtpsib-[0-9a-f]{64}-[0-9A-Za-z]{16}"],
  ["resend", "re_[0-9A-Za-z]{8}_[0-9A-Za-z]{24,}"],
  ["onesignal", "os_v2_app_[0-9a-z]{90,}"],
  // money and shops
  ["stripe", "sk_live_[0-9A-Za-z]{10,}", "sk_test_[0-9A-Za-z]{10,}", "sk_prod_[0-9A-Za-z]{10,}"],
  ["stripe", "rk_live_[0-9A-Za-z]{10,}", "rk_test_[0-9A-Za-z]{10,}", "rk_prod_[0-9A-Za-z]{10,}"],
  ["stripe", "whsec_[0-9A-Za-z+/=]{24,}"],
  [
    "square",
    "sq0atp-[0-9A-Za-z_-]{22,}",
    "sq0csp-[0-9A-Za-z_-]{43,}",
    "EAAA[0-9A-Za-z_-]{60}"
  ],
  ["shopify", "shpat_[0-9a-fA-F]{32}", "shpca_[0-9a-fA-F]{32}", "shppa_[0-9a-fA-F]{32}", "shpss_[0-9a-fA-F]{32}"],
  ["plaid", "access-sandbox-[0-9a-f]{8}-[0-9a-f-]{27}", "access-production-[0-9a-f]{8}-[0-9a-f-]{27}"],
  ["braintree", "access_token$production$[0-9a-z]{16}$[0-9a-f]{32}", "access_token$sandbox$[0-9a-z]{16}$[0-9a-f]{32}"],
  ["razorpay", "rzp_live_[0-9A-Za-z]{14,}", "rzp_test_[0-9A-Za-z]{14,}"],
  ["flutterwave", "FLWSECK-[0-9A-Za-z-]{12,}", "FLWSECK_TEST-[0-9A-Za-z-]{12,}"],
  // work
  ["linear", "lin_api_[0-9A-Za-z]{32,}", "lin_oauth_[0-9A-Za-z]{32,}", "lin_wh_[0-9A-Za-z]{32,}"],
  ["notion", "ntn_[0-9A-Za-z]{40,}", "secret_[0-9A-Za-z]{43}"],
  ["airtable", "pat[0-9A-Za-z]{14}.[0-9a-f]{64}"],
  ["figma", "figd_[0-9A-Za-z_-]{36,}", "figo_[0-9A-Za-z_-]{36,}"],
  ["clickup", "pk_\\d{6,10}_[0-9A-Z]{32}"],
  ["hubspot", "pat-na1-[0-9a-f]{8}-[0-9a-f-]{27}", "pat-eu1-[0-9a-f]{8}-[0-9a-f-]{27}"],
  ["intercom", "dG9rO[0-9A-Za-z+/=_-]{50,}"],
  ["zapier", "hooks.zapier.com/hooks/catch/\\d{5,10}/[0-9A-Za-z]{5,}"],
  ["dropbox", "sl.u.[0-9A-Za-z_-]{100,}", "sl.B[0-9A-Za-z_-]{100,}"],
  ["typeform", "tfp_[0-9A-Za-z_.=-]{40,}"],
  ["contentful", "CFPAT-[0-9A-Za-z_-]{43,}"],
  ["facebook", "EAACEdEose0cBA[0-9A-Za-z]{20,}", "EAAB[0-9A-Za-z]{100,}", "EAAG[0-9A-Za-z]{100,}"],
  ["frameio", "fio-u-[0-9A-Za-z_=-]{64}"],
  ["duffel", "duffel_test_[0-9A-Za-z_=-]{43}", "duffel_live_[0-9A-Za-z_=-]{43}"],
  ["easypost", "EZAK[0-9A-Za-z]{54}", "EZTK[0-9A-Za-z]{54}"],
  ["apify", "apify_api_[0-9A-Za-z]{30,}"],
  // what watches
  ["grafana", "glsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}", "glsa_[0-9A-Za-z_]{32,}", "glc_[0-9A-Za-z+/=]{32,}"],
  ["newrelic", "NRAK-[0-9A-Z]{27}", "NRJS-[0-9a-f]{19}", "NRII-[0-9A-Za-z_-]{32}", "NRIQ-[0-9A-Za-z_-]{32}"],
  ["dynatrace", "dt0c01.[0-9A-Z]{24}.[0-9A-Z]{64}", "dt0s16.[0-9A-Z]{8}.[0-9A-Z]{64}"],
  ["sentry", "sntryu_[0-9a-f]{64}", "sntrys_eyJ[0-9A-Za-z+/=_-]{80,}"],
  ["posthog", "phx_[0-9A-Za-z]{40,}"],
  ["launchdarkly", "sdk-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
  ["launchdarkly", "api-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
  ["honeycomb", "hcaik_[0-9a-z]{50,}", "hcxik_[0-9a-z]{50,}", "hcamk_[0-9A-Za-z]{30,}"],
  // data
  ["databricks", "dapi[0-9a-f]{32}", "dose[0-9a-f]{32}", "dkea[0-9a-f]{32}"],
  ["supabase", "sbp_[0-9a-f]{40}", "sb_secret_[0-9A-Za-z_-]{20,}"],
  [
    "planetscale",
    "pscale_tkn_[0-9A-Za-z=._-]{32,}",
    "pscale_pw_[0-9A-Za-z=._-]{32,}",
    "pscale_oauth_[0-9A-Za-z=._-]{32,}"
  ],
  ["neon", "napi_[0-9a-z]{40,}", "npg_[0-9A-Za-z]{10,}"],
  ["prisma", "prisma+postgres://accelerate.prisma-data.net/?api_key=[0-9A-Za-z_.-]{30,}"],
  ["aiven", "AVNS_[0-9A-Za-z_-]{15,}"],
  ["cockroach", "CCDB1_[0-9A-Za-z]{22}_[0-9A-Za-z]{40}"],
  ["snyk", "snyk_uat.[0-9a-f]{8}.[0-9A-Za-z_-]{20,}", "snyk_sat.[0-9a-f]{8}.[0-9A-Za-z_-]{20,}"],
  ["mapbox", "sk.eyJ[0-9A-Za-z_-]{20,}.[0-9A-Za-z_-]{20,}"],
  ["tailscale", "tskey-[a-z]{3,8}-[0-9A-Za-z]{8,}-[0-9A-Za-z]{16,}", "tskey-[a-z]{3,8}-[0-9A-Za-z]{8,}"],
  ["ngrok", "ngrok_api_[0-9A-Za-z_]{20,}"],
  ["jwt", "eyJ[0-9A-Za-z_-]{10,}.eyJ[0-9A-Za-z_-]{8,}.[0-9A-Za-z_-]{10,}"],
  ["jwe", "eyJ[0-9A-Za-z_-]{10,}.[0-9A-Za-z_-]{20,}.[0-9A-Za-z_-]{10,}.[0-9A-Za-z_-]{10,}.[0-9A-Za-z_-]{10,}"]
]

/** @internal */
export const vendors: ReadonlyArray<Vendor> = rows.flatMap(([id, ...patterns]) =>
  patterns.map((pattern) => ({ id, pattern }))
)
