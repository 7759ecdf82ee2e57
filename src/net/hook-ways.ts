// How webhooks are reached, and what is counted of them.

import type { CertificateTally } from './shown-certificate.js'
import type { Dial } from './tunnel.js'

export interface HookWays {
  /** Counts what webhooks show of themselves; left out: nobody wants to know. */
  readonly tally?: CertificateTally | undefined
  /** To those that are services of the cluster; left out: directly. */
  readonly toServices?: Dial | undefined
  /** To those that have an address of their own. */
  readonly toAddresses?: Dial | undefined
}

/** The way to one of them. */
export const wayToHook = ({ tally, toServices, toAddresses }: HookWays, isService: boolean) => ({
  tally,
  dial: isService ? toServices : toAddresses,
})
