// A namespace uses no more than its quotas allow. What is decided here for everybody to see is decided again in the commit, where it counts.

import type { Plugin } from '../admission.js'
import type { QuotaLedger } from '../quota/ledger.js'

export const resourceQuota = (ledger: QuotaLedger): Plugin => ({
  name: 'ResourceQuota',
  validate: ({ call, operation, object, old }) => {
    if (operation === 'CREATE' || operation === 'UPDATE') ledger.check(call, { next: object, old })
  },
})
