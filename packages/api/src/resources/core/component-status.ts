// ComponentStatus: health of control plane components, computed on read.

import { defineComputed } from '../../api/definition/define-virtual.js'
import { nameColumn, textColumn } from '../../api/definition/printer-columns.js'
import { pathSegmentProblems } from '../../api/validation/checks.js'
import { type ComponentStatus, componentStatus as schema } from './v1.schema.js'

const statusTexts: { readonly [status: string]: string } = { True: 'Healthy', False: 'Unhealthy' }

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
      textColumn('Status', 'Health of the component.'),
      textColumn('Message', 'Health message.'),
      textColumn('Error', 'Error message.'),
    ],
    cells: ({ metadata, conditions = [] }) => {
      const healthy = conditions.findLast(({ type }) => type === 'Healthy')
      return [metadata?.name ?? '', statusTexts[healthy?.status ?? ''] ?? 'Unknown', healthy?.message ?? '', healthy?.error ?? '']
    },
  },
})
