export declare const follow: (url: URL, redirectUri: string) => Promise<URLSearchParams>
