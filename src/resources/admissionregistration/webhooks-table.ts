// How a table shows a configuration of webhooks of either kind.

import type { RuleContext } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import type { ApiObject } from '../../api/object.js'
import { ageColumn, nameColumn } from '../../api/table-columns.js'

interface WithWebhooks extends ApiObject {
  readonly webhooks?: readonly unknown[]
}

export const webhooksTable = {
  columns: [nameColumn, { name: 'Webhooks', type: 'integer', description: 'How many webhooks there are.' }, ageColumn],
  cells: ({ metadata, webhooks }: WithWebhooks, { now }: RuleContext): readonly unknown[] => [
    metadata?.name ?? '',
    webhooks?.length ?? 0,
    ageOf(metadata?.creationTimestamp, now),
  ],
} as const
