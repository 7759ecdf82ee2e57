// The state of the parts of the control plane, which is found out when it is asked for and never stored.

import { defineComputed } from '../../api/define-special.js'
import { nameColumn, textColumn } from '../../api/table-columns.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { type ComponentStatus, componentStatus as schema } from './v1.schema.js'

const statusWords: { readonly [status: string]: string } = { True: 'Healthy', False: 'Unhealthy' }

export const componentStatus = defineComputed('ComponentStatus')<ComponentStatus>({
  group: '',
  resource: 'componentstatuses',
  shortNames: ['cs'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true, deprecation: { deprecatedIn: '1.19' } }],
  nameProblems: pathSegmentProblems,
  table: {
    columns: [
      nameColumn,
      textColumn('Status', 'Whether the part is healthy.'),
      textColumn('Message', 'What it says.'),
      textColumn('Error', 'What is wrong.'),
    ],
    cells: ({ metadata, conditions = [] }) => {
      const healthy = conditions.findLast(({ type }) => type === 'Healthy')
      return [metadata?.name ?? '', statusWords[healthy?.status ?? ''] ?? 'Unknown', healthy?.message ?? '', healthy?.error ?? '']
    },
  },
})
