/**
 * A person who agrees to everything: goes where the authorization server sends a browser, until it is sent back.
 */
const most = 10

/** The parameters of the redirect to `redirectUri`, where nothing has to listen. */
export const follow = async (url, redirectUri) => {
  const back = new URL(redirectUri)
  let at = new URL(url)
  for (let hop = 0; hop < most; hop++) {
    const response = await fetch(at, { redirect: "manual" })
    await response.body?.cancel()
    const location = response.headers.get("location")
    if (location === null) throw new Error(`${at.origin}${at.pathname} answered ${response.status} and sent nobody on`)
    at = new URL(location, at)
    if (at.origin === back.origin && at.pathname === back.pathname) return at.searchParams
  }
  throw new Error(`sent on more than ${most} times`)
}
