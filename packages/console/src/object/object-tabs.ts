// The tabs of an object's page, in order.

import { EditTab } from '../change/edit-tab.js'
import { HistoryTab } from './history-tab.js'
import type { ObjectTab } from './object-context.js'
import { OverviewTab } from './overview-tab.js'
import { RelatedTab } from './related-tab.js'
import { YamlTab } from './yaml-tab.js'

export const objectTabs: readonly ObjectTab[] = [
  { id: 'yaml', title: 'YAML', Tab: YamlTab },
  { id: 'overview', title: 'Overview', Tab: OverviewTab },
  { id: 'edit', title: 'Edit', Tab: EditTab, isOffered: ({ verbs }) => verbs.includes('patch') },
  { id: 'related', title: 'Related', Tab: RelatedTab },
  { id: 'history', title: 'History', Tab: HistoryTab },
]
