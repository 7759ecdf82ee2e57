// Webhook calls that fail as if the host refused the connection, while a fault rule says so.

import { hostOf, portOf } from '../../../net/outbound/open-socket.js'
import type { RefuseWebhook } from '../../../net/outbound/webhook-dial.js'
import type { FaultRules } from './fault-rules.js'

export const refuseWebhooks =
  (rules: Pick<FaultRules, 'refusesWebhook'>): RefuseWebhook =>
  (name, url) => {
    if (!rules.refusesWebhook(name)) return
    const target = new URL(url)
    const address = hostOf(target)
    const port = portOf(target)
    throw Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), { code: 'ECONNREFUSED', syscall: 'connect', address, port })
  }
