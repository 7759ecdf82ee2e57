// Trusted certificates of a TLS context, as Go treats a certificate pool: each is a trust anchor, also an intermediate or a leaf.

/** Returns no options without `ca`: then the certificate authorities of Node.js are trusted. */
export const trustedCertificates = <T extends string | Buffer>(ca: T | undefined) =>
  ca === undefined ? {} : { ca, allowPartialTrustChain: true }
