// The network path to webhooks (egress selection), and the counter of their certificate flaws.

import type { CertificateCounter } from '../tls/certificate-flaws.js'
import type { Dial } from './http-connect-tunnel.js'

/** Called before each call of a webhook; throws the error of a server that refuses connections. For a test kit. */
export type RefuseWebhook = (name: string, url: string) => void

export interface WebhookDials {
  readonly counter?: CertificateCounter | undefined
  /** Connects to webhooks that are services of the cluster; undefined: without a proxy. */
  readonly toServices?: Dial | undefined
  /** Connects to webhooks with a URL; undefined: without a proxy. */
  readonly toAddresses?: Dial | undefined
  readonly refuse?: RefuseWebhook | undefined
}

export const webhookDial = ({ counter, toServices, toAddresses }: WebhookDials, isService: boolean) => ({
  counter,
  dial: isService ? toServices : toAddresses,
})
