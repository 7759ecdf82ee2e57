// How this server goes out to others, and what is counted of them.

import { CertificateTally } from '../net/shown-certificate.js'

export interface Outbound {
  /** What webhooks of all sorts show of themselves. */
  readonly webhooks: CertificateTally
  /** What extension servers do. */
  readonly extensions: CertificateTally
}

export const openOutbound = (): Outbound => ({ webhooks: new CertificateTally(), extensions: new CertificateTally() })
